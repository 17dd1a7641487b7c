"""A lower bound of the information that holds whatever the fitted ratio is worth."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..functionals.bounds import kl_lower_bound
from .judge import Judged

# Share of the joint log-ratios that must lie below the largest of a shuffled pair.
_REACHED = 0.95


def lower_bound(judged: Judged | None, value: float, std_error: float, level: float) -> float:
    """One-sided bound by Donsker and Varadhan on held-out pairs, at least 0.

    Parameters
    ----------
    judged : Judged or None
        The ratio at held-out joint and shuffled pairs. Without one the bound is that of the
        normal approximation, which takes the model at its word.
    value, std_error : float
        The estimate; the bound is never above that of its normal approximation.
    level : float
    """
    normal = float(max(value - float(ndtri(level)) * std_error, 0.0))
    if judged is None or not np.isfinite(judged.shuffled).all():
        return normal
    return min(normal, _from_pairs(judged, level))


def _from_pairs(judged: Judged, level: float) -> float:
    if np.mean(judged.joint <= judged.highest) < _REACHED:
        # Too few shuffled pairs look like joint ones for a normal approximation.
        bound = kl_lower_bound(judged.joint, judged.shuffled, level=level, method="bernstein")
        return bound.low
    mass = np.exp(judged.shuffled - judged.shuffled.max())
    mass /= mass.mean()
    error = np.sqrt((judged.joint.var() + mass.var()) / len(mass))
    value = judged.joint.mean() - np.logaddexp.reduce(judged.shuffled) + np.log(len(mass))
    return float(max(value - ndtri(level) * error, 0.0))
