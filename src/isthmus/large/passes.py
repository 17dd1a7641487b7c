"""Passes over the rows of p and of q."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ..data.blocks import add
from ..data.engine import Engine, Pure
from ..data.source import Part, Source
from ..tables.looking import Looking
from ..words import rate
from .looking import QuickLook

Report = Callable[..., None]


class Passes:
    """Runs over all rows and counts how often.

    Parameters
    ----------
    engine : Engine
    sources : sequence of Source
        p and q.
    report : callable
        Told of each pass, and of the share of its rows that is done.
    """

    def __init__(self, engine: Engine, sources: Sequence[Source], report: Report) -> None:
        self.engine, self.sources, self.report = engine, list(sources), report
        self.count = 0

    @contextmanager
    def told(self, what: str) -> Iterator[Engine]:
        """The engine for a pass that another makes, with reports of it."""
        self.count += 1
        rows = sum(source.rows for source in self.sources)
        yield _Told(self.engine, self.report, f"pass {self.count}: {what}", rows)

    def __call__(self, what: str, tasks: Sequence[Pure[Any]], *further: Source) -> list[Any]:
        """The sums of a task for p, one for q, and one for each further source of rows."""
        self.count += 1
        sources = [*self.sources, *further]
        rows = sum(source.rows for source in sources)
        # All are handed over before the first is waited for.
        running = [
            self.engine.map(task, source.parts, source.names)
            for task, source in zip(tasks, sources, strict=True)
        ]
        told = f"pass {self.count}: {what}"
        self.report(told)
        out, done, begun = [], 0, monotonic()
        for source, results in zip(sources, running, strict=True):
            total = None
            for part, result in zip(source.parts, results, strict=True):
                total = add(total, result)
                done += part.rows
                self.report(f"{told}, {rate(done, monotonic() - begun)}", done / rows)
            out.append(total)
        return out


class _Told:
    """An engine that reports how many rows are done."""

    def __init__(self, engine: Engine, report: Report, what: str, rows: int) -> None:
        self.engine, self.report, self.what, self.rows = engine, report, what, rows
        self.done, self.begun = 0, monotonic()
        report(what)

    def map(
        self, f: Pure[Any], parts: Sequence[Part], names: tuple[str, ...] | None
    ) -> Iterator[Any]:
        """As of the engine."""
        quick = QuickLook(f) if isinstance(f, Looking) else f
        for part, found in zip(parts, self.engine.map(quick, parts, names), strict=True):
            self.done += part.rows
            told = f"{self.what}, {rate(self.done, monotonic() - self.begun)}"
            self.report(told, self.done / self.rows)
            yield found
