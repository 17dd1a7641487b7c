"""Pairs of distributions that know the truth about themselves.

Every problem of the paper's tables is here by name, with its samplers, exact
log-ratio, KL divergence and the numbers that the paper reports for it. Problems
called "hard/..." are ones that two fitted normals get wrong, in "same/..." p and q
are equal, and "wild/..." are of many kinds, real tables among them.

Examples
--------
>>> from isthmus import problems
>>> problem = problems.load("running-example")
>>> problem.sample_p(4, rng=0).shape
(4, 1)
>>> round(problem.kl, 3), problem.truth_by
(50.318, 'closed form')
"""

from __future__ import annotations

# The last three register their problems: the paper's come first, so that they are listed first.
from .base import Distribution
from .composed import Margin, Mixture, Point, Product
from .elliptical import Gaussian, StudentT, correlation_for
from .pair import DistributionPair
from .registry import load, names, register
from .transformed import Rotated, Warped
from .truncated import TruncatedNormal
from .truths import Truth

from . import truths, paper, hard, wild  # isort: skip

__all__ = [
    "Distribution",
    "DistributionPair",
    "Gaussian",
    "Margin",
    "Mixture",
    "Point",
    "Product",
    "Rotated",
    "StudentT",
    "TruncatedNormal",
    "Truth",
    "Warped",
    "correlation_for",
    "hard",
    "load",
    "names",
    "paper",
    "register",
    "truths",
    "wild",
]
