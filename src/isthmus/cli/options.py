"""Options that several commands have, and how they are checked."""

from __future__ import annotations

import csv
import enum
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ..files import check_target

Seed: TypeAlias = Annotated[int, typer.Option(help="Seed; the same one gives the same answer.")]
FailAbove: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="End with exit code 3 if a divergence is surely larger, its whole interval included, "
        "such as js=0.05; may be repeated.",
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES", help="Columns to use, separated by commas. Default: all that can help."
    ),
]
Drop: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Columns to leave out, separated by commas."),
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Columns to use though they would be left out: identifiers, constants, dates "
        "that alone tell the files apart.",
    ),
]
Dates: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PARTS",
        help="What becomes of dates: days, hour, weekday, month, separated by commas. "
        "Default: days.",
    ),
]

Cluster: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run passes over many rows on this Dask cluster, such as tcp://host:8786.",
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Run passes over many rows in N processes of this machine, by Dask."
    ),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Memory to use at most, such as 1GB: what would need more is read in parts. "
        "Default: half of what the machine has.",
    ),
]

REFUSED = 2
"""Exit code for bad input, for files that cannot be read or written, and where nothing helps."""

TOO_FAR = 3
"""Exit code where a divergence is larger than ``--fail-above`` allows; bad input is 2."""


class Missing(enum.StrEnum):
    """What to do with missing values; see `isthmus.tables.frames.TableEncoder`."""

    indicator = "indicator"
    drop = "drop"
    error = "error"


WhatIsMissing: TypeAlias = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="Missing values: a level of their own, and the median with a 0/1 column that "
        "tells where; drop their rows; or refuse them.",
    ),
]


def names_in(options: Sequence[str] | None) -> list[str] | None:
    """Names in options such as ``a,b``; a name with a comma stands in double quotes."""
    if not options:
        return None
    try:
        # The reader gives nothing for empty text, which here is a column without a name.
        return [name for row in csv.reader(options) for name in (row or [""])]
    except csv.Error as error:
        raise ValueError(f"Column names must be separated by commas; {error}.") from None


def limits_in(options: Sequence[str] | None, names: Sequence[str]) -> dict[str, float]:
    """Limits in options such as ``js=0.05``, by name; ``names`` are those that there are.

    Examples
    --------
    >>> limits_in(["js=0.05", "tv=0.2"], ["js", "tv"])
    {'js': 0.05, 'tv': 0.2}
    """
    found: dict[str, float] = {}
    for option in options or ():
        for part in option.split(","):
            name, _, text = (word.strip() for word in part.partition("="))
            try:
                limit = float(text)
            except ValueError:
                limit = math.nan
            if name not in names or not (math.isfinite(limit) and limit >= 0):
                raise ValueError(
                    "--fail-above must be NAME=VALUE with a value of at least 0 and a name among "
                    f"{', '.join(names)}; received {part.strip()!r}."
                )
            found[name] = limit
    return found


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
