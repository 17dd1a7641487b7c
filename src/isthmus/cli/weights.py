"""The command ``isthmus weights``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..files import check_target
from .options import AsJson, Missing, Seed, check_options, names_in

if TYPE_CHECKING:
    from ..weighting import Weights


def weights(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="Rows to be weighted: CSV or Parquet.")
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
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to use, separated by commas. Default: all."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to leave out, separated by commas."),
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Missing values, as in isthmus compare.")
    ] = Missing.indicator,
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

    Weights average one over the rows that have any. Rows outside the population that remains
    have weight zero. Where no weighting helps, nothing is written to --out and the exit code is 2.
    """
    check_options(0.95, seed, plot, report)
    if out is not None:
        check_target(out, "--out", (".parquet", ".pq", ".csv"))

    from ..tables.frames import read_table
    from ..weighting import WeightingError, importance_weights
    from .output import collected_notes, print_json, save_figure
    from .terminal import console, progress_bar, show_notes

    rows, others = read_table(source), read_table(target)
    named = names_in(keys) or []
    absent = [key for key in named if key not in rows]
    if absent:
        raise ValueError(f"--keys must name columns of {source}; received {absent!r}.")
    if name in (named or rows):
        raise ValueError(f"--name must not be a column of {source}; received {name!r}.")
    asked = names_in(balance)
    left_out = [*(names_in(drop) or []), *(key for key in named if key in {**rows, **others})]
    with collected_notes() as notes, progress_bar(wanted=not as_json) as progress:
        try:
            found = importance_weights(
                rows,
                others,
                least_ess=least_ess,
                design_effect=design_effect,
                balance="means" if asked == ["means"] else asked,
                columns=names_in(columns),
                drop=left_out,
                missing=missing.value,
                random_state=seed,
                progress=progress,
            )
        except WeightingError as error:
            # Why it is refused is in the certificate.
            if report is not None:
                error.weights.report(report)
            raise
        if report is not None:
            found.report(report)
        if plot is not None:
            save_figure(lambda ax: found.plot(ax=ax), plot)
    if out is not None:
        _write({key: rows[key] for key in named or rows}, found, name, out)
    if as_json:
        where = {"out": out, "report": report, "plot": plot}
        told = {key: str(path) for key, path in where.items() if path is not None}
        files = {"source": str(source), "target": str(target)}
        print_json({**found.to_dict(), "files": files, **told, "notes": notes, "seed": seed})
        return
    shown = console()
    shown.print(str(found), markup=False, soft_wrap=True)
    show_notes(shown, notes)
    if out is not None:
        shown.print(f"weights: {out}", style="dim", markup=False)


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
