"""How sure the log-ratio is: posteriors of the critic's parameters, and the bootstrap.

>>> import numpy as np, isthmus
>>> from isthmus import uncertainty
>>> rng = np.random.default_rng(0)
>>> X, y = isthmus.stack(rng.normal(0, 1, 500), rng.normal(1, 1, 500))
>>> mdre = isthmus.MDRE(critic="quadratic", anchor="gaussian", l2=1.0, random_state=0).fit(X, y)
>>> mean, std = uncertainty.laplace(mdre, covariance="sandwich").log_ratio([0.5], return_std=True)
>>> bool(abs(mean[0]) < 4 * std[0])  # the truth is 0
True
"""

from __future__ import annotations

from .bootstrap import BootstrapPosterior, bootstrap
from .intervals import sampling_uncertainty
from .laplace import LaplacePosterior, ManyLaplace, laplace
from .nuts import NutsPosterior, nuts
from .posterior import Posterior

__all__ = [
    "BootstrapPosterior",
    "LaplacePosterior",
    "ManyLaplace",
    "NutsPosterior",
    "Posterior",
    "bootstrap",
    "laplace",
    "nuts",
    "sampling_uncertainty",
]
