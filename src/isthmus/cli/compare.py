"""The command ``isthmus compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..files import check_target
from ..settings import Call
from ..words import DIVERGENCES, USUAL_DIVERGENCES
from .options import (
    AsJson,
    Cluster,
    Columns,
    Dates,
    Drop,
    FailAbove,
    Keep,
    Memory,
    Missing,
    Seed,
    WhatIsMissing,
    Workers,
    check_options,
    limits_in,
    names_in,
)

if TYPE_CHECKING:
    from .cluster import Where
    from .output import Output


def compare(
    a: Annotated[
        Path | None,
        typer.Argument(
            metavar="A",
            help="Sample of p: CSV or Parquet, or a folder of Parquet.",
            show_default=False,
        ),
    ] = None,
    b: Annotated[
        Path | None,
        typer.Argument(
            metavar="B",
            help="Sample of q: CSV or Parquet, or a folder of Parquet.",
            show_default=False,
        ),
    ] = None,
    columns: Columns = None,
    drop: Drop = None,
    keep: Keep = None,
    missing: WhatIsMissing = Missing.indicator,
    dates: Dates = None,
    level: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    divergence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Divergence beside KL, such as js, chi2 or alpha:0.5; may be repeated. "
            f"Default: {', '.join(USUAL_DIVERGENCES[1:])}.",
        ),
    ] = None,
    fail_above: FailAbove = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a figure to this .png, .pdf or .svg file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write everything as one page to this .html file.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the model to this file, for `isthmus score`."),
    ] = None,
    cluster: Cluster = None,
    workers: Workers = None,
    memory: Memory = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print the answer's one sentence and nothing else.")
    ] = False,
) -> None:
    """Compare two tables, their columns matched by name; without files, show an example.

    Fitted densities, regressions, trees and neighbours are weighed by held-out rows, and the answer
    says what it rests on. Where a check objects, only "at least" is said, with the reason.

    Tables are taken as they are: dates, text, missing values. What was made of every column, and
    what was left out and why, is told. Exit codes: 2 for bad input, 3 for a divergence that
    --fail-above does not allow.

    Parquet of more than 200,000 rows, or than memory has room for, is read in parts, again for
    every pass over it.
    """
    if (a is None) != (b is None):
        raise ValueError(f"compare must have two files, or none; received only {a or b}.")
    if a is None and (columns or drop or keep or dates or missing is not Missing.indicator):
        raise ValueError(
            "--columns, --drop, --keep, --missing and --dates must come with two files; received "
            "none."
        )
    check_options(level, seed, plot, report)
    limits = limits_in(fail_above, tuple(DIVERGENCES))
    if save is not None:
        if a is None:
            raise ValueError("--save must come with two files; received none.")
        check_target(save, "--save")

    from ..functionals import get_divergence
    from ..tables.parts import date_parts
    from .cluster import Where
    from .example import compare_example
    from .output import Output

    shown = tuple(dict.fromkeys(("kl", *(divergence or USUAL_DIVERGENCES))))
    for name in shown:
        try:
            get_divergence(name)  # before the fit, which a slip of the pen must not cost
        except ValueError as error:
            raise ValueError(f"--divergence: {error}") from None
    output = Output(shown, tuple(divergence or ()), as_json, quiet, plot, report, save, limits)
    where = Where.of(cluster, workers, memory)
    if a is None or b is None:
        compare_example(seed, level, output)
        return
    used = names_in(columns)
    call = Call(
        level=level,
        columns=None if used is None else tuple(used),
        drop=tuple(names_in(drop) or ()),
        keep=tuple(names_in(keep) or ()),
        missing=missing.value,
        dates=date_parts(names_in(dates) or "days", "--dates"),
        random_state=seed,
        files=(str(a), str(b)),
    )
    compare_files(a, b, call, output, where)


def compare_files(a: Path, b: Path, call: Call, output: Output, where: Where) -> None:
    """Compare two files, and print and write what was found."""
    from .. import plots
    from ..comparing import compare_given
    from ..plots.style import plain_frame
    from ..tables.door import Door
    from .output import Result, collected_notes, deliver, one_sided, show_comparison
    from .terminal import progress_bar

    labels = (str(a), str(b)) if a.name == b.name and a != b else (a.name, b.name)
    with (
        collected_notes() as notes,
        where.client() as client,
        progress_bar(wanted=not output.quiet) as progress,
    ):
        found = compare_given(
            a,
            b,
            call,
            labels=labels,
            door=Door(command=True),
            client=client,
            memory=where.memory,
            progress=progress,
        )
        encoder = found.encoder
        assert encoder is not None  # files are tables
        divergences = {name: found.divergence(name) for name in output.divergences}
    facts = {
        "files": {"p": str(a), "q": str(b)},
        "rows": dict(zip("pq", found.sizes, strict=True)),
        "dropped_rows": dict(zip("pq", encoder.dropped_rows, strict=True)),
        "columns": encoder.summary(),
        "left_out": {left.name: left.because for left in encoder.left_out_},
        "one_sided": one_sided(encoder),
        "features": encoder.feature_names_,
    }
    result = Result(found, divergences, labels, notes)
    deliver(
        result,
        output,
        facts,
        lambda out: show_comparison(out, result, encoder),
        lambda ax: plots.log_ratio_histogram(
            found.log_ratio_p, found.log_ratio_q, labels=labels, ax=plain_frame(ax)
        ),
    )
