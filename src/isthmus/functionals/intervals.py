"""Standard errors of functionals: the delta method through the fitted critic.

A functional F of the log-ratios errs for two reasons: its means run over finite
samples, and the log-ratio itself was fitted to finite samples. Across a chasm
the second is by far the larger. Both are sums over rows, so each row's influence
on F is written down and the squares are added up.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._affine import shares
from .._typing import Array
from ..objective import Point
from ..solvers import EXACT_LIMIT, solve_dense, solve_hessian
from ._divergence import Divergence, Linearisation


def fit_influence(point: Point, slope_p: Array, slope_q: Array, anchored: bool) -> Array:
    """Influence on F, through the fitted parameters, of every row of the labelled sample.

    With g the gradient of F in the parameters, H the Hessian of the objective
    and s = H^-1 g, a row contributes ``-w_i grad_i' s``: the summands of the
    sandwich estimate of variance. An anchor is fitted to rows too; a change A of
    it acts as a change of the parameters that the penalty pulls towards, so that
    ``l2 A' s`` is added. For a normal fit by moments, A is the row's features in
    the frame of its class, divided by the number of rows.

    Parameters
    ----------
    point : Point
        The objective at its minimum.
    slope_p, slope_q : ndarray
        Derivative of F in the log-ratio at each row of p and of q.
    anchored : bool
        Whether the critics sit on normal anchors.

    Returns
    -------
    ndarray of shape (n,)
    """
    objective = point.objective
    sample, critic = objective.sample, objective.critic
    direction = _solve(point, _gradient(point, slope_p, slope_q))
    raw = critic.expand(direction)
    learned = np.flatnonzero(sample.learned)
    constant = direction.reshape(len(learned), -1)[:, 0]
    total = np.bincount(sample.label, sample.weight)
    pull = objective.l2 / total[learned] if anchored else np.zeros(len(learned))
    out = np.empty(len(sample))
    for rows in objective.chunks():
        own = sample.label[rows, None] == learned
        along = critic.values(raw, sample.X[rows])
        effect = (own - point.probability[rows]) * along + own * pull * (along - constant)
        out[rows] = sample.weight[rows] * effect.sum(axis=1)
    return out


def _gradient(point: Point, slope_p: Array, slope_q: Array) -> Array:
    """Derivative of F in the parameters; p and q are the first two learned classes."""
    sample, critic = point.objective.sample, point.objective.critic
    total = critic.accumulator()
    slope = np.concatenate([slope_p, slope_q])
    # The rows of p and of q come first in the sample, in this order.
    for rows in point.objective.chunks():
        part = slope[rows]
        if not len(part):
            break
        R = np.zeros((len(part), int(sample.learned.sum())))
        R[:, 0], R[:, 1] = part, -part
        critic.accumulate(total, R, sample.X[rows][: len(part)])
    return np.asarray(critic.contract(total))


def _solve(point: Point, g: Array) -> Array:
    if len(g) > EXACT_LIMIT or not hasattr(point.objective.critic, "features"):
        return solve_hessian(point, g, tol=1e-3, max_iter=100)
    return solve_dense(point.hessian(), g)


def linearised(
    divergence: Divergence,
    log_ratio_p: Array,
    log_ratio_q: Array,
    weight_p: Array | None,
    weight_q: Array | None,
) -> tuple[Linearisation, list[Array | None]]:
    """Terms and slopes of a divergence, and weights, at the rows that a fit has seen.

    A labelled sample holds no rows of weight zero.

    Parameters
    ----------
    divergence : Divergence
    log_ratio_p, log_ratio_q : ndarray
        Log-ratios at all rows of p and of q.
    weight_p, weight_q : ndarray, optional
        Weights of the rows.
    """
    linear = divergence.linearise(log_ratio_p, log_ratio_q, weight_p, weight_q)
    there = [slice(None) if w is None else np.flatnonzero(w > 0) for w in (weight_p, weight_q)]
    p, q = there
    kept = Linearisation(linear.p[p], linear.q[q], linear.p_slope[p], linear.q_slope[q])
    weights = zip((weight_p, weight_q), there, strict=True)
    return kept, [w if w is None else w[at] for w, at in weights]


def delta_std_error(
    linear: Any,
    weight_p: Array | None,
    weight_q: Array | None,
    point: Point | None,
    anchored: bool = True,
) -> float:
    """Standard error of a functional from the influence of every row.

    Parameters
    ----------
    linear : Linearisation
        Terms and slopes of the functional at the rows of p and of q.
    weight_p, weight_q : ndarray, optional
        Weights of the rows.
    point : Point, optional
        The objective at its minimum. Without it only the error of evaluation is
        counted.
    anchored : bool
        Whether the critics sit on normal anchors.
    """
    share_p, share_q = shares(linear.p, weight_p), shares(linear.q, weight_q)
    total = np.concatenate([share_p * linear.p, share_q * linear.q])
    share = np.concatenate([share_p, share_q])
    label = np.repeat([0, 1], [len(share_p), len(share_q)])
    if point is not None:
        own, total = (
            total,
            fit_influence(point, share_p * linear.p_slope, share_q * linear.q_slope, anchored),
        )
        total[: len(own)] += own
        label = point.objective.sample.label
        weight = point.objective.sample.weight
        share = weight / np.bincount(label, weight)[label]
    # The size of each class is given, not drawn: only deviations within a class count.
    total -= share * np.bincount(label, total)[label]
    return float(np.sqrt((total**2).sum()))


def has_influence(model: Any) -> bool:
    """Whether every row's influence on a fitted model is known in closed form.

    It is for normal anchors; the parameters of column maps move with the rows as well.
    """
    from ..anchors import GaussianAnchor

    anchors = getattr(model, "anchors_", None)
    if getattr(model, "network_", None) is not None:
        return False
    if anchors is None or getattr(getattr(model, "map_", None), "maps", None) is not None:
        return False
    return all(isinstance(one, GaussianAnchor) for one in anchors)


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
    alternatives = getattr(selection, "alternatives", [])
    if len(alternatives) < 2 or np.isfinite(model.l2_):
        return 0.0
    with warnings.catch_warnings():
        # An alternative beyond the largest float says no more than that it is far away.
        warnings.simplefilter("ignore")
        values = np.array([float(divergence.value(p, q)) for p, q in alternatives])
    distance = values[1:] - values[0]
    return float(np.sqrt(np.mean(distance**2))) if np.isfinite(distance).all() else np.inf
