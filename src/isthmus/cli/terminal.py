"""A terminal's part of the output: curves drawn in characters, progress, safe text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..typing import Array

ProgressCallback: TypeAlias = Callable[[int, int, str], None]

# Braille cells hold 2 x 4 dots; these are the bits of the dots, by column and row.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def printable(text: object) -> str:
    r"""Text from outside on one line, with nothing that a terminal would obey.

    Examples
    --------
    >>> print(printable("a\nb\x1b[31m"))
    a\nb\x1b[31m
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


@contextmanager
def progress_bar(*, wanted: bool) -> Iterator[ProgressCallback | None]:
    """Give a callback that moves a bar on stderr, or None where nobody would see it."""
    if not (wanted and sys.stderr.isatty()):
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def update(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total, description=escape(printable(what)))

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
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    zero = _row(0.0, high, scale) // 4
    if low < 0 < high:
        cells.update({(zero, column): ("┈", "dim") for column in range(columns)})
    for curve in curves:
        cells.update(_marks(curve, x, columns, high, scale) if curve.mark else
                     _line(curve, x, columns, high, scale))  # fmt: skip

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


def _marks(
    curve: Curve, x: Array, columns: int, high: float, scale: float
) -> dict[tuple[int, int], tuple[str, str]]:
    cells = {}
    for column in range(1, columns, 3):
        y = np.interp(x[0] + (x[-1] - x[0]) * column / (columns - 1), x, curve.y)
        cells[_row(float(y), high, scale) // 4, column] = (curve.mark, curve.style)
    return cells


def _line(
    curve: Curve, x: Array, columns: int, high: float, scale: float
) -> dict[tuple[int, int], tuple[str, str]]:
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
