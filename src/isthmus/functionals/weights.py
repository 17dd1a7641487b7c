"""Importance weights from log-ratios, and how many rows they are worth."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..typing import Array
from .arrays import check_log_ratio, float_or_array

_LARGEST_LOG = float(np.log(np.finfo(np.float64).max)) - 1e-9


def importance_weights(log_ratio: npt.ArrayLike, normalise: bool = True) -> Array:
    r"""Importance weights: self-normalised, :math:`w_i = n\, r_i / \sum_j r_j`, or :math:`r_i`.

    Normalised, their mean is one, so a constant added to the log-ratios makes no
    difference, and neither does the scale: log-ratios of ±1000 are fine.

    Parameters
    ----------
    log_ratio : array-like of shape (n,) or (..., n)
        log p/q at rows from q. -inf gives weight 0; +inf is refused.
    normalise : bool, default=True
        Whether the mean is one. Otherwise the weights are p/q itself, at most the largest float.

    Returns
    -------
    ndarray of the same shape
        Nonnegative; mean one over the last axis if normalised.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import importance_weights
    >>> importance_weights(np.log([1.0, 3.0]) + 1000)
    array([0.5, 1.5])
    >>> importance_weights(np.log([1.0, 3.0]), normalise=False).round(6)
    array([1., 3.])
    """
    if not normalise:
        t = check_log_ratio("log_ratio", log_ratio)
        return np.asarray(np.exp(np.minimum(t, _LARGEST_LOG)))
    w = _relative(log_ratio)
    return np.asarray(w / w.mean(axis=-1, keepdims=True))


def effective_sample_size(log_ratio: npt.ArrayLike) -> float | Array:
    r"""Kish's effective sample size :math:`(\sum_i r_i)^2 / \sum_i r_i^2`.

    Between 1 (one row has all the weight) and n (equal weights). Divided by n it
    estimates :math:`1 / (1 + \chi^2(p\|q))`.

    Parameters
    ----------
    log_ratio : array-like
        As in :func:`importance_weights`.

    Returns
    -------
    float or ndarray
        A float for 1-D input, otherwise one value for each leading index.

    References
    ----------
    Kish (1965), Survey Sampling.

    Examples
    --------
    >>> from isthmus.functionals import effective_sample_size
    >>> effective_sample_size([1000.0, 1000.0, -1000.0])
    2.0
    """
    w = _relative(log_ratio)
    size = w.sum(axis=-1) ** 2 / (w**2).sum(axis=-1)
    return float_or_array(np.clip(size, 1.0, w.shape[-1]))  # rounding may pass the ends


def _relative(log_ratio: npt.ArrayLike) -> Array:
    """Ratios divided by the largest: in [0, 1], and 1 somewhere in each set of rows."""
    t = check_log_ratio("log_ratio", log_ratio)
    peak = t.max(axis=-1, keepdims=True)
    if not np.all(np.isfinite(peak)):
        raise ValueError(
            "log_ratio must be below +inf, and above -inf for some row; received a maximum of "
            f"{peak[~np.isfinite(peak)].flat[0]}."
        )
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(t - peak))
