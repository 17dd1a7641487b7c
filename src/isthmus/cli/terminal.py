"""What a terminal shows: tables, notes, progress, and curves drawn in characters."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column, Table
from rich.text import Text

from ..typing import Array
from ..words import printable

ProgressCallback: TypeAlias = Callable[[int, int, str], None]
Cells: TypeAlias = dict[tuple[int, int], tuple[str, str]]
"""Characters and their styles, by row and column."""

# Braille cells hold 2 x 4 dots; these are the bits of the dots, by column and row.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


class _Console(Console):
    """One that leaves it to the command what happens when its reader has gone away."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Where people read: text is printed as it is, and coloured on a terminal only."""
    return _Console(highlight=False, stderr=stderr)


def table(
    columns: Sequence[Column],
    rows: Iterable[Sequence[str | Text]],
    title: str | None = None,
    styles: Sequence[str] = (),
) -> Table:
    """Table of cells that are shown as they are, each row in its style."""
    made = Table(
        *columns, title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD
    )
    for cells, style in zip_longest(rows, styles):
        texts = (Text(printable(cell)) if isinstance(cell, str) else cell for cell in cells)
        made.add_row(*texts, style=style)
    return made


def show_notes(out: Console, notes: Iterable[str], style: str = "yellow") -> None:
    """Print what warnings said, a line each."""
    for note in notes:
        out.print(Text(f"note: {printable(note)}", style=style))


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[ProgressCallback | None]:
    """Give a callback that moves a bar on stderr, or None where nobody would see it."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def update(done: int, total: int, what: str) -> None:
            # Nobody knows how much there is in a pipe.
            bar.update(
                task, completed=done, total=total or None, description=escape(printable(what))
            )

        yield update


@dataclass(frozen=True)
class Curve:
    """A curve over the plot's x: a line, or single marks if ``mark`` is given."""

    label: str
    y: Array
    style: str
    mark: str = ""


def draw(
    x: Array,
    curves: Sequence[Curve],
    *,
    width: int = 76,
    height: int = 18,
    ticks: Sequence[float] = (),
    spots: Mapping[str, float] | None = None,
) -> Text:
    """Draw curves over increasing ``x``; of two at one place the later one shows.

    ``spots`` are letters put under the axis at their x.
    """
    gutter = 8
    columns = max(width - gutter, 10)
    low = min(float(curve.y.min()) for curve in curves)
    high = max(float(curve.y.max()) for curve in curves)
    scale = (4 * height - 1) / ((high - low) or 1.0)
    cells: Cells = {}
    zero = _row(0.0, high, scale) // 4
    if low < 0 < high:
        cells.update({(zero, column): ("┈", "dim") for column in range(columns)})
    for curve in curves:
        draw_one = _marks if curve.mark else _line
        cells.update(draw_one(curve, x, columns, high, scale))
    names = {0: f"{high:,.0f}", height - 1: f"{low:,.0f}"}
    if 1 < zero < height - 2:
        names[zero] = "0"
    out = Text()
    for row in range(height):
        out.append(f"{names.get(row, ''):>{gutter - 2}} │", "dim")
        for column in range(columns):
            out.append(*cells.get((row, column), (" ", "")))
        out.append("\n")
    out.append(" " * (gutter - 2) + " └" + "─" * columns + "\n", "dim")

    def place(labels: Mapping[str, float]) -> str:
        line = [" "] * (gutter + columns + 4)
        for label, at in labels.items():
            column = gutter + round((at - x[0]) / (x[-1] - x[0]) * (columns - 1))
            start = max(column - len(label) // 2, 0)
            line[start : start + len(label)] = label
        return "".join(line).rstrip()

    if spots:
        out.append(place(spots) + "\n", "bold")
    out.append(place({f"{tick:g}": tick for tick in ticks}), "dim")
    return out


def _row(y: float, high: float, scale: float) -> int:
    return round((high - y) * scale)


def _marks(curve: Curve, x: Array, columns: int, high: float, scale: float) -> Cells:
    cells = {}
    for column in range(1, columns, 3):
        y = np.interp(x[0] + (x[-1] - x[0]) * column / (columns - 1), x, curve.y)
        cells[_row(float(y), high, scale) // 4, column] = (curve.mark, curve.style)
    return cells


def _line(curve: Curve, x: Array, columns: int, high: float, scale: float) -> Cells:
    ys = np.interp(np.linspace(x[0], x[-1], 2 * columns), x, curve.y)
    rows = [_row(float(y), high, scale) for y in ys]
    bits: dict[tuple[int, int], int] = {}
    for i, row in enumerate(rows):
        # Reach half-way to both neighbours, so that a steep line has no gaps.
        near = [(row + rows[k]) // 2 for k in (i - 1, i + 1) if 0 <= k < len(rows)]
        for dot in range(min(row, *near), max(row, *near) + 1):
            cell = dot // 4, i // 2
            bits[cell] = bits.get(cell, 0) | _BITS[i % 2][dot % 4]
    return {cell: (chr(0x2800 + value), curve.style) for cell, value in bits.items()}
