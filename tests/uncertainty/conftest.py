"""Samples and fits that the tests of uncertainties share."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE, compare, problems, stack
from isthmus.auxiliaries import Cauchy


def _running_example(n, seed=0):
    problem = problems.load("running-example")
    return stack(problem.sample_p(n, seed), problem.sample_q(n, seed + 1000))


def _paper_fit(n=300, seed=0, **how):
    settings = {"critic": "quadratic", "anchor": None, "maps": None, "l2": 1.0, **how}
    model = MDRE(Cauchy(0.0, 1.0), known_density=False, random_state=seed, **settings)
    return model.fit(*_running_example(n, seed))


def _plane(n=200, seed=0):
    rng = np.random.default_rng(seed)
    q = rng.normal(0.7, 1.0, (n, 2)) @ np.array([[1.0, 0.4], [0.0, 0.8]])
    return stack(rng.normal(0.0, 1.0, (n, 2)), q)


@pytest.fixture(scope="session")
def running_example():
    """X and y of the paper's running example, as a function of rows and seed."""
    return _running_example


@pytest.fixture(scope="session")
def paper_fit():
    """All three classes learned, as in the paper, with a standard normal prior."""
    return _paper_fit


@pytest.fixture(scope="session")
def plane():
    """X and y of two normals in a plane, as a function of rows and seed."""
    return _plane


@pytest.fixture(scope="session")
def grid():
    return np.linspace(-1.5, 1.5, 7)


@pytest.fixture(scope="session")
def paper():
    return _paper_fit()


@pytest.fixture(scope="session")
def known():
    """A class of known density, drawn more often than p and q; anchors and a penalty."""
    model = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=4, random_state=0)
    return model.fit(*_plane())


MODELS = {
    "paper": dict(auxiliaries=Cauchy(0.0, 1.0), known_density=False, anchor=None, l2=1.0),
    "known": dict(anchor=None, l2=1.0, prior="counts"),
    "anchored": dict(anchor="gaussian", l2=3.0, prior="counts"),
    "none": dict(auxiliaries=None, anchor=None, l2=0.5),
}


@pytest.fixture(params=MODELS, scope="session")
def model(request):
    settings = {"critic": "quadratic", "maps": None, "random_state": 0, **MODELS[request.param]}
    return MDRE(**settings).fit(*_running_example(300))


@pytest.fixture(scope="session")
def comparison():
    rng = np.random.default_rng(0)
    estimator = MDRE(critic="quadratic", anchor="gaussian", l2=3.0, oversample=5)
    p, q = rng.normal(0, 1, 400), rng.normal(1, 1, 400)
    return compare(p, q, estimator=estimator, random_state=0, folds=3)
