"""Samples that count as large from few rows on, so that tests are quick."""

import numpy as np
import pytest

import isthmus
from isthmus.large import opening, sampling


@pytest.fixture
def small(monkeypatch):
    """More than 1,500 rows are many, of which 600 are kept."""
    monkeypatch.setattr(opening, "LARGE", 1500)
    for name, value in (("_NUMBERS", 600), ("_FEWEST", 600), ("_MOST", 600)):
        monkeypatch.setattr(sampling, name, value)


@pytest.fixture(scope="session")
def rows():
    """Two normals in three columns, 0.3 apart in the first."""
    rng = np.random.default_rng(0)
    turn = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.0, 0.0, 1.0]])
    p, q = (rng.normal(size=(n, 3)) @ turn + [shift, 0, 0] for n, shift in ((6000, 0.8), (5000, 0)))
    return p, q


@pytest.fixture
def normals():
    """A ratio of two normals, fitted by their moments alone."""
    return isthmus.MDRE(maps=None, anchor="gaussian", critic="quadratic", l2=np.inf, random_state=0)
