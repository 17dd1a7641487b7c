"""The command ``isthmus weights``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..files import check_target
from .options import (
    REFUSED,
    AsJson,
    Columns,
    Dates,
    Drop,
    Keep,
    Missing,
    Seed,
    WhatIsMissing,
    check_options,
    names_in,
)

if TYPE_CHECKING:
    from ..weighting import Weights


def weights(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Rows to be weighted: CSV, JSON lines or Parquet; - for stdin."
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="Rows that they shall look like.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Write the source's rows with their weights to this .parquet or .csv file.",
        ),
    ] = None,
    least_ess: Annotated[
        float | None,
        typer.Option(
            help="Least effective sample size: leave out, by a rule on the columns, the part of "
            "both tables that stands against it."
        ),
    ] = None,
    design_effect: Annotated[
        float | None, typer.Option(help="Largest design effect, rows over effective rows.")
    ] = None,
    balance: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns whose means, or shares of levels, shall be the target's to the decimal; "
            "'means' for all.",
        ),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns that name a row: they take no part, and alone are written beside the "
            "weights. Default: all columns of the source are written.",
        ),
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    keep: Keep = None,
    missing: WhatIsMissing = Missing.indicator,
    dates: Dates = None,
    name: Annotated[str, typer.Option(help="Name of the new column.")] = "weight",
    seed: Seed = 0,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write the balance to this .png, .pdf or .svg file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the certificate as one page to this .html file.")
    ] = None,
) -> None:
    """Weights under which one table looks like another, with a certificate.

    Tables are taken as they are: dates, text, missing values. Weights average one over the rows
    that have any. Rows outside the population that remains have weight zero. Exit codes: 2 for
    bad input and where no weighting helps; then nothing is written to --out.
    """
    check_options(0.95, seed, plot, report)
    if out is not None:
        check_target(out, "--out", (".parquet", ".pq", ".csv"))

    from ..tables.door import Door
    from ..tables.frames import read_table
    from ..tables.parts import date_parts
    from ..weighting.judging import Pair
    from ..weighting.making import Wish, weigh
    from .output import collected_notes, print_json
    from .terminal import progress_bar

    asked = names_in(balance)
    wish = Wish(
        least_ess,
        design_effect,
        "means" if asked == ["means"] else asked,
        on_failure="return",
    )
    parts = date_parts(names_in(dates) or "days", "--dates")
    rows, others = read_table(source), read_table(target)
    named = names_in(keys) or []
    absent = [key for key in named if key not in rows]
    if absent:
        raise ValueError(f"--keys must name columns of {source}; received {absent!r}.")
    if name in (named or rows):
        raise ValueError(f"--name must not be a column of {source}; received {name!r}.")
    with collected_notes() as notes, progress_bar(wanted=not as_json) as progress:
        pair = Pair.of(
            rows,
            others,
            columns=names_in(columns),
            drop=[*(names_in(drop) or []), *named],
            keep=names_in(keep) or (),
            missing=missing.value,
            dates=parts,
            random_state=seed,
            door=Door(command=True),
        )
        found = weigh(pair, wish, progress)
    written = {key: rows[key] for key in named or rows}
    files = {"out": out if found.usable else None, "report": report, "plot": plot}
    # The answer comes first, and every file is tried: a disk that is full costs one file.
    with ExitStack() as later:
        if plot is not None:
            later.callback(_draw, found, plot)
        if report is not None:
            later.callback(found.report, report)
        if out is not None and found.usable:
            later.callback(_write, written, found, name, out)
        if as_json:
            told = {key: str(path) for key, path in files.items() if path is not None}
            tables = {"source": str(source), "target": str(target)}
            print_json({**found.to_dict(), "files": tables, **told, "notes": notes, "seed": seed})
        else:
            _show(found, notes, files)
    if not found.usable:
        raise typer.Exit(REFUSED)


def _draw(found: Weights, path: Path) -> None:
    from .output import save_figure

    save_figure(lambda ax: found.plot(ax=ax), path)


def _show(found: Weights, notes: list[str], files: dict[str, Path | None]) -> None:
    """Print the certificate; why there are no weights goes to stderr."""
    from .terminal import console, show_notes

    if not found.usable:
        console(stderr=True).print(f"isthmus: {found.verdict}", markup=False, soft_wrap=True)
        return
    shown = console()
    shown.print(str(found), markup=False, soft_wrap=True)
    show_notes(shown, notes)
    for what, path in files.items():
        if path is not None:
            shown.print(
                f"{'weights' if what == 'out' else what}: {path}", style="dim", markup=False
            )


def _write(rows: dict[str, Any], found: Weights, name: str, out: Path) -> None:
    """Write columns with the weights, all of it or nothing."""
    import numpy as np
    import pyarrow as pa

    from ..files import written_whole

    table = pa.table({**rows, name: np.asarray(found)})
    with written_whole(out) as draft:
        if out.suffix.lower() == ".csv":
            from pyarrow import csv

            csv.write_csv(table, draft)
        else:
            from pyarrow import parquet

            parquet.write_table(table, draft)
