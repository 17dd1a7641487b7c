"""Whether the class probabilities that follow from the ratio happen that often."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from ..data.sample import Sample
from ..typing import Array
from .check import Check, advised

_FARTHEST = 30.0
_LEAST_ROWS = 30.0
_STEPS = 30
_CURES = {
    "too extreme": "use a stronger penalty, a simpler critic or more rows",
    "too timid": "use a weaker penalty or a more flexible critic",
    "shifted": "use other anchors or auxiliaries, or check the weights of the rows",
}


def check_calibration(
    log_ratio_p: Array,
    log_ratio_q: Array,
    weight_p: Array | None = None,
    weight_q: Array | None = None,
) -> Check:
    r"""Whether p's share among rows is what cross-fitted log-ratios say.

    The rows' labels are regressed on the log-ratio, with both samples counting for half:

    .. math:: \operatorname{logit} P(p \mid x) = a + b \log \frac{p(x)}{q(x)}.

    If the ratio is right, a = 0 and b = 1. A slope b below one says that the ratio is too
    extreme, as after over-fitting, above one that it is too timid (Cox, 1958).

    Parameters
    ----------
    log_ratio_p, log_ratio_q : ndarray of shape (n_p,) and (n_q,)
        Log p/q at rows that the model has not seen.
    weight_p, weight_q : ndarray, optional
        Weights of the rows.

    Returns
    -------
    Check
        Its value is the slope b; a and the standard error of b are among the details. Only rows
        that could be of either sample can tell: across a chasm it has nothing to say.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(1, 1, 2000), rng.normal(-1, 1, 2000)
    >>> check_calibration(2 * p, 2 * q).verdict, check_calibration(6 * p, 6 * q).verdict
    ('ok', 'fail')
    """
    p, q = Sample.of(log_ratio_p, weight_p), Sample.of(log_ratio_q, weight_q)
    share = 0.5 * np.concatenate([p.share, q.share])
    x = np.clip(np.nan_to_num(np.concatenate([log_ratio_p, log_ratio_q])), -_FARTHEST, _FARTHEST)
    is_p = np.repeat([1.0, 0.0], [len(log_ratio_p), len(log_ratio_q)])
    chance = expit(x)
    rows = 1.0 / (share**2).sum()
    # Rows that are certain tell nothing: one with probability r is worth 4 r (1 - r) rows.
    telling = float(rows * (share * 4.0 * chance * (1.0 - chance)).sum())
    spread = float(np.sqrt(share @ (x - share @ x) ** 2))
    if telling < _LEAST_ROWS or spread < 0.02:
        far = telling < _LEAST_ROWS
        why = "Hardly any row could be of both samples" if far else "The log-ratio hardly varies"
        details = {"intercept": 0.0, "std_error": np.inf, "rows": telling}
        return Check(1.0, "ok", f"{why}, so that calibration cannot be judged.", details=details)
    line, error = _regress(x, is_p, share, rows)
    gaps = np.abs(line - np.array([0.0, 1.0]))
    warn, fail = ((gaps > np.maximum(3.0 * error, least)).any() for least in (0.1, 0.4))
    reason = "too extreme" if line[1] < 1.0 else "too timid"
    if gaps[0] / max(error[0], 1e-9) > gaps[1] / max(error[1], 1e-9):
        reason = "shifted"
    cure = _CURES[reason]
    return advised(
        float(line[1]),
        "fail" if fail else "warn" if warn else "ok",
        f"Labels follow the log-ratio with slope {line[1]:.2f} ± {error[1]:.2g}, should be 1",
        warn=f": the log-ratio is {reason} where the samples overlap; "
        f"{cure}, or leave the settings at 'auto'.",
        details={"intercept": float(line[0]), "std_error": float(error[1]), "rows": telling},
    )


def _regress(x: Array, is_p: Array, share: Array, rows: float) -> tuple[Array, Array]:
    """Intercept and slope of a logistic regression, and their standard errors."""
    design = np.column_stack([np.ones_like(x), x])
    line, prior = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    # A prior worth about one row keeps the slope finite where the rows are separable.
    precision = np.diag([0.25, 0.25]) / rows
    for _ in range(_STEPS):
        chance = expit(design @ line)
        gradient = design.T @ (share * (chance - is_p)) + precision @ (line - prior)
        curvature = (design * (share * chance * (1.0 - chance))[:, None]).T @ design + precision
        step = np.linalg.solve(curvature, gradient)
        line = line - step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    influence = design * (share * (is_p - expit(design @ line)))[:, None]
    inverse = np.linalg.inv(curvature)
    return line, np.sqrt(np.diag(inverse @ (influence.T @ influence) @ inverse))
