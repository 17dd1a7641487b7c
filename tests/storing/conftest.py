"""Models to save: one of every kind, fitted to few rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from estimators import INSTANCES
from sklearn.base import clone

from isthmus import stack

NEURAL = {
    "network",
    "nnbd",
    "fdre",
    "dre-infinity-neural",
    "ctsm",
    "flow-matching",
    "info-nce",
}


@pytest.fixture(scope="session")
def rows():
    """Rows of two samples with their labels."""
    rng = np.random.default_rng(0)
    return stack(rng.normal(0.0, 1.0, (120, 2)), rng.normal(0.7, 1.2, (120, 2)))


@pytest.fixture(scope="session", params=INSTANCES)
def fitted(request, rows):
    """Every estimator, fitted."""
    if request.param in NEURAL:
        pytest.importorskip("torch")
        pytest.importorskip("safetensors")
    if request.param == "fdre":
        pytest.importorskip("zuko")
    if request.param == "bdre-classifier":
        pytest.importorskip("skops")
    estimator = clone(INSTANCES[request.param])
    estimator.set_params(random_state=0)
    with warnings.catch_warnings():
        # Few rows and few steps: what is fitted need not be good.
        warnings.simplefilter("ignore")
        return estimator.fit(*rows)
