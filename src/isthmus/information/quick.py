"""Mutual information of two single columns, quickly: for matrices and scores of many columns.

Passes, each for the pairs that the one before leaves open:

1. Labels are counted against labels, and bins of numbers against labels. Two columns of numbers are
   judged by the normal copula of their ranks and by a table of bins. Where neither sees dependence
   there is none to be seen: such a table has less noise than neighbours.
2. Where there is some, nearest neighbours say how much: they keep what bins lose. Where they say of
   the rows what they would say of rows of the normal copula, that is more precise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import digamma

from ..data.holdout import LIKELY, PROVEN
from ..diagnostics.check import Check, advised, graded
from ..diagnostics.tails import LEAST_KL
from ..typing import Array
from .binned import binned_information, led_on
from .checks import check_rows
from .copulas import gaussian_information
from .counts import table_information
from .mixed import mixed_information
from .neighbours import check_sign, ksg_terms_of
from .result import Answer
from .sentinels import sentinel_notes
from .single import SingleColumn
from .values import Values

# Rows up to which neighbours are always asked, and rows that they are looked for in at most.
_FEW_ROWS, _MOST_ROWS = 500, 20_000
# Numbers of neighbours: few have little bias, and what more of them say tells how much.
_NEAR, _FAR = 4, 16
# Rows of every pair of values, in the mean, from which on numbers are counted like labels.
_ROWS_PER_CELL = 10
# Correlations of normal scores above this are those of a function.
_SAME = 1.0 - 1e-10
# Standard errors of a usual interval.
_USUAL = 1.96
# Shares of the value that may still be missing.
_MISSING = (0.08, 0.2)
_LITTLE = 0.02
# What neighbours may be off by either way, as a share: densities are not flat around a row.
_UNEVEN = 0.02
# Nats below the logarithm of the number of rows from which on neighbours and ranks tell less.
_REACH = 3.0
# Nats below the largest term from which on a row tells no more, and the share of such rows allowed.
_THIN, _ALONE = 1.5, 0.15


def quick_information(x: SingleColumn, y: SingleColumn) -> Answer:
    """Mutual information of two columns of any kind.

    Examples
    --------
    >>> from isthmus.data.seeds import Seeds
    >>> a, b = np.random.default_rng(0).normal(size=(2, 2000, 1))
    >>> x, y = (SingleColumn(n, Values(v, False), Seeds(0)) for n, v in (("x", a), ("y", a + b)))
    >>> found = quick_information(x, y)
    >>> found.method, bool(abs(found.value - 0.3466) < 0.06)  # truth: log(2) / 2
    ('gaussian', True)
    """
    if x.constant or y.constant:
        return Answer(0.0, 0.0, "constant", most=0.0)
    found = _by_kind(x, y)
    most, notes = min(found.most, x.limit, y.limit), found.notes
    if y.strange and x.strange:
        notes = (*notes, *sentinel_notes(x.values, y.values))
    value = min(found.value, x.entropy, y.entropy)
    return replace(found, value=value, most=most, notes=notes)


def _by_kind(x: SingleColumn, y: SingleColumn) -> Answer:
    if (x.values.discrete and y.values.discrete) or _is_countable(x, y):
        return _least(table_information(x.label, y.label, x.seeds))
    if x.values.discrete or y.values.discrete:
        rows, label = (y, x) if x.values.discrete else (x, y)
        return _least(binned_information(rows.values, label.label, x.seeds))
    if not (x.plain and y.plain):

        def pair(a: Values, b: Values) -> Answer:
            return quick_information(*(replace(c, values=v) for c, v in ((x, a), (y, b))))

        return mixed_information(x.values, y.values, pair)
    return _numbers(x, y)


def _is_countable(x: SingleColumn, y: SingleColumn) -> bool:
    """Whether there are rows enough for every pair of values that occurs."""
    most = len(x) / _ROWS_PER_CELL
    if max(len(x.known), len(y.known)) > most:
        return False
    if len(x.known) * len(y.known) <= most:
        return True
    joint = x.label.astype(np.int64) * len(y.known) + y.label
    return len(np.unique(joint)) <= most


def _least(found: Answer) -> Answer:
    """What a table shows, where it has too few rows to say more, and no name of rows ranks high."""
    if not any(check.verdict == "fail" for check in found.checks.values()):
        return found
    down, up = found.further
    shown = max(found.value - down, 0.0)
    return replace(found, value=shown, further=(0.0, found.value + up - shown))


def _numbers(x: SingleColumn, y: SingleColumn) -> Answer:
    """Of two columns of numbers that are nowhere missing."""
    a, b = x.marginal.scores, y.marginal.scores
    correlation = abs(float(np.corrcoef(a[:, 0], b[:, 0])[0, 1]))
    normal = _normal(a, b, correlation)
    tables = (table_information(u, v, x.seeds) for u, v in zip(x.bins, y.bins, strict=True))
    bins = led_on(*tables)
    rows = check_rows(len(x), 2)
    shown = bins.value - bins.further[0]
    seen = shown > LIKELY * bins.std_error or normal.value > PROVEN * normal.std_error
    # In few rows a table has few bins, and neighbours cost nothing.
    if not seen and len(x) > _FEW_ROWS:
        below, above = normal.further
        above = max(bins.value + bins.further[1] - normal.value, above)
        proven = (min(shown, normal.value), normal.std_error)
        return replace(normal, further=(below, above), checks={"rows": rows}, proven=proven)
    near, gap, alone = _neighbours(x, a, b)
    found = near
    margin = LIKELY if seen else PROVEN
    if correlation <= _SAME and _is_normal(x, normal, near, margin):
        apart, (below, above) = normal.value - near.value, normal.further
        found = replace(normal, further=(max(apart, below), max(-apart, above)))
    reach = float(np.log(len(x))) - _REACH
    checks = {"rows": rows, "sign": check_sign(near.value, near.std_error)}
    if found is near or found.value > reach:
        checks["learning"] = _check_missing(found.value, gap, reach, alone)
    if shown - LIKELY * bins.std_error > found.value + found.further[1] + found.std_error:
        # No table of bins says more than there is.
        checks["agreement"] = _check_bins(bins, found)
        found = replace(bins, checks={})
    return replace(
        found,
        checks={**found.checks, **checks},
        infinite=correlation > _SAME,
        proven=(shown, bins.std_error),
    )


def _normal(a: Array, b: Array, correlation: float) -> Answer:
    """The number by the normal copula of normal scores.

    On the scale of Fisher's transformation a correlation has the same error everywhere; near zero
    the information, its square, is skewed, and the interval reaches further than its error.
    """
    value, error = gaussian_information(a, b, scores=True)
    reach, middle = _USUAL / np.sqrt(len(a)), float(np.arctanh(min(correlation, _SAME)))
    low, high = np.tanh(max(middle - reach, 0.0)), np.tanh(middle + reach)
    ends = -0.5 * np.log1p(-np.square([low, correlation, high]).clip(max=_SAME))
    below, above = float(ends[1] - ends[0]), float(ends[2] - ends[1])
    half = _USUAL * error
    return Answer(
        value, error, "gaussian", further=(max(below - half, 0.0), max(above - half, 0.0))
    )


def _neighbours(x: SingleColumn, a: Array, b: Array) -> tuple[Answer, float, float]:
    """The number by nearest neighbours, what it falls by with more of them, and a share of rows.

    It is that of rows whose term is about as large as any can be, as on a curve without noise.
    """
    if len(a) > _MOST_ROWS:
        rows = x.seeds("rows for neighbours").permutation(len(a))[:_MOST_ROWS]
        a, b = a[rows], b[rows]
    ks = [min(k, len(a) - 1) for k in (_NEAR, _FAR)]
    near, far = ksg_terms_of(a, b, ks)
    found = Answer.of_terms(near, "neighbours")
    noise = float((near - far).std() / np.sqrt(len(near)))
    gap = max(float((near - far).mean()), 0.0)
    sure = gap**2 / (gap**2 + noise**2) if gap else 0.0
    # The bias grows with the number of neighbours, between as its root and in proportion.
    ahead = sure * gap / 3.0
    error = float(np.hypot(found.std_error, noise / 3.0))
    uneven = _UNEVEN * max(found.value, 0.0)
    # No gap that was seen is no gap: its noise may have hidden one.
    further = (ahead + uneven, max(gap, noise) - ahead + uneven)
    value = found.value + ahead
    alone = float(np.mean(near > digamma(len(near)) - digamma(ks[0]) - _THIN))
    made = replace(found, value=value, std_error=error, terms=None, further=further)
    return made, sure * gap, alone


def _is_normal(x: SingleColumn, normal: Answer, near: Answer, margin: float) -> bool:
    """Whether neighbours say what they would say of rows of the normal copula.

    They may differ by so many standard errors.
    """
    apart = near.value - normal.value
    noise = float(np.hypot(normal.std_error, near.std_error))
    if abs(apart) <= margin * noise:
        return True
    if apart > 0:
        return False
    # Neighbours err low: what they say of rows of that copula says by how much.
    rng = x.seeds("rows of the normal copula")
    u, v = rng.normal(size=(2, len(x), 1))
    left = np.exp(-2.0 * max(normal.value, 0.0))
    drawn, _, _ = _neighbours(x, u, np.sqrt(1.0 - left) * u + np.sqrt(left) * v)
    return abs(drawn.value - near.value) <= margin * float(np.hypot(noise, drawn.std_error))


def _check_missing(value: float, gap: float, reach: float, alone: float) -> Check:
    share = 0.0 if gap <= _LITTLE else gap / max(value, LEAST_KL)
    beyond = value > max(reach, LEAST_KL) or alone > _ALONE
    return advised(
        share,
        "fail" if beyond else graded(share, *_MISSING),
        f"Nearest neighbours say {gap:.2g} nats less where more of them are asked",
        warn=": a part is still to be learned, and more rows would tell.",
        fail=": there are too few rows for what the columns share. Only the lower end is known.",
    )


def _check_bins(bins: Answer, found: Answer) -> Check:
    return advised(
        bins.value,
        "warn",
        f"A table of bins shows {bins.value:.3g} nats, and the {found.method} estimate is "
        f"{found.value:.3g}",
        warn=": the value is that of the bins, which may be too low.",
    )
