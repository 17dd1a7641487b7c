"""Pairs of distributions that know the truth about themselves.

Every problem of the paper's tables is here by name, with its samplers, exact
log-ratio, KL divergence and the numbers that the paper reports for it. Problems
called "hard/..." are ones that two fitted normals get wrong, and in "same/..." p
and q are equal.

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

# Each of these registers its problems when imported.
from . import hard_high, hard_low, one_dimensional, table2, table3, truths
from .base import Distribution
from .gaussian import Gaussian, correlation_for
from .mixture import Mixture
from .pair import DistributionPair
from .products import Margin, Point, Product
from .registry import load, names, register
from .student_t import StudentT
from .transformed import Rotated, Warped
from .truncated import TruncatedNormal
from .truths import Truth

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
    "hard_high",
    "hard_low",
    "load",
    "names",
    "one_dimensional",
    "register",
    "table2",
    "table3",
    "truths",
]
