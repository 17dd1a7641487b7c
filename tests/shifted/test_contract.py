"""scikit-learn's own checks, with a target that is given where they give none."""

from __future__ import annotations

import warnings

import pytest
from odds import Odds
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from isthmus import ShiftedConformal, ShiftWeighted


class Weighted(ShiftWeighted):
    """The checks call fit without a target."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, target=X, sample_weight=sample_weight)


class Conformal(ShiftedConformal):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, target=X, sample_weight=sample_weight)


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
