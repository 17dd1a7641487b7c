"""Columns of one side without what the others of the same side say of them.

A bend may mix the columns of one side: x2 + f(x1) in place of x2. What the columns of x tell of
each other is no part of the information, and taking it off is a bijection of x.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.preprocessing import SplineTransformer

from ..data.holdout import PROVEN
from ..typing import Array

# Columns of a side, and knots of each column.
_MOST, _KNOTS = 8, 30
# Rows for every feature.
_ROWS = 25
_RIDGE = 1e-5
# Share of a column's variance that others must explain beyond straight lines.
_SHARE = 0.05


def straightened(raw: Array) -> Array | None:
    """Columns less smooth functions of those before them; None where there are none to take off.

    Of both orders the one is taken in which more is explained.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(2000, 2))
    >>> bent = np.column_stack([z[:, 0] + 3 * np.sin(2 * z[:, 1]), z[:, 1]])
    >>> found = straightened(bent)
    >>> bool(np.abs(np.corrcoef(found[:, 1], z[:, 0])[0, 1]) > 0.99)
    True
    >>> straightened(z) is None
    True
    """
    n, d = raw.shape
    knots = min(_KNOTS, n // (_ROWS * max(d - 1, 1)))
    if not 2 <= d <= _MOST or knots < 4:
        return None
    found = [_in_order(raw[:, ::step], knots) for step in (1, -1)]
    explained, columns = max(found, key=lambda one: one[0])
    return columns if explained > 0.0 else None


def _in_order(z: Array, knots: int) -> tuple[float, Array]:
    """How much is explained, in nats, and the columns without it."""
    out, total = z.copy(), 0.0
    # Evenly spaced for a normal column: the ends of a column may be bent as much as its middle.
    levels = ndtr(np.linspace(ndtri(3.0 / len(z)), -ndtri(3.0 / len(z)), knots - 2))
    places = np.quantile(z, np.concatenate([[0.0], levels, [1.0]]), axis=0)
    splines = SplineTransformer(knots=places, extrapolation="linear")
    values = splines.fit_transform(z)
    each = values.shape[1] // z.shape[1]
    fitted = np.arange(len(z)) % 2 == 0
    for k in range(1, z.shape[1]):
        lines = np.hstack([np.ones((len(z), 1)), z[:, :k]])
        bent = np.hstack([lines, values[:, : k * each]])
        gap = [
            (z[~fitted, k] - one[~fitted] @ _solved(one[fitted], z[fitted, k])) ** 2
            for one in (lines, bent)
        ]
        gain = gap[0] - gap[1]
        share = float(gain.mean() / gap[0].mean())
        clear = gain.mean() > PROVEN * gain.std() / np.sqrt(len(gain))
        if clear and share > _SHARE:
            total -= 0.5 * float(np.log1p(-min(share, 0.9999)))
            out[:, k] = z[:, k] - bent @ _solved(bent, z[:, k])
    return total, np.asarray(out / out.std(axis=0))


def _solved(design: Array, target: Array) -> Array:
    gram = design.T @ design
    # Splines at the ends have few rows: the ridge keeps them from running off.
    gram[np.diag_indices_from(gram)] += _RIDGE * len(design)
    return np.asarray(np.linalg.solve(gram, design.T @ target))
