"""The command ``isthmus compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..settings import Call
from ..words import USUAL_DIVERGENCES
from .options import AsJson, Missing, Seed, check_options, names_in

if TYPE_CHECKING:
    from .output import Output


def compare(
    a: Annotated[
        Path | None,
        typer.Argument(metavar="A", help="Sample of p: CSV or Parquet.", show_default=False),
    ] = None,
    b: Annotated[
        Path | None,
        typer.Argument(metavar="B", help="Sample of q: CSV or Parquet.", show_default=False),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Columns to use, separated by commas. Default: all that can help."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to leave out, separated by commas."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns to use though they would be left out: identifiers, constants, dates "
            "that alone tell the files apart.",
        ),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: a level of their own, and the median with a 0/1 column that "
            "tells where; drop their rows; or refuse them."
        ),
    ] = Missing.indicator,
    dates: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARTS",
            help="What becomes of dates: days, hour, weekday, month, separated by commas. "
            "Default: days.",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    divergence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Divergence beside KL, such as js, chi2 or alpha:0.5; may be repeated. "
            f"Default: {', '.join(USUAL_DIVERGENCES[1:])}.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a figure to this .png, .pdf or .svg file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write everything as one page to this .html file.")
    ] = None,
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
    """
    if (a is None) != (b is None):
        raise ValueError(f"compare must have two files, or none; received only {a or b}.")
    if a is None and (columns or drop or keep or dates or missing is not Missing.indicator):
        raise ValueError(
            "--columns, --drop, --keep, --missing and --dates must come with two files; received "
            "none."
        )
    check_options(level, seed, plot, report)

    from ..functionals import get_divergence
    from ..tables.parts import date_parts
    from .example import compare_example
    from .output import Output

    shown = tuple(dict.fromkeys(("kl", *(divergence or USUAL_DIVERGENCES))))
    for name in shown:
        try:
            get_divergence(name)  # before the fit, which a slip of the pen must not cost
        except ValueError as error:
            raise ValueError(f"--divergence: {error}") from None
    output = Output(shown, tuple(divergence or ()), as_json, quiet, plot, report)
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
    compare_files(a, b, call, output)


def compare_files(a: Path, b: Path, call: Call, output: Output) -> None:
    """Compare two files, and print and write what was found."""
    from .. import plots
    from ..comparing import compare_samples
    from ..data.validation import as_two_samples
    from ..plots.style import plain_frame
    from ..tables.door import Door
    from ..tables.frames import TableEncoder, read_table
    from .output import Result, collected_notes, deliver, save_figure, show_comparison
    from .terminal import progress_bar

    labels = (str(a), str(b)) if a.name == b.name and a != b else (a.name, b.name)
    encoder = TableEncoder(
        call.columns,
        call.drop,
        keep=call.keep,
        missing=call.missing,
        dates=call.dates,
        labels=labels,
        door=Door(command=True),
    )
    with collected_notes() as notes, progress_bar(wanted=not output.quiet) as progress:
        samples = as_two_samples(*encoder.fit_transform(read_table(a), read_table(b)))
        found = compare_samples(samples, call, encoder, progress=progress)
        divergences = {name: found.divergence(name) for name in output.divergences}
        if output.plot is not None:
            save_figure(
                lambda ax: plots.log_ratio_histogram(
                    found.log_ratio_p, found.log_ratio_q, labels=labels, ax=plain_frame(ax)
                ),
                output.plot,
            )
    facts = {
        "files": {"p": str(a), "q": str(b)},
        "rows": {"p": len(samples.p), "q": len(samples.q)},
        "dropped_rows": dict(zip("pq", encoder.dropped_rows, strict=True)),
        "columns": encoder.summary(),
        "features": encoder.feature_names_,
    }
    result = Result(found, divergences, labels, notes)
    deliver(result, output, facts, lambda out: show_comparison(out, result, encoder))
