"""What a comparison can be asked for, written to and read from: rows, frames, columns, files."""

from __future__ import annotations

import datetime
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.oracles import ask, check_comparison, check_estimate, same
from fuzz.samples import Rng
from fuzz.tables import Table, frames, quick, tables

from isthmus import load, score


def dated(rng: Rng) -> tuple[Table, Table]:
    """Tables with a column of dates, as text or as dates, beside others."""
    p, q = tables(rng)
    as_text = rng.random() < 0.5
    for side, start in ((p, 0), (q, int(rng.integers(0, 400)))):
        n = len(next(iter(side.values())))
        first = datetime.datetime(2023, 1, 1) + datetime.timedelta(days=start)
        days = [first + datetime.timedelta(days=int(k)) for k in rng.integers(0, 300, n)]
        side["day"] = [day.isoformat() for day in days] if as_text else days
    return p, q


def dates(rng: Rng) -> None:
    """A column of dates is days, whatever library it comes from."""
    p, q = dated(rng)
    maker = list(frames(rng).values())[rng.integers(4)]
    first = quick(p, q, missing="indicator")
    second = quick(maker(p), maker(q), missing="indicator")
    assert bool(first) == bool(second), first.refusal + second.refusal
    if first:
        same(second.value.samples.q.rows, first.value.samples.q.rows, 1e-12, "dates")
        check_comparison(first.value)


def asked(rng: Rng) -> None:
    """Top rows, the frame of divergences, and what each column does."""
    p, q = dated(rng) if rng.random() < 0.5 else tables(rng)
    answer = quick(p, q, missing=str(rng.choice(["indicator", "drop"])))
    if not answer:
        return
    c = answer.value
    n = int(rng.integers(1, 50))
    top = c.top_rows(n)
    for side, rows, given in (("p", top.p, p), ("q", top.q, q)):
        length = len(getattr(c.samples, side))
        for name, column in given.items():
            assert len(rows[name]) == min(n, length), "number of top rows"
            assert {str(v) for v in rows[name]} <= {str(v) for v in column}, name
    frame = ask(c.to_frame)
    assert frame and list(frame.value.columns)[:2] == ["divergence", "value"]
    assert not frame.value["value"].isna().any()
    for column in ask(lambda: c.columns).value:
        check_estimate(column.js, column.name, math.log(2))
        assert column.name in p and 0 <= column.p_value <= 1, column
        assert column.moves >= 0 and math.isfinite(column.moves), column
    told = ask(c.to_dict)
    assert told and json.loads(json.dumps(told.value, allow_nan=False))


def scores(model: Any, table: Any, folder: Path) -> np.ndarray:
    """Log-ratios of the rows of a table that lies in a file."""
    from pyarrow import parquet

    parquet.write_table(table, folder / "new.parquet")
    score(model, folder / "new.parquet", folder / "scores.parquet", weights=True)
    found = parquet.read_table(folder / "scores.parquet")
    log_ratio = found["log_ratio"].to_numpy()
    assert (found["weight"].to_numpy() >= 0).all()
    return log_ratio


def saved(rng: Rng) -> None:
    """A comparison that was saved and loaded says the same, in memory and of files."""
    import pyarrow as pa

    p, q = dated(rng) if rng.random() < 0.5 else tables(rng)
    answer = quick(p, q, missing="indicator")
    if not answer:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "c.isthmus")
        answer.value.save(path)
        again = load(path)
        one, other = ask(answer.value.log_ratio, q), ask(again.log_ratio, q)
        assert bool(one) == bool(other), one.refusal + other.refusal
        kl = ask(lambda: answer.value.kl).value
        assert again.kl.to_dict() == kl.to_dict()
        if one:
            same(other.value, one.value, 0.0, "after loading")
            told = ask(scores, again, pa.table(q), Path(folder))
            assert told, told.refusal
            same(told.value, one.value, 1e-12, "scores of a file")
        # A byte that is changed is noticed.
        data = bytearray(path.read_bytes())
        data[rng.integers(len(data))] ^= 1 + int(rng.integers(255))
        path.write_bytes(data)
        damaged = ask(load, path)
        if damaged and one:
            same(damaged.value.log_ratio(q), one.value, 0.0, "of a damaged file")


FAMILIES = {"dates": dates, "asked": asked, "saved": saved}
