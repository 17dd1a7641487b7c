"""Tables with text, missing values, rare levels and odd columns, in frames and files."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.oracles import ask, check_comparison, same
from fuzz.samples import Rng, column

from isthmus import MDRE, compare
from isthmus.tables.reading import read_table

Table = dict[str, list[Any]]
NAMES = ["age", "town", "näme", "a,b", "x y", "0", "id", "=1+2", "<b>", "p", "weight"]


def text(rng: Rng, n: int, levels: list[str]) -> list[Any]:
    share = rng.dirichlet(np.full(len(levels), 0.5))
    return [str(each) for each in rng.choice(levels, size=n, p=share)]


def tables(rng: Rng, n: int = 24, m: int = 30) -> tuple[Table, Table]:
    """Two tables with the same columns, numbers first."""
    names = [str(name) for name in rng.choice(NAMES, size=rng.integers(1, 4), replace=False)]
    p: Table = {}
    q: Table = {}
    for k, name in enumerate(names):
        if k == 0 or rng.random() < 0.5:
            one, other = column(rng, n, m)
            p[name], q[name] = one.tolist(), other.tolist()
        else:
            levels = [
                ["a", "b"],
                ["a", "b", "c", "rare"],
                ["x"],
                ["NA", "na", ""],
                ["é", "‖", "\t"],
            ]
            chosen = levels[rng.integers(len(levels))]
            p[name], q[name] = text(rng, n, chosen), text(rng, m, chosen)
    if rng.random() < 0.3:
        side = p if rng.random() < 0.5 else q
        values = side[names[0]]
        for at in rng.choice(len(values), 3, replace=False):
            values[at] = None
    return p, q


def given() -> MDRE:
    """An estimator whose settings are given, which takes some milliseconds."""
    return MDRE(critic="quadratic", anchor="gaussian", maps=None, auxiliaries="bridge", l2=np.inf)


def quick(p: Any, q: Any, **named: Any) -> Any:
    """A comparison with settings that are given: its answer, or a refusal."""
    return ask(compare, p, q, estimator=given(), folds=2, random_state=0, **named)


def frames(rng: Rng) -> dict[str, Any]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    return {"dict": dict, "pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def libraries(rng: Rng) -> None:
    """The same table in two libraries gives the same rows, or the same kind of refusal."""
    p, q = tables(rng)
    missing = str(rng.choice(["error", "drop", "indicator"]))
    makers = list(frames(rng).items())
    (one_name, one), (other_name, other) = (makers[k] for k in rng.choice(4, 2, replace=False))
    first = quick(one(p), one(q), missing=missing)
    second = quick(other(p), other(q), missing=missing)
    told = f"{one_name}: {first.refusal or 'taken'}; {other_name}: {second.refusal or 'taken'}"
    assert bool(first) == bool(second), told
    if first:
        for side in "pq":
            rows = [getattr(each.value.samples, side).rows for each in (first, second)]
            same(rows[1], rows[0], 0.0, f"{one_name} and {other_name}")
        check_comparison(first.value)


def order(rng: Rng) -> None:
    """Rows and columns in another order give the same features."""
    p, q = tables(rng)
    turned_p, turned_q = rng.permutation(len(p[next(iter(p))])), rng.permutation(30)
    names = [str(name) for name in rng.permutation(list(p))]
    other_p = {name: [p[name][k] for k in turned_p] for name in names}
    other_q = {name: [q[name][k] for k in turned_q] for name in reversed(names)}
    first, second = quick(p, q, missing="indicator"), quick(other_p, other_q, missing="indicator")
    assert bool(first) == bool(second), first.refusal + second.refusal
    if first:
        same(second.value.samples.p.rows, first.value.samples.p.rows[turned_p], 1e-12, "order")
        same(second.value.samples.q.rows, first.value.samples.q.rows[turned_q], 1e-12, "order")


def files(rng: Rng) -> None:
    """A table read from a file is the table that was written."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    p, q = tables(rng)
    # What text cannot tell apart: a missing value, an empty cell and the word for it.
    plain = all(v not in ("NA", "na", "") for side in (p, q) for c in side.values() for v in c)
    # Nor a missing value that is alone in the last row from an empty line at the end.
    plain = plain and (len(p) > 1 or all(c[-1] is not None for s in (p, q) for c in s.values()))
    suffix = str(rng.choice([".csv", ".tsv", ".parquet"]))
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for side, content in (("p", p), ("q", q)):
            path = Path(folder, side + suffix)
            table = pa.table(content)
            if suffix == ".parquet":
                parquet.write_table(table, path)
            else:
                delimiter = "\t" if suffix == ".tsv" else ","
                csv.write_csv(table, path, csv.WriteOptions(delimiter=delimiter))
            found.append(ask(read_table, path))
    if not all(found):
        return
    if plain or suffix == ".parquet":
        first = quick(p, q, missing="indicator")
        second = quick(*(each.value for each in found), missing="indicator")
        assert bool(first) == bool(second), first.refusal + second.refusal
        if first:
            same(second.value.samples.p.rows, first.value.samples.p.rows, 1e-12, suffix)


FAMILIES = {"libraries": libraries, "order": order, "files": files}
