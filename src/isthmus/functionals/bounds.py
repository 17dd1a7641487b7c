"""Lower bounds on the Kullback-Leibler divergence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from isthmus.functionals.arrays import add, check_rows, exp, log_mean_exp, mean, plain
from isthmus.typing import Array


def donsker_varadhan(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
) -> float | Array:
    r"""Donsker-Varadhan bound :math:`E_p[t] - \log E_q[e^t] \le KL(p\|q)`.

    It holds in expectation over p for every function t, and is tight at
    t = log p/q plus any constant. It is a lower bound **only if t comes from a
    model that did not see these rows**: a model that did can push it to any
    height. Even then the logarithm of a sample mean is on average too small, so on
    few q rows the bound itself is estimated too high; see `nwj`, which has no such bias.

    Parameters
    ----------
    log_r_p : array-like of shape (n_p,) or (..., n_p)
        Log-ratios at rows from p.
    log_r_q : array-like of shape (n_q,) or (..., n_q)
        Log-ratios at rows from q.
    weight_p, weight_q : array-like, optional
        Nonnegative weights of the rows, of any scale.

    Returns
    -------
    float or ndarray
        A float for 1-D input, otherwise one value for each leading index.

    References
    ----------
    Donsker and Varadhan (1983), Communications on Pure and Applied Mathematics 36.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import donsker_varadhan
    >>> p, q = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    >>> t = np.log(p / q)
    >>> print(round(donsker_varadhan(t, t, p, q), 6), round(float(p @ t), 6))
    0.130812 0.130812
    >>> print(round(donsker_varadhan(t + 3, t + 3, p, q), 6))  # constants do not matter
    0.130812
    """
    t_p, w_p = check_rows("log_r_p", log_r_p, "weight_p", weight_p)
    t_q, w_q = check_rows("log_r_q", log_r_q, "weight_q", weight_q)
    return plain(add(mean(t_p, w_p), -log_mean_exp(t_q, w_q)))


def nwj(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
) -> float | Array:
    r"""Nguyen-Wainwright-Jordan bound :math:`E_p[t] - E_q[e^t] + 1 \le KL(p\|q)`.

    Never above `donsker_varadhan` on the same rows, tight only at t = log p/q
    itself, and unbiased as an estimate of the bound. It is a lower bound **only if t comes
    from a model that did not see these rows**. One q row with a large
    log-ratio can take it to -inf; that is an honest value, not an error.

    Parameters
    ----------
    log_r_p : array-like of shape (n_p,) or (..., n_p)
        Log-ratios at rows from p.
    log_r_q : array-like of shape (n_q,) or (..., n_q)
        Log-ratios at rows from q.
    weight_p, weight_q : array-like, optional
        Nonnegative weights of the rows, of any scale.

    Returns
    -------
    float or ndarray
        A float for 1-D input, otherwise one value for each leading index.

    References
    ----------
    Nguyen, Wainwright and Jordan (2010), IEEE Transactions on Information Theory 56.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import nwj
    >>> p, q = np.array([0.75, 0.25]), np.array([0.5, 0.5])
    >>> t = np.log(p / q)
    >>> print(round(nwj(t, t, p, q), 6))
    0.130812
    >>> nwj([1.0], [1000.0])
    -inf
    """
    t_p, w_p = check_rows("log_r_p", log_r_p, "weight_p", weight_p)
    t_q, w_q = check_rows("log_r_q", log_r_q, "weight_q", weight_q)
    # Through the logarithm, since a large term may overflow where the mean does not.
    second = np.subtract(1.0, exp(log_mean_exp(t_q, w_q)))
    return plain(add(mean(t_p, w_p), second))
