"""The command ``isthmus mi``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..words import count, printable
from .options import AsJson, Drop, Missing, Seed, check_options, names_in

if TYPE_CHECKING:
    from ..information import Information, InformationMatrix
    from ..tables.columns import Column
    from .terminal import ProgressCallback

# Pairs that are printed.
_SHOWN = 20


def mi(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A table: CSV, JSON lines or Parquet.")
    ],
    x: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns of x, separated by commas."),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns of y, separated by commas."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to condition on, separated by commas."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns of which all pairs are compared, separated by commas. Default: all.",
        ),
    ] = None,
    drop: Drop = None,
    method: Annotated[
        str,
        typer.Option(help="auto, gaussian, cca, ksg, dv, mine, nwj, smile or infonce."),
    ] = "auto",
    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: a level of their own (indicator); drop leaves out their rows; "
            "error refuses them."
        ),
    ] = Missing.indicator,
    level: Annotated[float, typer.Option(help="Coverage of the interval.")] = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Write a heat map to this .png, .pdf or .svg file; what is not trusted is crossed."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
) -> None:
    """Mutual information of columns of a table, in nats; without --x and --y, of all pairs.

    Each number has an interval and a verdict. Text and numbers with few values are taken for
    labels. Pairs are worked out quickly, and --x and --y with more care.
    """
    check_options(level, seed, plot)
    groups = names_in(x), names_in(y), names_in(given)
    pairs = groups[0] is None
    _check_together(groups, names_in(columns), names_in(drop), plot, method)

    from .output import collected_notes, save_figure
    from .terminal import progress_bar

    wanted = [name for group in groups for name in group or []] or names_in(columns)
    with collected_notes(UserWarning) as notes, progress_bar(wanted=not quiet) as progress:
        table, dropped = read_columns(file, wanted, names_in(drop) or [], missing, pairs)
        facts = {"file": str(file), "dropped_rows": dropped, "seed": seed}
        if pairs:
            matrix = _all(table, level, seed, progress)
        else:
            found = _one(table, groups, method, level, seed, progress)
    if not pairs:
        _show_one(found, groups, level, facts, notes, as_json, quiet)
        return
    # The picture comes after the answer, which a disk that is full must not cost.
    with ExitStack() as later:
        if plot is not None:
            size = min(max(4.5, 0.45 * len(matrix.names) + 2.5), 40.0)
            later.callback(save_figure, matrix.plot, plot, (size + 0.8, size))
        _show_all(matrix, facts, notes, as_json, quiet)


def _check_together(
    groups: Sequence[list[str] | None],
    columns: list[str] | None,
    drop: list[str] | None,
    plot: Path | None,
    method: str,
) -> None:
    """Refuse options that do not go together."""
    pairs = groups[0] is None
    if pairs != (groups[1] is None):
        raise ValueError("--x and --y must be given together, or neither for all pairs of columns.")
    if pairs and groups[2] is not None:
        raise ValueError("--given must come with --x and --y; received it alone.")
    if pairs and method != "auto":
        raise ValueError(f"--method must come with --x and --y; received {method!r}.")
    for name, option in (("--plot", plot), ("--columns", columns), ("--drop", drop)):
        if option is not None and not pairs:
            raise ValueError(
                f"{name} must come without --x and --y: it is for all pairs of columns."
            )


def _one(
    table: dict[str, Column],
    groups: Sequence[list[str] | None],
    method: str,
    level: float,
    seed: int,
    progress: ProgressCallback | None,
) -> Information:
    """Mutual information of two groups of columns, given a third."""
    from ..information import mutual_information

    if progress is not None:
        progress(0, 1, "mutual information")
    x, y, given = ({name: table[name].values for name in group or []} for group in groups)
    return mutual_information(
        x, y, given=given or None, method=method, level=level, random_state=seed
    )


def _all(
    table: dict[str, Column], level: float, seed: int, progress: ProgressCallback | None
) -> InformationMatrix:
    """Mutual information of all pairs of columns."""
    from ..information import mi_matrix

    values = {name: column.values for name, column in table.items()}
    return mi_matrix(values, level=level, random_state=seed, progress=progress)


def _show_one(
    found: Information,
    groups: Sequence[list[str] | None],
    level: float,
    facts: dict[str, Any],
    notes: list[str],
    as_json: bool,
    quiet: bool,
) -> None:
    from .output import as_json as json_value
    from .output import print_json
    from .terminal import console, show_notes

    told = [", ".join(map(printable, group or [])) for group in groups]
    what = f"I({told[0]}; {told[1]}{f' | {told[2]}' if told[2] else ''})"
    sentence = f"{what} = {found} nats"
    if found.one_sided:
        sentence = f"{what}, in nats, is {found}"
    if found.lower_bound > 0:
        sentence += f"; at least {found.lower_bound:.3g} with {100 * level:g} % confidence"
    trusted = found.trusted and not found.one_sided
    sure = f"{'trusted' if trusted else 'not trusted'} ({found.diagnostics.summary})"
    notes = list(dict.fromkeys([*notes, *found.notes]))
    if as_json:
        named = dict(zip(("x", "y", "given"), groups, strict=True))
        document: dict[str, Any] = {
            **named,
            "mutual_information": found.to_dict(),
            "trusted": trusted,
        }
        document |= {"sentence": sentence, "rows": found.n_rows, **facts, "notes": notes}
        print_json(json_value(document))
        return
    print(sentence)
    print(sure)
    if not quiet:
        show_notes(console(), notes, "dim")


def _show_all(
    found: InformationMatrix, facts: dict[str, Any], notes: list[str], as_json: bool, quiet: bool
) -> None:
    from rich.table import Column as Head

    from ..information.telling import ends, verdict
    from .output import as_json as json_value
    from .output import print_json
    from .terminal import console, show_notes
    from .terminal import table as as_table

    notes = list(dict.fromkeys([*notes, *found.notes]))
    if as_json:
        arrays: dict[str, Any] = {"matrix": found.values, "std_errors": found.std_errors}
        arrays |= {"low": found.low, "high": found.high, "trusted": found.trusted}
        print_json(json_value({**found.to_dict(), **arrays, **facts, "notes": notes}))
        return
    print(printable(found.answer))
    heads = [
        Head("column", overflow="fold"),
        Head("column", overflow="fold"),
        Head("nats", justify="right"),
        Head(f"{100 * found.level:g} % interval", justify="right"),
        Head("verdict", ratio=1),
    ]
    rows, styles = [], []
    for a, b, value in found.top(_SHOWN):
        one = found.pair(a, b)
        rows.append((a, b, f"{value:.3f}", ends(one), verdict(one) or "trusted"))
        styles.append("dim" if verdict(one) else "")
    console().print(as_table(heads, rows, None, styles))
    more = len(found.pairs) - _SHOWN
    if more > 0:
        print(f"and {count(more, 'pair')} more: --json has all")
    for name, why in found.left_out.items():
        notes.append(f"{name!r} was left out: {why}")
    if not quiet:
        show_notes(console(), notes, "dim")


def read_columns(
    path: Path, names: list[str] | None, drop: list[str], missing: Missing, pairs: bool
) -> tuple[dict[str, Column], int]:
    """Columns that are asked for, and the number of rows left out for missing values."""
    import numpy as np

    from ..tables.columns import as_columns
    from ..tables.reading import names_in_file, read_table

    known = names_in_file(path)
    if known is not None:
        _chosen(path, known, names, drop, pairs)
    table = read_table(path)
    wanted = _chosen(path, list(table), names, drop, pairs)
    columns = as_columns({name: table[name] for name in wanted}, path.name, wanted, tolerant=pairs)
    without = np.any([column.missing for column in columns.values()], axis=0)
    if missing is Missing.indicator or not without.any():
        return columns, 0
    if missing is Missing.error:
        lacking = [name for name, column in columns.items() if column.missing.any()]
        raise ValueError(
            f"{path.name} must have no missing values; received some in {lacking!r}. Leave their "
            "rows out with --missing drop, or make them a level with --missing indicator."
        )
    return {name: columns[name].take(~without) for name in wanted}, int(without.sum())


def _chosen(
    path: Path, known: list[str], names: list[str] | None, drop: list[str], pairs: bool
) -> list[str]:
    """Names of the columns to use; too many for all pairs of them are refused."""
    absent = [name for name in [*(names or []), *drop] if name not in known]
    if absent:
        raise ValueError(
            f"{path.name} must have the columns asked for; it has no {absent!r}. It has "
            f"{', '.join(map(repr, known[:12]))}."
        )
    if names is not None and len(set(names)) < len(names):
        option = "--columns" if pairs else "--x, --y and --given"
        raise ValueError(f"{option} must name different columns; received one twice.")
    left = set(drop)
    wanted = [name for name in names or known if name not in left]
    if pairs:
        from ..information.matrix import MOST_COLUMNS

        if len(wanted) > MOST_COLUMNS:
            raise ValueError(
                f"{path.name} must have at most {MOST_COLUMNS} columns for all pairs of them; "
                f"received {len(wanted):,}. Name some with --columns, leave some out with --drop, "
                "or rank all against one in Python: isthmus.mi_scores(X, y)."
            )
        if len(wanted) < 2:
            raise ValueError(
                f"{path.name} must have at least two columns to compare; received {len(wanted)}."
            )
    return wanted
