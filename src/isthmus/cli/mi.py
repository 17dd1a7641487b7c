"""The command ``isthmus mi``: what it does, once its options are read."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from .._version import __version__
from ..tables.columns import as_columns
from ..tables.frames import read_table
from .show import plain
from .terminal import printable


@dataclass(frozen=True)
class MiOptions:
    """Options of the command."""

    x: list[str] | None
    y: list[str] | None
    given: list[str] | None
    method: str
    missing: str
    seed: int
    level: float
    as_json: bool
    quiet: bool
    plot: Path | None


def mi_of_file(path: Path, how: MiOptions) -> None:
    """Print the mutual information of columns of a file, or of all pairs of columns."""
    if (how.x is None) != (how.y is None):
        raise ValueError("--x and --y must be given together, or neither for all pairs of columns.")
    if how.x is None and how.given is not None:
        raise ValueError("--given must come with --x and --y; received it alone.")
    if how.x is not None and how.plot is not None:
        raise ValueError("--plot must come without --x and --y: it shows all pairs of columns.")
    table, dropped = _read(path, how)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        document = _one(table, how) if how.x is not None else _all(table, how)
    notes = [str(each.message) for each in caught if issubclass(each.category, UserWarning)]
    notes = list(dict.fromkeys(notes + document.pop("notes", [])))
    n_rows = len(next(iter(table.values())))
    if how.as_json:
        document |= {"file": str(path), "rows": n_rows, "dropped_rows": dropped, "notes": notes}
        document["seed"] = how.seed
        print(json.dumps({"isthmus": __version__, **plain(document)}, indent=2, allow_nan=False))
        return
    console = Console(highlight=False)
    if how.x is not None:
        print(document["sentence"])
    else:
        _show_pairs(console, document["pairs"])
    if not how.quiet:
        for note in notes:
            console.print(f"note: {printable(note)}", style="dim", markup=False)


def _one(table: dict[str, np.ndarray], how: MiOptions) -> dict[str, Any]:
    from ..information import mutual_information

    assert how.x is not None and how.y is not None
    parts = [{name: table[name] for name in names} for names in (how.x, how.y)]
    given = {name: table[name] for name in how.given} if how.given else None
    found = mutual_information(
        *parts, given=given, method=how.method, level=how.level, random_state=how.seed
    )
    names = [", ".join(map(printable, group)) for group in (how.x, how.y, how.given or [])]
    condition = f" | {names[2]}" if how.given else ""
    sentence = f"I({names[0]}; {names[1]}{condition}) = {found} nats"
    if found.lower_bound > 0:
        sentence += f"; at least {found.lower_bound:.3g} with {100 * how.level:g} % confidence"
    return {
        "x": how.x,
        "y": how.y,
        "given": how.given,
        "mutual_information": found.to_dict(),
        "sentence": sentence,
        "notes": list(found.notes),
    }


def _all(table: dict[str, np.ndarray], how: MiOptions) -> dict[str, Any]:
    from ..information import mi_matrix

    if how.method != "auto":
        raise ValueError(f"--method must come with --x and --y; received {how.method!r}.")
    found = mi_matrix(table, random_state=how.seed)
    if how.plot is not None:
        from matplotlib.figure import Figure

        size = max(4.5, 0.45 * len(found.names) + 2.5)
        figure = Figure(figsize=(size + 0.8, size), layout="constrained")
        found.plot(figure.subplots())
        figure.savefig(how.plot, dpi=150)
    return {
        "names": found.names,
        "matrix": found.values,
        "std_errors": found.std_errors,
        "pairs": [{"x": a, "y": b, "value": value} for a, b, value in found.top(20)],
    }


def _show_pairs(console: Console, pairs: list[dict[str, Any]]) -> None:
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("column", "column"):
        table.add_column(name)
    table.add_column("nats", justify="right")
    for pair in pairs:
        table.add_row(printable(pair["x"]), printable(pair["y"]), f"{pair['value']:.3f}")
    console.print(table)


def _read(path: Path, how: MiOptions) -> tuple[dict[str, np.ndarray], int]:
    """Columns that are asked for, and the number of rows left out for missing values."""
    table = read_table(path)
    wanted = [*(how.x or []), *(how.y or []), *(how.given or [])] or list(table)
    absent = [name for name in wanted if name not in table]
    if absent:
        raise ValueError(
            f"{path.name} must have the columns asked for; it has no {absent!r}. It has "
            f"{', '.join(map(repr, list(table)[:12]))}."
        )
    if len(set(wanted)) < len(wanted):
        raise ValueError("--x, --y and --given must name different columns; received one twice.")
    columns = as_columns({name: table[name] for name in wanted}, path.name, wanted)
    missing = np.any([column.missing for column in columns.values()], axis=0)
    if missing.any() and how.missing == "error":
        names = [name for name, column in columns.items() if column.missing.any()]
        raise ValueError(
            f"{path.name} must have no missing values; received some in {names!r}. Leave their "
            "rows out with --missing drop."
        )
    out = {}
    for name in wanted:
        column = columns[name].take(~missing)
        levels = np.array(column.levels, dtype=object)
        out[name] = levels[column.codes] if column.kind == "category" else column.numbers
    return out, int(missing.sum())
