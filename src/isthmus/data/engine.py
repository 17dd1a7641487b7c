"""What runs a pass over the parts of sources: this process, or a cluster.

An :class:`Engine` maps a pure function over tasks and gives the results in their order, so that
sums over them are the same however many processes there are. Another cluster is another engine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from typing import Any, Protocol, TypeVar

from .blocks import add
from .source import Batch, Part, Source
from .threads import limited_threads

T = TypeVar("T")

Pure = Callable[[Iterator[Batch], int], T]
"""From the batches of a part and the number of its first row to something that can be added up."""


class Engine(Protocol):
    """Maps a function over parts."""

    def map(self, f: Pure[T], parts: Sequence[Part], names: tuple[str, ...] | None) -> Iterator[T]:
        """``f`` of the batches of every part, in the order of the parts."""
        ...


class Here:
    """In this process, one part after the other."""

    def map(self, f: Pure[T], parts: Sequence[Part], names: tuple[str, ...] | None) -> Iterator[T]:
        """``f`` of the batches of every part, in the order of the parts."""
        return (run(f, part.read, part.payload, part.first, names) for part in parts)


class OnExecutor:
    """On the processes of an executor of ``concurrent.futures``.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    """

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def map(self, f: Pure[T], parts: Sequence[Part], names: tuple[str, ...] | None) -> Iterator[T]:
        """``f`` of the batches of every part, in the order of the parts."""
        futures = [
            self.executor.submit(run, f, part.read, part.payload, part.first, names)
            for part in parts
        ]
        return _results(futures)


def _results(futures: list[Future[T]]) -> Iterator[T]:
    """Results in order; each is let go of when it was taken, and an error ends the others."""
    futures.reverse()
    try:
        while futures:
            yield futures.pop().result()
    finally:
        for future in futures:
            future.cancel()


def run(
    f: Pure[T], read: Callable[..., Any], payload: Any, first: int, names: tuple[str, ...] | None
) -> T:
    """One task: read a part and work on it."""
    with limited_threads():
        return f(read(payload, names), first)


def engine_of(client: Any) -> Engine:
    """The engine of a Dask client, of the current one where none is given, or this process.

    An executor of ``concurrent.futures`` and the module ``ray`` have engines too.
    """
    if client is None and "distributed" in sys.modules:
        # Whoever has a client has imported it; nobody else has to.
        from distributed import get_client

        try:
            client = get_client()
        except ValueError:
            client = None
    if client is None:
        return Here()
    if isinstance(client, Executor):
        return OnExecutor(client)
    if getattr(client, "__name__", "") == "ray":
        from .on_ray import OnRay

        return OnRay(client)
    from .on_dask import OnDask

    if not callable(getattr(client, "submit", None)):
        raise ValueError(
            "client must be a dask.distributed.Client, an executor of concurrent.futures or the "
            f"module ray; received a {type(client).__name__}."
        )
    return OnDask(client)


def total(engine: Engine, f: Pure[T], source: Source) -> T:
    """The sum of a function over the parts of a source, added up in their order."""
    found: Any = None
    for part in engine.map(f, source.parts, source.names):
        found = part if found is None else add(found, part)
    result: T = found
    return result
