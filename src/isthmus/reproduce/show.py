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

from ..words import printable
from .record import Found, key

if TYPE_CHECKING:
    from .runner import Experiment

_NUMBER = re.compile(r"[-+−±<>≈]?\s?\d.*|[-–—]?|failed")
STYLE: dict[str, Any] = {
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
    """A table as plain data.

    Attributes
    ----------
    title : str
        One line.
    columns : list of str
        Heads of the columns.
    rows : list of list of str
        Cells, as they are to be read.
    notes : list of str
        Sentences to stand below.

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
    heads = [[line for line in head.split("\n")] for head in table.columns]
    widths = [
        max(len(cell) for cell in (*heads[c], *(row[c] for row in table.rows)))
        for c in range(len(heads))
    ]

    def line(cells: Sequence[str]) -> str:
        parts = (
            cell.rjust(width) if table.is_number(c) else cell.ljust(width)
            for c, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join(parts).rstrip()

    rule = "  ".join("-" * width for width in widths)
    lines = [table.title, "", line(table.columns), rule, *(line(row) for row in table.rows)]
    return "\n".join(lines) + "".join(f"\n\n{note}" for note in table.notes)


def save_figures(experiment: Experiment, results: list[Found], folder: Path) -> list[Path]:
    """Write every figure twice, for pages and for whatever shows no SVG; no date is in them."""
    import matplotlib as mpl

    files: list[Path] = []
    style: Any = STYLE
    with mpl.rc_context(style):
        for name, figure in experiment.figures(results).items():
            files += [folder / f"{name}.svg", folder / f"{name}.png"]
            figure.savefig(files[-2], dpi=200, metadata={"Date": None})
            figure.savefig(files[-1], dpi=140, metadata={"Software": None})
    return files


def in_words(cell: Found) -> str:
    """A cell in one line.

    Examples
    --------
    >>> in_words({"problem": "table2/40", "method": "bdre", "rows": 20000, "seed": 0})
    'table2/40, bdre, rows 20000, seed 0'
    """
    return printable(", ".join(v if isinstance(v, str) else f"{k} {v}" for k, v in cell.items()))


def duration(seconds: float) -> str:
    """Seconds in words.

    Examples
    --------
    >>> duration(4.2), duration(272), duration(7000)
    ('4 s', '5 min', '1 h 57 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = max(round(seconds / 60), 1)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


class Report:
    """Counts cells and estimates the time left; shows nothing.

    What a cell of another seed took is what it will take; for a cell of which there
    is none, the mean of all.
    """

    def __init__(self, cells: list[Found], done: list[tuple[Found, float]], jobs: int) -> None:
        self.total, self.jobs = len(cells), jobs
        self.taken: dict[str, list[float]] = defaultdict(list)
        self.left = {key(cell): cell for cell in cells}
        self.running: dict[str, tuple[Found, float]] = {}
        for cell, seconds in done:
            self._count(cell, seconds)

    @property
    def finished(self) -> int:
        """Number of cells that are done."""
        return self.total - len(self.left)

    def begun(self, cell: Found) -> None:
        """A process has begun this cell."""
        self.running[key(cell)] = (cell, time.perf_counter())
        self.show()

    def done(self, cell: Found, found: Found) -> None:
        """A cell is done, with an error or not."""
        _, begin = self.running.pop(key(cell))
        self._count(cell, found.get("seconds", time.perf_counter() - begin))
        self.tell(cell, found)
        self.show()

    def _count(self, cell: Found, seconds: float) -> None:
        self.left.pop(key(cell), None)
        self.taken[_without_seed(cell)].append(seconds)

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

    def tell(self, cell: Found, found: Found) -> None:
        """A cell is done."""

    def show(self) -> None:
        """Something has changed."""


def _without_seed(cell: Found) -> str:
    return key({k: v for k, v in cell.items() if k != "seed"})


class _Lines(Report):
    """A line on stderr for every cell, where there is no terminal."""

    def tell(self, cell: Found, found: Found) -> None:
        what = found.get("error") or f"{found['seconds']:.1f} s"
        left = self.time_left()
        line = f"[{self.finished}/{self.total}] {in_words(cell)}: {printable(what)}"
        print(f"{line}; {left}" if left else line, file=sys.stderr, flush=True)


class _Bar(Report):
    """A bar on stderr."""

    def attach(self, bar: Any, task: Any) -> None:
        self.bar, self.task = bar, task
        self.show()

    def tell(self, cell: Found, found: Found) -> None:
        if "error" in found:
            self.bar.console.print(
                f"{in_words(cell)}: {printable(found['error'])}", markup=False, highlight=False
            )

    def show(self) -> None:
        from rich.markup import escape

        running = "; ".join(in_words(cell) for cell, _ in self.running.values())
        self.bar.update(
            self.task, completed=self.finished, left=self.time_left(), running=escape(running)
        )


@contextmanager
def reporting(
    name: str, cells: list[Found], done: list[tuple[Found, float]], jobs: int, *, wanted: bool
) -> Iterator[Report]:
    """Tell on stderr what is running: a bar on a terminal, else lines, or nothing."""
    if not wanted:
        yield Report(cells, done, jobs)
    elif not sys.stderr.isatty():
        yield _Lines(cells, done, jobs)
    else:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        report = _Bar(cells, done, jobs)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}  [dim]{task.fields[running]}[/]"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(name, total=len(cells), left="", running="")
            report.attach(bar, task)
            yield report
