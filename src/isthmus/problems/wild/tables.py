"""Real tables that come with scikit-learn, thinned by known weights.

Each function returns the rows and the probability that a row is kept for p, which is a
function of the columns that are there: what depends on a column that is not could not be
learned from the rows, and its KL over the table would not be that of the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ...typing import Array
from .problem import table


def read(name: str, **options: Any) -> tuple[Array, Array]:
    """Rows and target of a table of scikit-learn."""
    from sklearn import datasets

    rows, target = getattr(datasets, f"load_{name}")(return_X_y=True, **options)
    return np.asarray(rows, dtype=np.float64), np.asarray(target, dtype=np.float64)


def standard(rows: Array) -> Array:
    """Columns of mean zero and variance one; a constant column is zero."""
    scale = rows.std(axis=0)
    return np.asarray((rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0))


def levels(column: Array, n: int) -> Array:
    """A column cut at its quantiles into the whole numbers 0 to n - 1."""
    cuts = np.quantile(column, np.arange(1, n) / n)
    return np.searchsorted(cuts, column, side="right").astype(np.float64)


@table()
def breast_cancer_linear() -> tuple[Array, Array]:
    """Breast cancer, 30 columns: a linear index of three."""
    rows, _ = read("breast_cancer")
    z = standard(rows)
    return rows, special.expit(-0.2 + 1.2 * z[:, 1] - 0.9 * z[:, 4] + 0.8 * z[:, 20])


@table()
def breast_cancer_threshold() -> tuple[Array, Array]:
    """Breast cancer, 30 columns: one column above its upper third, and another below."""
    rows, _ = read("breast_cancer")
    z = standard(rows)
    high = z[:, 21] > np.quantile(z[:, 21], 0.65)
    low = z[:, 8] < np.quantile(z[:, 8], 0.4)
    return rows, np.where(high, 0.9, 0.25) * np.where(low, 1.0, 0.6)


@table()
def breast_cancer_binned() -> tuple[Array, Array]:
    """Breast cancer, 10 columns as 0/1, thirds and fifths, and the class: an interaction."""
    rows, target = read("breast_cancer")
    sizes = (2, 2, 2, 3, 3, 3, 5, 5, 5)
    columns = [levels(rows[:, k], n) for k, n in enumerate(sizes)]
    x = np.column_stack([*columns, target])
    return x, special.expit(-0.8 + 1.8 * x[:, 9] * (x[:, 6] - 1.5) - 1.0 * x[:, 1])


@table()
def diabetes_few() -> tuple[Array, Array]:
    """Diabetes, 10 columns: few rows are kept, by a linear index and a square."""
    rows, _ = read("diabetes")
    z = standard(rows)
    return rows, special.expit(-3.3 + 1.1 * z[:, 2] - 0.8 * z[:, 8] + 0.5 * z[:, 3] ** 2)


@table()
def diabetes_target() -> tuple[Array, Array]:
    """Diabetes with the target as a column, 11 columns: the target and its product with age."""
    rows, target = read("diabetes", scaled=False)
    x = np.column_stack([rows, target])
    z = standard(x)
    return x, special.expit(-0.3 + 1.6 * z[:, 10] + 0.8 * z[:, 10] * z[:, 0])


@table()
def diabetes_raw() -> tuple[Array, Array]:
    """Diabetes as it was measured, 10 columns, one of two levels: age the other way by sex."""
    rows, _ = read("diabetes", scaled=False)
    z = standard(rows)
    return rows, special.expit(-0.3 + 1.5 * z[:, 0] * np.where(rows[:, 1] > 1, 1.0, -1.0))


@table()
def digits_linear() -> tuple[Array, Array]:
    """Digits, 64 columns of 0 to 16: a linear index of four pixels."""
    rows, _ = read("digits")
    z = standard(rows)
    return rows, special.expit(-0.4 + 1.3 * z[:, 21] - 1.1 * z[:, 42] + 0.9 * z[:, 28] - z[:, 61])


@table()
def digits_blocks() -> tuple[Array, Array]:
    """Digits as 16 sums of four pixels: the product of two and the square of a third."""
    rows, _ = read("digits")
    x = rows.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    z = standard(x)
    return x, special.expit(-0.6 + 1.4 * z[:, 5] * z[:, 10] - 0.8 * (z[:, 6] ** 2 - 1))


@table()
def wine_class() -> tuple[Array, Array]:
    """Wine, 13 columns and the class: alcohol, the other way for the last class."""
    rows, target = read("wine")
    x = np.column_stack([rows, target])
    z = standard(x)
    return x, special.expit(0.2 + 1.5 * z[:, 0] * np.where(target == 2, -1.0, 1.0) - 0.6 * z[:, 9])


@table()
def iris_quadratic() -> tuple[Array, Array]:
    """Iris, 4 columns in tenths: the square of one and a shift of another."""
    rows, _ = read("iris")
    z = standard(rows)
    return rows, special.expit(-0.2 + 1.2 * (z[:, 0] ** 2 - 1) + 0.8 * z[:, 1])
