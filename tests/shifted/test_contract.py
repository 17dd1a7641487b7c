"""scikit-learn's own checks, with a target that is given where they give none."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from odds import Odds
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import ShiftedConformal, ShiftWeighted
from isthmus.shifted.doors import labelled


def enough(X, y, sample_weight, owner):
    """Rows, labels and weights; some checks give ten rows where weights need twenty."""
    given = labelled(X, y, sample_weight, owner=owner, one_column=False)
    n = len(given.labels)
    return given.take(np.arange(n * -(-20 // n)) % n) if n > 1 else given


class Weighted(ShiftWeighted):
    """The checks call fit without a target."""

    def fit(self, X, y, sample_weight=None):
        given = enough(X, y, sample_weight, self)
        return super().fit(given.rows, given.labels, given.rows, given.weight)


class Conformal(ShiftedConformal):
    def fit(self, X, y, sample_weight=None):
        given = enough(X, y, sample_weight, self)
        return super().fit(given.rows, given.labels, given.rows, given.weight)


EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "folds and halves split rows and not their copies, so that weights count and do not "
        "repeat rows"
    )
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        Weighted(Ridge(), ratio=Odds(), random_state=0),
        Conformal(LogisticRegression(), ratio=Odds(), random_state=0),
    ],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks feed in a few constant or separable rows.
        warnings.simplefilter("ignore")
        check(estimator)
