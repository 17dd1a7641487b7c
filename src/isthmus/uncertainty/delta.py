"""Standard errors of functionals: the delta method through the fitted critic.

A functional F of the log-ratios errs for two reasons: its means run over finite
samples, and the log-ratio itself was fitted to finite samples. Across a chasm
the second is by far the larger. Both are sums over rows, so each row's influence
on F is written down and the squares are added up.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..data.blocks import Block
from ..functionals.f_divergence import Divergence, Linearisation
from ..model.objective import Point
from ..typing import Array
from .influence import Influence, solve

Ratios = tuple[Array, Array, Array, Array]
"""Log-ratios at the rows of p and of q, and their weights."""


def divergence_std_error(
    divergence: Divergence,
    ratios: Ratios,
    without: Sequence[tuple[Array, Array]],
    model: Any,
    point: Point | None,
    level: float,
) -> float:
    """Standard error of a cross-fitted divergence.

    Parameters
    ----------
    divergence : Divergence
    ratios : tuple
        Cross-fitted log-ratios at the rows of p and of q, and their weights.
    without : sequence of (ndarray, ndarray)
        Log-ratios at all rows by each fold's model; where they are given, the error of the
        fit is a jackknife over the folds.
    model : estimator
        Fitted to all rows.
    point : Point, optional
        Its objective at the minimum; where it is given, the error of the fit follows from
        every row's influence.
    level : float
        Level of the interval that it is for.
    """
    value = float(divergence.value(*ratios))
    if not np.isfinite(value):
        return np.inf
    linear, weights = linearised(divergence, ratios)
    anchored = point is not None and bool(model.anchors_)
    error = delta_std_error(linear, *weights, None if without else point, anchored)
    if without:
        moved = [float(divergence.value(p, q, *ratios[2:])) for p, q in without]
        error = float(np.hypot(error, jackknife_std_error(np.array(moved), level)))
    error = float(np.hypot(error, choice_std_error(divergence, model)))
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
    linear: Linearisation,
    weight_p: Array,
    weight_q: Array,
    point: Point | None,
    anchored: bool = True,
) -> float:
    """Standard error of a functional from the influence of every row.

    Parameters
    ----------
    linear : Linearisation
        Terms and slopes of the functional at the rows of p and of q.
    weight_p, weight_q : ndarray
        Weights of the rows.
    point : Point, optional
        The objective at its minimum. Without it only the error of evaluation is
        counted.
    anchored : bool
        Whether the critics sit on normal anchors.
    """
    shares = weight_p / weight_p.sum(), weight_q / weight_q.sum()
    terms = [share * term for share, term in zip(shares, (linear.p, linear.q), strict=True)]
    if point is None:
        # The size of each class is given, not drawn: only deviations within a class count.
        return float(
            np.sqrt(
                sum(
                    ((term - share * term.sum()) ** 2).sum()
                    for share, term in zip(shares, terms, strict=True)
                )
            )
        )
    slopes = shares[0] * linear.p_slope, shares[1] * linear.q_slope
    direction = solve(point, _gradient(point, slopes))
    influence = Influence(point, anchored)
    effect = influence.along(direction)

    def of_rows(block: Block) -> Array:
        total = effect(block)
        return total + terms[block.label][block.places] if block.label < 2 else total

    return float(np.sqrt(influence.variance(of_rows)))


def _gradient(point: Point, slopes: tuple[Array, Array]) -> Array:
    """Derivative of F in the parameters; p and q are the first two learned classes."""
    objective = point.objective
    critic, classes = objective.critic, len(objective.learned)

    def moments(block: Block) -> Any:
        total = critic.accumulator()
        if block.label < 2:
            R = np.zeros((len(block), classes))
            R[:, 0] = slopes[block.label][block.places]
            R[:, 1] = -R[:, 0]
            critic.accumulate(total, R, block.X)
        return total

    return np.asarray(critic.contract(objective.blocks.sum(moments)))


def jackknife_std_error(without: Array, level: float) -> float:
    """Standard error of a fit from what leaving out each of a few groups of rows does.

    Parameters
    ----------
    without : ndarray of shape (groups,)
        The functional, evaluated on all rows, of the fit without each group.
    level : float
        Level of the interval that it is for: a variance from few groups is itself
        uncertain, as Student's t distribution knows.
    """
    from scipy.stats import norm, t

    groups = len(without)
    error = np.sqrt((groups - 1.0) / groups * ((without - without.mean()) ** 2).sum())
    tail = 0.5 + 0.5 * level
    return float(error * t.ppf(tail, groups - 1) / norm.ppf(tail))


def choice_std_error(divergence: Divergence, model: Any) -> float:
    """How far a divergence is uncertain because several pairs of anchors fit as well.

    The root mean square distance, at held-out rows, between the answer of the anchors
    that were chosen and those of others that are not worse by more than chance.
    Zero where a critic was learned beside the anchors, or nothing was left to be chosen.
    """
    selection = getattr(model, "selection_", None)
    alternatives = [] if selection is None else selection.alternatives
    if len(alternatives) < 2 or np.isfinite(getattr(model, "l2_", 0.0)):
        return 0.0
    with warnings.catch_warnings():
        # An alternative beyond the largest float says no more than that it is far away.
        warnings.simplefilter("ignore")
        values = np.array([float(divergence.value(p, q)) for p, q in alternatives])
    distance = values[1:] - values[0]
    return float(np.sqrt(np.mean(distance**2))) if np.isfinite(distance).all() else np.inf
