"""Passes on a cluster of Ray: parts are read where they are worked on, and only sums travel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from .engine import Pure, run
from .source import Part

T = TypeVar("T")


class OnRay:
    """An engine on the cluster that Ray is connected to.

    Every task is a pure function of its arguments, so that Ray does one again that is lost.

    Parameters
    ----------
    ray : module
        ``ray`` itself, after ``ray.init(...)``; without that it begins a cluster on this machine.
    """

    def __init__(self, ray: Any) -> None:
        self.ray = ray

    def map(self, f: Pure[T], parts: Sequence[Part], names: tuple[str, ...] | None) -> Iterator[T]:
        """``f`` of the batches of every part, in the order of the parts."""
        task, held = self.ray.remote(run), self.ray.put(f)
        running = [task.remote(held, part.read, part.payload, part.first, names) for part in parts]
        return self._results(running)

    def _results(self, running: list[Any]) -> Iterator[Any]:
        """Results in order; each is let go of when it was taken, and an error ends the others."""
        running.reverse()
        try:
            while running:
                yield self.ray.get(running.pop())
        finally:
            for one in running:
                self.ray.cancel(one)
