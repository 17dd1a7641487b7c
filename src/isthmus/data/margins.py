"""How much one column differs by itself: shares of levels, or of bins of equal mass."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from ..typing import Array, IntArray


def jensen_shannon(
    p: IntArray, q: IntArray, weight_p: Array | None = None, weight_q: Array | None = None
) -> tuple[float, float]:
    r"""Jensen-Shannon divergence of two samples of levels 0, 1, ..., and its standard error.

    Shares of n rows make an entropy too small by :math:`\tfrac12 \sum_l v_l / s_l`, with
    s the shares and v their variances (Miller, 1955). The divergence,
    :math:`H(m) - \tfrac12 H(p) - \tfrac12 H(q)` with :math:`m = \tfrac12 (p + q)`, is
    rid of what that leaves: by itself it would be positive for equal samples.

    Examples
    --------
    >>> p, q = np.repeat([0, 1], 50), np.repeat([2, 3], 50)
    >>> value, std_error = jensen_shannon(p, q)
    >>> round(value, 2)  # log 2
    0.69
    """
    count = int(max(p.max(), q.max())) + 1
    shares, rows = [], []
    for code, weight in ((p, weight_p), (q, weight_q)):
        mass = np.ones(len(code)) if weight is None else weight
        shares.append(np.bincount(code, mass, count) / mass.sum())
        rows.append(mass.sum() ** 2 / (mass**2).sum())
    seen = (shares[0] + shares[1]) > 0
    own = np.array(shares)[:, seen]
    middle = own.mean(axis=0)
    rows_of = np.array(rows)[:, None]
    value = 0.5 * xlogy(own, own / middle).sum()
    noise = own * (1.0 - own) / rows_of
    entropies = np.divide(noise, own, out=np.zeros_like(own), where=own > 0).sum(axis=1)
    value -= 0.25 * entropies.sum() - 0.125 * (noise / middle).sum()
    # Influences of the rows; for equal samples, a chi-square's spread is the least there is.
    influence = 0.5 * np.log(np.maximum(own, 1e-300) / middle)
    mean = (own * influence).sum(axis=1, keepdims=True)
    variance = (own * (influence - mean) ** 2 / rows_of).sum()
    chance = 2.0 * (len(middle) - 1) * (0.125 * (1.0 / rows_of).sum()) ** 2
    return float(value), float(np.sqrt(max(variance, chance)))


def level_codes(p: Array, q: Array) -> IntArray:
    """Number the levels of what was made of one column, or bins of equal mass, p's rows first."""
    pooled = np.concatenate([p, q])
    bins = int(np.clip(round(2.0 * min(len(p), len(q)) ** (1 / 3)), 4, 40))
    parts = []
    for values in pooled.T:
        missing = np.isnan(values)
        edges = np.unique(values[~missing])
        if len(edges) > bins:
            edges = np.unique(np.quantile(values[~missing], np.linspace(0, 1, bins + 1)[1:-1]))
        # A missing value has a code of its own, behind all others.
        code = np.searchsorted(edges, values, side="right")
        parts.append(np.where(missing, len(edges) + 1, code))
    found = np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1]
    return np.asarray(found.reshape(-1), dtype=np.intp)
