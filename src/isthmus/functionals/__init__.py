"""Numbers made of log-ratios: divergences, bounds, weights, and the form of an answer.

Everything here takes arrays of log-ratios ``t = log p(x)/q(x)`` whose last axis
runs over rows. A point estimate has shape (n,), posterior draws (S, n); both go
through the same code. Nothing here knows which estimator the log-ratios came from.
"""

from __future__ import annotations

from .bounds import donsker_varadhan, kl_lower_bound, nwj
from .divergences import Divergence, get_divergence
from .estimate import Estimate
from .thresholds import Bound, column_bound, lower_end, threshold_bound
from .weights import effective_sample_size, importance_weights

__all__ = [
    "Bound",
    "Divergence",
    "Estimate",
    "column_bound",
    "donsker_varadhan",
    "effective_sample_size",
    "get_divergence",
    "importance_weights",
    "kl_lower_bound",
    "lower_end",
    "nwj",
    "threshold_bound",
]
