"""Passes on a cluster of Dask: parts are read where they are worked on, and only sums travel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from .engine import Pure, run
from .source import Part

T = TypeVar("T")


class OnDask:
    """An engine on a client of ``dask.distributed``.

    Every task is a pure function of its arguments, so that one that is lost with its worker is done
    again by another.

    Parameters
    ----------
    client : dask.distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def map(self, f: Pure[T], parts: Sequence[Part], names: tuple[str, ...] | None) -> Iterator[T]:
        """``f`` of the batches of every part, in the order of the parts."""
        client = self.client
        # The function is a task's result, not data of one worker: it can be made again too.
        held = client.submit(_same, f, pure=False)
        futures = [
            client.submit(run, held, part.read, self._there(part), part.first, names, pure=False)
            for part in parts
        ]
        return _results(held, futures)

    def _there(self, part: Part) -> Any:
        """What a part is read from: of a partition of Dask the task that computes it."""
        from dask import is_dask_collection

        payload = part.payload
        return self.client.compute(payload) if is_dask_collection(payload) else payload


def _results(held: Any, futures: list[Any]) -> Iterator[Any]:
    """Results in order; each is let go of when it was taken."""
    futures.reverse()
    while futures:
        yield futures.pop().result()
    del held


def _same(f: Any) -> Any:
    return f
