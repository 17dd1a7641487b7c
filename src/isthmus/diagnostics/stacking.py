"""Checks of a stack: what is still to be learned, and whether there is anything to learn from."""

from __future__ import annotations

import numpy as np

from ..anchors import has_components, silent_share
from ..data.sample import Sample
from ..densities import SEPARATE
from ..typing import Array
from .check import Check, advised, graded
from .evidence import Evidence

_LITTLE = 0.05
"""Nats that may be missing whatever the value is."""

_SEPARATE = 0.01
_FEW_LEVELS = 50
_OF_Q = 3
_SILENT = 0.25
_STAND_IN = 6
_AGREED = 0.15
_LEAST_ROWS = 10


def check_learning(value: float, high: float) -> Check:
    """Whether more rows would still change the answer much.

    Parameters
    ----------
    value : float
        The divergence, as far as it was learned.
    high : float
        Where the learning curve leads.

    Examples
    --------
    >>> check_learning(1.0, 1.2).verdict, check_learning(1.0, 3.0).verdict
    ('ok', 'fail')
    """
    ahead = max(high - value, 0.0)
    share = 0.0 if ahead <= _LITTLE else ahead / max(value, _LITTLE)
    return advised(
        share,
        graded(share, 0.5, 1.0),
        f"Fits to fewer rows show that {ahead:.2g} nats may still be missing from {value:.3g}",
        warn=": a good part is still to be learned, and more rows would tell.",
        fail=": more is to be learned than was learned. Only the lower end is known.",
    )


def learning(e: Evidence) -> Check | None:
    """Where the answer is a stack's."""
    smaller = e.comparison.crossfit.smaller
    if smaller is None or not e.stacked:
        return None
    value = float(e.p.share @ e.p.rows)
    fewer = float(e.p.share @ smaller.log_ratio_p)
    return check_learning(value, value + smaller.ahead(0.5) * max(value - fewer, 0.0))


def check_separation(p: Sample, q: Sample) -> Check:
    """Whether some rows of the samples could be of either.

    Parameters
    ----------
    p, q : Sample
        Held-out log-ratios at the rows of p and of q.
    """
    error = 0.5 * float(p.share @ (p.rows <= 0) + q.share @ (q.rows >= 0))
    return advised(
        error,
        graded(-error, -5.0 * _SEPARATE, -_SEPARATE),
        f"{error:.2%} of the rows lie on the wrong side",
        warn=": the samples hardly overlap, and little is known of the ratio where one of them is.",
        fail=": the samples do not overlap, and no fitted density explains them. Only the lower "
        "end is known.",
    )


def separation(e: Evidence) -> Check | None:
    """Where the answer is a stack's."""
    return check_separation(e.p, e.q) if e.stacked else None


def check_reach(p: Sample, q: Sample, backed: bool) -> Check:
    """How much of the KL comes from rows of p that lie where q has none.

    There no row says how rare q is: a stack knows that the ratio is large and not how large, and
    fitted densities know it from their family alone.

    Parameters
    ----------
    p, q : Sample
        Held-out log-ratios at the rows of p and of q.
    backed : bool
        Whether fitted densities say the same; then what is beyond is a warning at most.
    """
    top = float(np.sort(q.rows)[-min(_OF_Q, len(q))])
    beyond = np.where(p.rows > top, p.rows, 0.0)
    value, part = float(p.share @ p.rows), float(p.share @ beyond)
    share = 0.0 if part <= _LITTLE else part / max(value, _LITTLE)
    verdict = graded(share, 0.25, np.inf if backed else 0.25)
    return advised(
        share,
        verdict,
        f"{share:.0%} of the KL comes from rows of p beyond all but {_OF_Q - 1} rows of q",
        warn=": there the family of the densities decides.",
        fail=": how large the ratio is there is not known. Only the lower end is.",
    )


def reach(e: Evidence) -> Check | None:
    """Where the samples overlap."""
    if not e.facts.selection.members:
        return None
    backed = not e.stacked
    for densities, _ in e.comparison.crossfit.rivals if e.stacked else ():
        mine, theirs = float(e.p.share @ e.p.rows), float(e.p.share @ densities)
        backed = abs(theirs - mine) <= _AGREED * max(mine, _LITTLE)
    return check_reach(e.p, e.q, backed)


def check_family(components: int, silent: float = 0.0) -> Check:
    """Whether densities across a chasm are of a family, or sums that stand for any shape.

    Parameters
    ----------
    components : int
        Largest number of normals in one density.
    silent : float
        Share of the rows of p at which q's density says nothing.
    """
    if silent > _SILENT:
        return Check(
            float(components),
            "fail",
            f"At {silent:.0%} of the rows of p the density of q says nothing: it has margins of "
            "any shape, or falls off as if it had an edge. Only the lower end is known.",
        )
    return advised(
        float(components),
        "ok" if components < _STAND_IN else "fail",
        ok="The densities are of a family.",
        fail=f"A sum of {components} normals stands in for a density that is of no family tried. "
        "Between the samples, where there are no rows, it says nothing. Only the lower end is "
        "known.",
    )


def family(e: Evidence) -> Check | None:
    """Where the samples are far apart and the answer is that of fitted densities alone."""
    found = e.facts.selection
    if found.members or e.facts.learned or e.inside is None:
        return None
    anchors = e.comparison.estimator.anchors_
    parts = [len(one.components_) for one in anchors if has_components(one)]
    if not parts or check_separation(e.p, e.q).value >= SEPARATE:
        return None
    return check_family(max(parts), silent_share(anchors[1], e.inside[0]))


def check_levels(p: Sample, q: Sample) -> Check:
    """Whether one sample has a level of a column, in many rows, that the other lacks.

    Parameters
    ----------
    p, q : Sample
    """
    worst, where = 0.0, -1
    for j in range(p.rows.shape[1]):
        found = _lacking(p.rows[:, j], q.rows[:, j])
        if found > worst:
            worst, where = found, j
    return advised(
        worst,
        "ok" if worst == 0.0 else "fail",
        ok="No sample has a level in many rows that the other lacks.",
        fail=f"{worst:.2%} of the rows of one sample have a level of column {where} that the other "
        "lacks: the true ratio is zero or infinite there. Leave the column out, or such rows.",
    )


def levels(e: Evidence) -> Check | None:
    """Where the answer is a stack's."""
    return check_levels(*e.comparison.samples.positive()) if e.stacked else None


def _lacking(a: Array, b: Array) -> float:
    """Largest share of rows with a level that the other sample lacks; zero for other columns."""
    levels = np.unique(a[: 20 * _FEW_LEVELS])
    if len(levels) > _FEW_LEVELS:
        return 0.0
    levels = np.unique(np.concatenate([np.unique(a), np.unique(b)]))
    if len(levels) > _FEW_LEVELS:
        return 0.0
    counts = [np.bincount(np.searchsorted(levels, x), minlength=len(levels)) for x in (a, b)]
    worst = 0.0
    for own, other in (counts, counts[::-1]):
        share = own / own.sum()
        # As many of its rows would be expected in the other sample.
        missing = (other == 0) & (own >= _LEAST_ROWS) & (share * other.sum() >= _LEAST_ROWS)
        if len(levels) > 2:
            # Counts thin out at their ends; what is missing lies between others.
            inside = np.flatnonzero(other)
            missing[: inside[0]] = missing[inside[-1] :] = False
        worst = max(worst, float(share[missing].max(initial=0.0)))
    return worst
