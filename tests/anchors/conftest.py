"""One instance of every anchor, for the tests of what all of them promise."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from isthmus.anchors import BY_NAME, CopulaAnchor, GaussianAnchor, MixtureAnchor
from isthmus.anchors.truncated import TruncatedAnchor

ANCHORS = {
    **{name: kind() for name, kind in BY_NAME.items()},
    "diagonal": GaussianAnchor("diagonal"),
    "mixture of one shape": MixtureAnchor(3, "shared"),
    "mixture on a line": MixtureAnchor(2, "line"),
    "copula of the axes": CopulaAnchor("canonical"),
    "copula of sources": CopulaAnchor("independent"),
    "margins of families": CopulaAnchor("columns", "families"),
    "sources with exponential tails": CopulaAnchor("independent", "exponential"),
    "logistic margins": CopulaAnchor("columns", ["logistic"]),
}
# For one column only.
FLAT = {f"cut off {edges}": TruncatedAnchor(edges) for edges in ("below", "above", "both")}
# What users bring along.
FOREIGN = {"scikit-learn's mixture": GaussianMixture(2), "kernels": KernelDensity()}


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(params=ANCHORS)
def anchor(request):
    """Every anchor of ours that takes any number of columns."""
    return clone(ANCHORS[request.param])


@pytest.fixture(params=[*ANCHORS, *FLAT])
def line_anchor(request):
    """Every anchor of ours, for one column."""
    return clone({**ANCHORS, **FLAT}[request.param])


@pytest.fixture(params=[*ANCHORS, *FOREIGN])
def any_anchor(request):
    """Every anchor, and some of others."""
    return clone({**ANCHORS, **FOREIGN}[request.param])
