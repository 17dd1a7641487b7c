"""The command ``isthmus drift``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..files import check_target
from .options import TOO_FAR, AsJson, Drop, FailAbove, Seed, check_options, limits_in, names_in

if TYPE_CHECKING:
    from ..drifting import Drift, Reference


def drift(
    reference: Annotated[
        Path,
        typer.Argument(
            metavar="REF",
            help="What the data were like: CSV, JSON lines or Parquet, or a file of "
            "--save-reference.",
        ),
    ],
    current: Annotated[
        Path,
        typer.Argument(
            metavar="CURRENT",
            help="What they are like, for all windows: CSV, JSON lines or Parquet; - for stdin.",
        ),
    ],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Column of dates, numbers or labels that the windows go by, and which is not "
            "compared. Default: the rows in their order.",
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH",
            help="Length of a window: 1h, 1d, 1w, 1mo or a multiple with dates; a width with "
            "numbers; a number of rows without --by. Default: the shortest of 1d, 1w and 1mo with "
            "200 rows; every number or label; all rows.",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns to use, separated by commas. Default: all that both have but dates, "
            "identifiers and what repeats the calendar.",
        ),
    ] = None,
    drop: Drop = None,
    divergence: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="js (Jensen-Shannon, at most 0.69 nats), kl (current against reference), or "
            "another of isthmus compare.",
        ),
    ] = "js",
    alarms_per_year: Annotated[
        float, typer.Option(help="False alarms in a year of windows without drift.")
    ] = 1.0,
    windows_per_year: Annotated[
        float | None,
        typer.Option(help="Windows in a year. Default: from --window, and 365 if not known."),
    ] = None,
    level: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    fail_above: FailAbove = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a figure to this .png, .pdf or .svg file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write everything as one page to this .html file.")
    ] = None,
    save_reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the reference to this file, which takes the place of REF another day.",
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print the answer and nothing else.")
    ] = False,
) -> None:
    """Compare every window of a table with a reference: how far apart, since when, and where.

    Tables are taken as they are: missing values are levels, new levels are told of, dates say when.
    A window raises an alarm where its p-value is small enough for --alarms-per-year. Exit codes: 2
    for bad input, 3 for a window whose divergence is above --fail-above, its whole interval
    included; alarms alone are no failure.
    """
    check_options(level, seed, plot, report)
    limits = limits_in(fail_above, [divergence])
    if save_reference is not None:
        check_target(save_reference, "--save-reference")

    from ..drifting import drift as find_drift
    from ..tables.reading import read_table
    from .output import collected_notes, save_figure
    from .terminal import progress_bar

    used, left = names_in(columns), names_in(drop) or []
    with collected_notes() as notes, progress_bar(wanted=not quiet) as progress:
        fitted = _reference(reference, used, left, by)
        found = find_drift(
            fitted,
            read_table(current),
            by,
            _window(window),
            divergence=divergence,
            level=level,
            alarms_per_year=alarms_per_year,
            windows_per_year=windows_per_year,
            columns=used,
            drop=left,
            random_state=seed,
            progress=progress,
        )
    above = found.above(limits[divergence]) if divergence in limits else ()
    # The answer comes first, and every file is tried: a disk that is full costs one file.
    with ExitStack() as later:
        if save_reference is not None:
            later.callback(fitted.save, save_reference)
        if plot is not None:
            later.callback(save_figure, found.plot, plot, (8.6, 3.6))
        if report is not None:
            title = f"Drift of {current.name} from {reference.name}"
            later.callback(found.report, report, title=title)
        if as_json:
            _print_json(found, limits, [one.label for one in above], notes, report)
        else:
            files = {"report": report, "plot": plot, "reference": save_reference}
            _show(found, notes, quiet, files)
            for one in () if quiet else above:
                print(f"above {divergence}={limits[divergence]:g}: {one.label}")
    if above:
        raise typer.Exit(TOO_FAR)


def _reference(
    path: Path, columns: list[str] | None, drop: Sequence[str], by: str | None
) -> Reference:
    """The reference from a table, or as it was saved."""
    from ..drifting import Reference, drift_reference
    from ..storing import load
    from ..tables.reading import read_table

    if not _is_saved(path):
        table = read_table(path)
        known = [name for name in drop if name in table]
        used = columns if columns is None else [name for name in columns if name != by]
        return drift_reference(table, columns=used, drop=known)
    found = load(path)
    if not isinstance(found, Reference):
        raise ValueError(
            f"REF must be a table or a reference of --save-reference; received {path}, which "
            f"holds a {type(found).__name__}. isthmus score takes such a model."
        )
    return found


def _is_saved(path: Path) -> bool:
    """Whether a file is one of this library's, which are zips; no table begins like one."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04" or path.suffix == ".isthmus"


def _window(text: str | None) -> str | float | int | None:
    """A number as such, and anything else as the text that it is."""
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else number


def _print_json(
    found: Drift, limits: dict[str, float], above: list[str], notes: list[str], report: Path | None
) -> None:
    from .output import print_json

    document = {**found.to_dict(), "fail_above": limits, "above": above, "warnings": notes}
    print_json(document | ({} if report is None else {"report": str(report)}))


def _show(found: Drift, notes: list[str], quiet: bool, files: Mapping[str, Path | None]) -> None:
    from rich.table import Column
    from rich.text import Text

    from ..words import listed, printable
    from .terminal import console, show_notes, table

    if quiet:
        print(printable(found.answer))
        return
    out = console()
    out.print(Text(printable(found.answer), style="bold red" if found.alarms else "green"))
    heads = [
        Column("window", style="bold"),
        Column("rows", justify="right"),
        Column(found.divergence, justify="right"),
        Column("interval", justify="right"),
        Column("p", justify="right"),
        Column("alarm"),
        Column("carried by", ratio=1),
    ]
    rows, styles = [], []
    for one in found.windows:
        carried = [c.name for c in one.columns if c.differs][:3] or [str(p) for p in one.pairs[:1]]
        rows.append((
            one.label,
            f"{one.rows:,}",
            *found.size(one),
            "" if one.p_value is None else f"{one.p_value:.2g}",
            "yes" if one.alarm else "",
            listed(carried) if one.alarm else "; ".join(one.notes[:1] if not one.columns else ()),
        ))  # fmt: skip
        styles.append("" if one.alarm else "dim")
    out.print(table(heads, rows, "how far from the reference", styles))
    for advice in found.advice:
        out.print(Text(f"to do: {printable(advice)}"))
    for name, why in found.left_out.items():
        out.print(Text(f"left out: {printable(name, 40)}, since {printable(why)}", style="dim"))
    show_notes(out, [*found.notes, *notes], "dim")
    for what, path in files.items():
        if path is not None:
            out.print(Text(f"{what}: {printable(path)}", style="dim"))
