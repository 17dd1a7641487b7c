"""The command ``isthmus score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import Cluster, Workers, names_in


def score(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A file of `isthmus compare --save`, or of save() in Python."
        ),
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="New rows: CSV, Parquet, JSON lines or Arrow, or a folder of Parquet files; - for "
            "standard input.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="File to write: .parquet, .csv or .arrow; or a folder, which goes on where it "
            "stopped; - for standard output.",
        ),
    ] = "-",
    weights: Annotated[
        bool, typer.Option("--weights", help="Write p/q as well, beside its logarithm.")
    ] = False,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of FILE to write beside the scores, such as a key, separated by commas.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="parquet, csv or arrow. Default: by the name of OUT; csv for standard output.",
        ),
    ] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes and no bar.")] = False,
) -> None:
    """Log-ratios of new rows by a saved model, block by block and in their order.

    Nothing in a model's file is executed. Levels that the model has not seen are encoded as its
    encoder does it, with a note. Columns that the model does not use are not looked at.

    A folder OUT has a Parquet file for each part of the rows. It is there once all are; until then
    they are in OUT.unfinished, and the same command goes on with what is missing.
    """
    from ..storing import load
    from ..storing.scoring import score as score_rows
    from ..storing.writing import form_of, is_folder
    from ..tables.door import Door
    from ..words import count, printable
    from .cluster import Where
    from .output import collected_notes
    from .terminal import console, progress_bar, show_notes

    where = Where.of(cluster, workers, None)
    source = None if file == "-" else Path(file)
    target = None if output == "-" else Path(output)
    door = Door(command=True)
    if not is_folder(target, form):
        form_of(target, form, door)
    found = load(model)
    if not hasattr(found, "log_ratio"):
        raise ValueError(
            f"MODEL must hold a comparison or an estimator; received {model}, which holds a "
            f"{type(found).__name__}. isthmus drift takes a reference."
        )
    with (
        collected_notes() as notes,
        where.client() as client,
        progress_bar(wanted=not quiet) as progress,
    ):
        rows = score_rows(
            found,
            source,
            target,
            weights=weights,
            columns=names_in(columns) or (),
            form=form,
            client=client,
            progress=progress,
            door=door,
        )
    if quiet:
        return
    # Standard output may be the table itself.
    out = console(stderr=True)
    show_notes(out, dict.fromkeys(notes))
    if target is not None:
        out.print(f"{count(rows, 'row')} scored: {printable(target)}", markup=False)
