"""The log-ratio of any two classes of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimator import ClassEstimator
from ..typing import Array


def log_ratio_between(estimator: Any, x: Any, numerator: str, denominator: str) -> Array:
    """Log-ratio of two classes at rows; of p and q where an estimator has no others."""
    if (numerator, denominator) == ("p", "q"):
        return np.asarray(estimator.log_ratio(x))
    if not isinstance(estimator, ClassEstimator):
        raise ValueError(
            f"numerator and denominator must be 'p' and 'q' with a {type(estimator).__name__}, "
            f"which has no other classes; received {numerator!r} and {denominator!r}. "
            "compare(p, q, critic='quadratic') fits an MDRE, which has."
        )
    return np.asarray(estimator.log_ratio(x, numerator, denominator))
