"""Options that several commands have, and how they are checked."""

from __future__ import annotations

import csv
import enum
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ..files import check_target

Seed: TypeAlias = Annotated[int, typer.Option(help="Seed; the same one gives the same answer.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


class Missing(enum.StrEnum):
    """What to do with missing values; see `isthmus.tables.frames.TableEncoder`."""

    error = "error"
    drop = "drop"
    indicator = "indicator"


def names_in(options: Sequence[str] | None) -> list[str] | None:
    """Names in options such as ``a,b``; a name with a comma stands in double quotes."""
    if not options:
        return None
    try:
        # The reader gives nothing for empty text, which here is a column without a name.
        return [name for row in csv.reader(options) for name in (row or [""])]
    except csv.Error as error:
        raise ValueError(f"Column names must be separated by commas; {error}.") from None


def check_options(level: float, seed: int, plot: Path | None, report: Path | None = None) -> None:
    """Refuse what cannot be done, before anything long is begun."""
    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1; received {level:g}.")
    if seed < 0:
        raise ValueError(f"--seed must be at least 0; received {seed}.")
    if plot is not None:
        check_target(plot, "--plot", (".png", ".pdf", ".svg"))
    if report is not None:
        check_target(report, "--report", (".html", ".htm"))
