"""The command ``isthmus mi``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..words import printable
from .options import AsJson, Seed, check_options, names_in

if TYPE_CHECKING:
    import numpy as np


def mi(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: CSV or Parquet.")],
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
    method: Annotated[
        str,
        typer.Option(help="auto, gaussian, cca, ksg, dv, mine, nwj, smile or infonce."),
    ] = "auto",
    missing: Annotated[
        str, typer.Option(help="Missing values: error refuses them, drop leaves out their rows.")
    ] = "error",
    level: Annotated[float, typer.Option(help="Coverage of the interval.")] = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a heat map to this .png, .pdf or .svg file.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
) -> None:
    """Mutual information of columns of a table, in nats; without --x and --y, of all pairs.

    Text and numbers with few values are taken for labels.
    """
    if missing not in ("error", "drop"):
        raise ValueError(f"--missing must be error or drop; received {missing!r}.")
    check_options(level, seed, plot)
    groups = names_in(x), names_in(y), names_in(given)
    pairs = groups[0] is None
    if pairs != (groups[1] is None):
        raise ValueError("--x and --y must be given together, or neither for all pairs of columns.")
    if pairs and groups[2] is not None:
        raise ValueError("--given must come with --x and --y; received it alone.")
    if plot is not None and not pairs:
        raise ValueError("--plot must come without --x and --y: it shows all pairs of columns.")
    if pairs and method != "auto":
        raise ValueError(f"--method must come with --x and --y; received {method!r}.")

    from .output import as_json as json_value
    from .output import collected_notes, print_json, save_figure
    from .terminal import console, show_notes

    wanted = [name for group in groups for name in group or []]
    table, dropped = read_columns(file, wanted, missing)
    with collected_notes(UserWarning) as notes:
        found = _all(table, seed) if pairs else _one(table, groups, method, level, seed)
    matrix = found.pop("found", None)
    notes = list(dict.fromkeys(notes + found.pop("notes", [])))
    with ExitStack() as later:
        # After the answer, which a disk that is full must not cost.
        if plot is not None:
            size = max(4.5, 0.45 * len(matrix.names) + 2.5)
            later.callback(save_figure, matrix.plot, plot, (size + 0.8, size))
        if as_json:
            rows = len(next(iter(table.values())))
            found |= {"file": str(file), "rows": rows, "dropped_rows": dropped, "notes": notes}
            print_json(json_value(found | {"seed": seed}))
            return
        if pairs:
            _show_pairs(found["pairs"])
        else:
            print(found["sentence"])
        if not quiet:
            show_notes(console(), notes, "dim")


def _one(
    table: dict[str, np.ndarray],
    groups: Sequence[list[str] | None],
    method: str,
    level: float,
    seed: int,
) -> dict[str, Any]:
    """Mutual information of two groups of columns, given a third."""
    from ..information import mutual_information

    x, y, given = ({name: table[name] for name in group or []} for group in groups)
    found = mutual_information(
        x, y, given=given or None, method=method, level=level, random_state=seed
    )
    told = [", ".join(map(printable, group)) for group in (x, y, given)]
    condition = f" | {told[2]}" if given else ""
    sentence = f"I({told[0]}; {told[1]}{condition}) = {found} nats"
    if found.one_sided:
        sentence = f"I({told[0]}; {told[1]}{condition}), in nats, is {found}"
    if found.lower_bound > 0:
        sentence += f"; at least {found.lower_bound:.3g} with {100 * level:g} % confidence"
    return {
        **dict(zip(("x", "y", "given"), groups, strict=True)),
        "mutual_information": found.to_dict(),
        "sentence": sentence,
        "notes": list(found.notes),
    }


def _all(table: dict[str, np.ndarray], seed: int) -> dict[str, Any]:
    """Mutual information of all pairs of columns."""
    from ..information import mi_matrix

    found = mi_matrix(table, random_state=seed)
    return {
        "found": found,
        "names": found.names,
        "matrix": found.values,
        "std_errors": found.std_errors,
        "pairs": [{"x": a, "y": b, "value": value} for a, b, value in found.top(20)],
    }


def _show_pairs(pairs: list[dict[str, Any]]) -> None:
    from rich.table import Column

    from .terminal import console, table

    heads = [Column("column"), Column("column"), Column("nats", justify="right")]
    rows = [(pair["x"], pair["y"], f"{pair['value']:.3f}") for pair in pairs]
    console().print(table(heads, rows))


def read_columns(path: Path, names: list[str], missing: str) -> tuple[dict[str, np.ndarray], int]:
    """Columns that are asked for, and the number of rows left out for missing values."""
    import numpy as np

    from ..tables.columns import as_columns
    from ..tables.reading import read_table

    table = read_table(path)
    wanted = names or list(table)
    absent = [name for name in wanted if name not in table]
    if absent:
        raise ValueError(
            f"{path.name} must have the columns asked for; it has no {absent!r}. It has "
            f"{', '.join(map(repr, list(table)[:12]))}."
        )
    if len(set(wanted)) < len(wanted):
        raise ValueError("--x, --y and --given must name different columns; received one twice.")
    columns = as_columns({name: table[name] for name in wanted}, path.name, wanted)
    without = np.any([column.missing for column in columns.values()], axis=0)
    if without.any() and missing == "error":
        lacking = [name for name, column in columns.items() if column.missing.any()]
        raise ValueError(
            f"{path.name} must have no missing values; received some in {lacking!r}. Leave their "
            "rows out with --missing drop."
        )
    kept = {name: columns[name].take(~without).values for name in wanted}
    return kept, int(without.sum())
