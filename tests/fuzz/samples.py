"""Pairs of samples as people have them: few rows, ties, constants, odd scales, rare values."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator


def column(rng: Rng, n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """One column of p and of q, of a kind that is drawn."""
    kind = rng.integers(10)
    p, q = rng.normal(size=n), rng.normal(rng.normal(), np.exp(rng.normal()), size=m)
    if kind == 1:  # ties
        return np.round(p), np.round(q)
    if kind == 2:  # the same everywhere, or on one side
        return np.full(n, 3.0), np.full(m, 3.0) if rng.random() < 0.5 else q
    if kind == 3:  # heavy tails
        return np.exp(2 * p), np.exp(2 * q)
    if kind == 4:  # a rare 0/1 column
        return (rng.random(n) < 2 / n).astype(float), (rng.random(m) < 2 / m).astype(float)
    if kind == 5:  # sentinels among numbers
        p[rng.random(n) < 0.2] = -999
        q[rng.random(m) < 0.2] = -999
        return p, q
    if kind == 6:  # counts
        return rng.poisson(2, n).astype(float), rng.poisson(3, m).astype(float)
    if kind == 7:  # far apart
        return p, q + 30
    if kind == 8:  # zeros and amounts
        return p.clip(0), q.clip(0)
    return p, q


def pair(rng: Rng, most: int = 60, columns: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Two samples of 2 to ``most`` rows, some far fewer than others."""
    n, m = (int(rng.integers(8, most)) for _ in range(2))
    if rng.random() < 0.2:
        n = int(rng.integers(2, 8))
    made = [column(rng, n, m) for _ in range(rng.integers(1, columns + 1))]
    p, q = (np.column_stack(side) for side in zip(*made, strict=True))
    scale = 10.0 ** rng.choice([0, 0, 0, 3, -3, 8, -8], size=p.shape[1])
    shift = rng.choice([0.0, 0.0, 1.0, 1e3], size=p.shape[1]) * scale
    return p * scale + shift, q * scale + shift


def mild(rng: Rng, n: int = 30, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Two samples of normals that overlap: what any method can answer."""
    return rng.normal(size=(n, d)), rng.normal(0.5, 1.3, size=(n + 4, d))


def in_form(rng: Rng, rows: np.ndarray) -> tuple[str, Any]:
    """The same rows in another container, with the same numbers in it."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    names = [f"c{k}" for k in range(rows.shape[1])]
    columns = dict(zip(names, rows.T, strict=True))
    forms = {
        "lists": rows.tolist,
        "fortran order": lambda: np.asfortranarray(rows),
        "big-endian": lambda: rows.astype(">f8"),
        "objects": lambda: rows.astype(object),
        "a view": lambda: np.repeat(rows, 2, axis=0)[::2],
        "longdouble": lambda: rows.astype(np.longdouble),
        "pandas": lambda: pd.DataFrame(columns),
        "polars": lambda: pl.DataFrame(columns),
        "pyarrow": lambda: pa.table(columns),
        "dict": lambda: columns,
    }
    name = str(rng.choice(list(forms)))
    return name, forms[name]()
