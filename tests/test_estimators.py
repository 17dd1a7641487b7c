"""What holds for every estimator, beyond scikit-learn's own checks."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from estimators import INSTANCES
from sklearn.base import clone

from isthmus import stack

pytestmark = pytest.mark.filterwarnings("ignore")
every = pytest.mark.parametrize("name", INSTANCES)


def rows():
    rng = np.random.default_rng(0)
    return stack(rng.normal(0.0, 1.0, (60, 2)), rng.normal(1.0, 1.5, (50, 2)))


def fitted(name, seed=0):
    return clone(INSTANCES[name]).set_params(random_state=seed).fit(*rows())


@every
def test_the_same_seed_gives_the_same_bits_and_a_file_keeps_them(name):
    X, _ = rows()
    found = fitted(name).log_ratio(X)
    assert found.shape == (110,) and np.isfinite(found).all()
    np.testing.assert_array_equal(fitted(name).log_ratio(X), found)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted(name))).log_ratio(X), found)


@every
def test_parameters_are_those_of_the_constructor(name):
    model = INSTANCES[name]
    assert clone(model).get_params(deep=False).keys() == vars(model).keys()
    assert type(model).__name__ in repr(model)
    with pytest.raises(TypeError, match="unexpected keyword"):
        type(model)(nonsense=1)


@every
def test_a_fit_that_is_refused_loses_nothing(name):
    X, y = rows()
    model = fitted(name)
    found = model.log_ratio(X)
    with pytest.raises(ValueError, match="at least two rows of positive weight of each class"):
        model.fit(X[:61], y[:61])
    np.testing.assert_array_equal(model.log_ratio(X), found)


@every
def test_rows_are_evaluated_each_for_itself(name):
    X, _ = rows()
    model = fitted(name)
    together = model.log_ratio(X)
    # Matrix products of other shapes round differently.
    np.testing.assert_allclose(model.log_ratio(X[3:4]), together[3:4], rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.log_ratio(X[::-1])[::-1], together, rtol=1e-8, atol=1e-10)
