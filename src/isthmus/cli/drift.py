"""The command ``isthmus drift``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import TOO_FAR, AsJson, FailAbove, Seed, check_options, limits_in, names_in

if TYPE_CHECKING:
    from ..drifting import Drift


def drift(
    reference: Annotated[Path, typer.Argument(metavar="REF", help="What the data were like.")],
    current: Annotated[Path, typer.Argument(metavar="CURRENT", help="What they are like.")],
    by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Column of dates, numbers or labels for the windows."),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH",
            help="Length of a window: 1h, 1d, 1w, 1mo with dates; a width with numbers; a number "
            "of rows without --by.",
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
    divergence: Annotated[
        str, typer.Option(metavar="NAME", help="js, kl, or another divergence.")
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
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print the answer and nothing else.")
    ] = False,
) -> None:
    """Compare every window of a table with a reference: how far apart, since when, and where.

    Exit codes: 2 for bad input, 3 for a window whose divergence is above --fail-above, its whole
    interval included.
    """
    check_options(level, seed, plot, report)
    limits = limits_in(fail_above, [divergence])

    from ..drifting import drift as find_drift
    from ..tables.reading import read_table
    from .output import collected_notes, save_figure
    from .terminal import progress_bar

    with collected_notes() as notes, progress_bar(wanted=not quiet) as progress:
        found = find_drift(
            read_table(reference),
            read_table(current),
            by,
            _window(window),
            divergence=divergence,
            level=level,
            alarms_per_year=alarms_per_year,
            windows_per_year=windows_per_year,
            columns=names_in(columns),
            drop=names_in(drop) or (),
            random_state=seed,
            progress=progress,
        )
        if plot is not None:
            save_figure(found.plot, plot, (8.6, 3.6))
        if report is not None:
            found.report(report, title=f"Drift of {current.name} from {reference.name}")
    above = found.above(limits[divergence]) if divergence in limits else ()
    if as_json:
        _print_json(found, limits, [one.label for one in above], notes, report)
    else:
        _show(found, notes, quiet, report)
        for one in () if quiet else above:
            print(f"above {divergence}={limits[divergence]:g}: {one.label}")
    if above:
        raise typer.Exit(TOO_FAR)


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


def _show(found: Drift, notes: list[str], quiet: bool, report: Path | None) -> None:
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
    if report is not None:
        out.print(Text(f"report: {printable(report)}", style="dim"))
