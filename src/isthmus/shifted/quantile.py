"""Quantiles of weighted scores, with the weight of the new row among them."""

from __future__ import annotations

import numpy as np

from ..typing import Array


def weighted_thresholds(scores: Array, weight: Array, new: Array, alpha: float) -> Array:
    r"""Threshold of each new row: the weighted conformal quantile.

    The smallest score t with :math:`\sum_i w_i 1\{s_i \le t\} \ge (1 - \alpha)(\sum_i w_i + w(x))`:
    the new row has a place among the others, with its own weight and at infinity
    (Tibshirani, Barber, Candès & Ramdas, 2019, "Conformal prediction under covariate shift").

    Parameters
    ----------
    scores, weight : ndarray of shape (n,)
        Conformity scores of labelled rows, and what these count for.
    new : ndarray of shape (m,)
        Weights of new rows, on the same scale.
    alpha : float
        Share of labels that may be missed.

    Returns
    -------
    ndarray of shape (m,)
        Infinite where the row alone has more than ``alpha`` of all weight.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.shifted.quantile import weighted_thresholds
    >>> scores = np.arange(1.0, 10.0)
    >>> weighted_thresholds(scores, np.ones(9), np.array([1.0, 2.0]), 0.1)
    array([ 9., inf])
    """
    order = np.argsort(scores, kind="stable")
    running = np.cumsum(weight[order])
    needed = (1.0 - alpha) * (running[-1] + new)
    # Sums are off by rounding; a quantile that is met exactly is met.
    place = np.searchsorted(running * (1.0 + 1e-12), needed)
    return np.asarray(np.append(scores[order], np.inf)[place])
