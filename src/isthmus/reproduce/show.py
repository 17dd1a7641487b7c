"""Tables as Markdown and text, figures as files, and what is running while it runs."""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..files import written_whole
from ..words import printable
from .record import Fields, key

if TYPE_CHECKING:
    from .runner import Experiment

_NOT_TOLD = ("seed", "fresh", "held")
_NUMBER = re.compile(r"[-+−±<>≈]?\s?\d.*|[-–—]?|failed")
STYLE: Any = {
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#333333",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.facecolor": "white",
    "font.size": 10,
    "legend.frameon": False,
    "lines.linewidth": 2,
    "svg.hashsalt": "isthmus",
    "text.color": "#333333",
    "xtick.color": "#333333",
    "ytick.color": "#333333",
}


@dataclass
class Table:
    """A table of cells as they are to be read, with a title above it and sentences below.

    Examples
    --------
    >>> print(as_markdown(Table("Sums", ["what", "value"], [["a + b", "3.0"]], ["Exact."])))
    **Sums**
    <BLANKLINE>
    | what | value |
    |:---|---:|
    | a + b | 3.0 |
    <BLANKLINE>
    Exact.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        wrong = [row for row in self.rows if len(row) != len(self.columns)]
        if wrong:
            raise ValueError(
                f"rows must have {len(self.columns)} cells, one a column; received {wrong[0]}."
            )

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, which stand to the right."""
        return column > 0 and all(_NUMBER.fullmatch(row[column]) for row in self.rows)


def as_markdown(table: Table) -> str:
    """A table in Markdown, with its title above and its notes below."""
    ends = ["---:" if table.is_number(c) else ":---" for c in range(len(table.columns))]
    lines = [
        f"**{table.title}**\n",
        _markdown_row(table.columns),
        f"|{'|'.join(ends)}|",
        *(_markdown_row(row) for row in table.rows),
    ]
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in table.notes)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def as_text(table: Table) -> str:
    """A table in characters of one width."""
    widths = [max(map(len, column)) for column in zip(table.columns, *table.rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        parts = (
            cell.rjust(width) if table.is_number(c) else cell.ljust(width)
            for c, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    lines = [table.title, "", line(table.columns), rule, *(line(row) for row in table.rows)]
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in table.notes)


def save_figures(experiment: Experiment, results: list[Fields], folder: Path) -> list[Path]:
    """Write every figure twice, for pages and for whatever shows no SVG; no date is in them."""
    import matplotlib as mpl

    files: list[Path] = []
    with mpl.rc_context(STYLE):
        for name, figure in experiment.figures(results).items():
            for suffix, dpi, without in ((".svg", 200, "Date"), (".png", 140, "Software")):
                files.append(folder / f"{name}{suffix}")
                with written_whole(files[-1]) as draft:
                    figure.savefig(draft, dpi=dpi, metadata={without: None})
    return files


def in_words(cell: Fields) -> str:
    """A cell in one line: "table2/40, bdre, rows 20000, seed 0"."""
    return printable(", ".join(v if isinstance(v, str) else f"{k} {v}" for k, v in cell.items()))


def in_groups(cells: list[Fields]) -> str:
    """Cells in words, those that differ in their seed only once.

    Examples
    --------
    >>> in_groups([{"problem": "a", "seed": 0}, {"problem": "a", "seed": 1}, {"problem": "b"}])
    'a (2 seeds); b'
    """
    counts: dict[str, int] = {}
    for cell in cells:
        told = in_words({name: value for name, value in cell.items() if name not in _NOT_TOLD})
        counts[told] = counts.get(told, 0) + 1
    return "; ".join(f"{told} ({n} seeds)" if n > 1 else told for told, n in counts.items())


def duration(seconds: float) -> str:
    """Seconds in words: "4 s", "5 min" or "1 h 57 min"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = max(round(seconds / 60), 1)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class Report:
    """Counts cells, estimates the time left, and tells it: by a bar, in lines, or not at all.

    What a cell of another seed took is what it will take; for a cell of which there
    is none, the mean of all.
    """

    def __init__(
        self,
        cells: list[Fields],
        done: list[tuple[Fields, float]],
        jobs: int,
        bar: Any = None,
        lines: bool = False,
    ) -> None:
        self.total, self.jobs, self.bar, self.lines = len(cells), jobs, bar, lines
        self.taken: dict[str, list[float]] = defaultdict(list)
        self.left = {key(cell): cell for cell in cells}
        self.running: dict[str, tuple[Fields, float]] = {}
        for cell, seconds in done:
            self._count(cell, seconds)
        self._update()

    @property
    def finished(self) -> int:
        """Number of cells that are done."""
        return self.total - len(self.left)

    def begun(self, cell: Fields) -> None:
        """A process has begun this cell."""
        self.running[key(cell)] = (cell, time.perf_counter())
        self._update()

    def done(self, cell: Fields, found: Fields) -> None:
        """A cell is done, with an error or not."""
        _, begin = self.running.pop(key(cell))
        self._count(cell, found.get("seconds", time.perf_counter() - begin))
        self.tell(cell, found)
        self._update()

    def seconds_left(self) -> float | None:
        """Estimate of the seconds that are left, or None before any cell is done."""
        if not self.taken:
            return None
        usual = statistics.mean(value for values in self.taken.values() for value in values)
        now, total = time.perf_counter(), 0.0
        for k, cell in self.left.items():
            mine = self.taken.get(_without_seed(cell))
            expected = statistics.mean(mine) if mine else usual
            spent = now - self.running[k][1] if k in self.running else 0.0
            total += max(expected - spent, 0.0)
        return total / max(min(self.jobs, len(self.left)), 1)

    def time_left(self) -> str:
        """The estimate in words."""
        seconds = self.seconds_left()
        return "" if seconds is None or not self.left else f"about {duration(seconds)} left"

    def tell(self, cell: Fields, found: Fields) -> None:
        """Say that a cell is done; above a bar, only that it failed."""
        what = printable(found.get("error") or f"{found['seconds']:.1f} s")
        if self.bar is not None and "error" in found:
            self.bar.console.print(f"{in_words(cell)}: {what}", markup=False, highlight=False)
        elif self.lines:
            line = f"[{self.finished}/{self.total}] {in_words(cell)}: {what}"
            print("; ".join(filter(None, (line, self.time_left()))), file=sys.stderr, flush=True)

    def _count(self, cell: Fields, seconds: float) -> None:
        self.left.pop(key(cell), None)
        self.taken[_without_seed(cell)].append(seconds)

    def _update(self) -> None:
        if self.bar is not None:
            running = escape("; ".join(in_words(cell) for cell, _ in self.running.values()))
            told = {"left": self.time_left(), "running": running}
            self.bar.update(self.bar.task_ids[0], completed=self.finished, **told)


def _without_seed(cell: Fields) -> str:
    return key({k: v for k, v in cell.items() if k != "seed"})


@contextmanager
def reporting(
    name: str, cells: list[Fields], done: list[tuple[Fields, float]], jobs: int, *, wanted: bool
) -> Iterator[Report]:
    """Tell on stderr what is running: a bar on a terminal, else lines, or nothing."""
    if not (wanted and sys.stderr.isatty()):
        yield Report(cells, done, jobs, lines=wanted)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}  [dim]{task.fields[running]}[/]"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(name, total=len(cells), left="", running="")
        yield Report(cells, done, jobs, bar)
