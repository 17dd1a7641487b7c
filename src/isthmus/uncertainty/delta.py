"""Standard errors of functionals: the delta method through the fitted critic.

A functional F of the log-ratios errs for two reasons: its means run over finite
samples, and the log-ratio itself was fitted to finite samples. Across a chasm
the second is by far the larger. Both are sums over rows, so each row's influence
on F is written down and the squares are added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.blocks import Block
from ..data.telling import quiet
from ..functionals.f_divergence import Divergence, Linearisation
from ..typing import Array
from .influence import Influence, at_rows, centred_terms

Ratios = tuple[Array, Array, Array, Array]
"""Log-ratios at the rows of p and of q, and their weights."""


def divergence_std_error(
    divergence: Divergence,
    ratios: Ratios,
    without: Sequence[tuple[Array, Array]],
    influence: Influence | None,
    level: float,
) -> float:
    """Standard error of a cross-fitted divergence, for an interval of a level.

    Where log-ratios at all rows by the models ``without`` each fold are given, the error of
    the fit is a jackknife over the folds; otherwise it follows from the rows' influence.
    """
    if not np.isfinite(float(divergence.value(*ratios))):
        return np.inf
    # Squares above the largest float are an error that is not known.
    with np.errstate(over="ignore", invalid="ignore"):
        linear, weights = linearised(divergence, ratios)
        error = delta_std_error(linear, *weights, influence)
        if without:
            moved = [float(divergence.value(p, q, *ratios[2:])) for p, q in without]
            error = float(np.hypot(error, jackknife_std_error(np.array(moved), level)))
    return error if np.isfinite(error) else np.inf


def linearised(divergence: Divergence, ratios: Ratios) -> tuple[Linearisation, tuple[Array, Array]]:
    """Terms and slopes of a divergence, and weights, at the rows that a fit has seen.

    Rows of weight zero are not among them.
    """
    linear = divergence.linearise(*ratios)
    p, q = (np.flatnonzero(weight > 0) for weight in ratios[2:])
    kept = Linearisation(linear.p[p], linear.q[q], linear.p_slope[p], linear.q_slope[q])
    return kept, (ratios[2][p], ratios[3][q])


def delta_std_error(
    linear: Linearisation, weight_p: Array, weight_q: Array, influence: Influence | None
) -> float:
    """Standard error of a functional, from its terms and slopes at the rows and their weights.

    Without the influence of the rows on the fit, only the error of evaluation is counted.
    """
    if influence is None:
        # The size of each class is given, not drawn: only deviations within a class count.
        return float(np.sqrt(sum(e @ e for e in centred_terms(linear, weight_p, weight_q))))
    share_p, share_q = weight_p / weight_p.sum(), weight_q / weight_q.sum()
    terms = share_p * linear.p, share_q * linear.q
    slopes = share_p * linear.p_slope, share_q * linear.q_slope
    effect = influence.along(influence.solve(_gradient(influence, slopes)))
    return float(np.sqrt(influence.variance(lambda block: effect(block) + at_rows(terms, block))))


def _gradient(influence: Influence, slopes: tuple[Array, Array]) -> Array:
    """Derivative of F in the parameters; p and q are the first two learned classes."""
    critic, classes = influence.point.objective.critic, len(influence.learned)

    def moments(block: Block) -> Any:
        total = critic.accumulator()
        if block.label < 2:
            R = np.zeros((len(block), classes))
            R[:, 0] = at_rows(slopes, block)
            R[:, 1] = -R[:, 0]
            critic.accumulate(total, R, block.X)
        return total

    return np.asarray(critic.contract(influence.blocks.sum(moments)))


def jackknife_std_error(without: Array, level: float) -> float:
    """Standard error of a fit from a functional of the fits without each of a few groups of rows.

    A variance from few groups is itself uncertain, as Student's t distribution knows: the error
    is that for a normal interval of a level.
    """
    from scipy.stats import norm, t

    groups = len(without)
    error = np.sqrt((groups - 1.0) / groups * ((without - without.mean()) ** 2).sum())
    tail = 0.5 + 0.5 * level
    return float(error * t.ppf(tail, groups - 1) / norm.ppf(tail))


def choice_range(
    divergence: Divergence, alternatives: Sequence[tuple[Array, Array]]
) -> tuple[float, float]:
    """How far below and above a divergence lie those of other anchors that fit as well.

    ``alternatives`` are log-ratios at the same rows of p and of q by the anchors that were chosen,
    which come first, and by others that the rows cannot refuse; see
    :attr:`isthmus.estimator.FitFacts.alternatives`. No error is added up over them, as if they were
    draws: one of them may be the truth, and the interval reaches to the furthest.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import get_divergence
    >>> rows = [(np.full(3, value), np.zeros(3)) for value in (2.0, 1.5, 4.0)]
    >>> choice_range(get_divergence("kl"), rows)
    (0.5, 2.0)
    """
    if len(alternatives) < 2:
        return 0.0, 0.0
    # An alternative beyond the largest float says no more than that it is far away.
    with quiet():
        values = np.array([float(divergence.value(p, q)) for p, q in alternatives])
    if not np.isfinite(values[0]):
        return 0.0, 0.0
    apart = np.nan_to_num(values - values[0], nan=np.inf, posinf=np.inf, neginf=-np.inf)
    return max(0.0, -float(apart.min())), max(0.0, float(apart.max()))
