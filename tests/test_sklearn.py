"""scikit-learn's own checks, with the exceptions listed and explained."""

from __future__ import annotations

import warnings

import pytest
from estimators import INSTANCES
from sklearn.utils.estimator_checks import estimator_checks_generator

from isthmus import MDRE, StackedMDRE
from isthmus.auxiliaries import LinearMixing
from isthmus.baselines import InfoNCE
from isthmus.estimator import RatioEstimator

# The only two checks that MDRE does not pass, for one reason.
COLUMNS = (
    "predict_proba has a column for p, q and every auxiliary, as the paper defines it, "
    "where scikit-learn expects one for each label in y"
)
EXPECTED = {"check_classifiers_train": COLUMNS, "check_decision_proba_consistency": COLUMNS}

# Rows of a mixing auxiliary are pairs of rows drawn by their place in the sample.
ORDER = "which rows are paired depends on their order, and the check shuffles them"

# A stack judges its candidates by rows that they have not seen.
FOLDS = "folds split rows and not their copies, so that weights count and do not repeat rows"

# InfoNCE is for a q that is the product of p's margins.
SHUFFLED = "q is not looked at: shuffled rows of p stand for it, and the check's q is another"


def expected(estimator: RatioEstimator) -> dict[str, str]:
    if isinstance(estimator, InfoNCE):
        return {"check_classifiers_train": SHUFFLED}
    if isinstance(estimator, StackedMDRE):
        return {"check_sample_weight_equivalence_on_dense_data": FOLDS}
    if not isinstance(estimator, MDRE):
        return {}
    if isinstance(estimator.auxiliaries, LinearMixing):
        return EXPECTED | {"check_sample_weight_equivalence_on_dense_data": ORDER}
    return EXPECTED


def cases():
    """Estimators and checks; the rows of one check in read-only memory only for one estimator.

    All estimators read rows by the same functions, so that this is enough.
    """
    for name, estimator in INSTANCES.items():
        known = expected(estimator)
        for case in estimator_checks_generator(
            estimator, expected_failed_checks=known, mark="xfail"
        ):
            values, marks = getattr(case, "values", case), getattr(case, "marks", ())
            check = values[1]
            repeated = check.keywords.get("readonly_memmap", False) and name != "paper"
            if not repeated:
                settings = [f"{key}={value}" for key, value in check.keywords.items()]
                label = "-".join([name, check.func.__name__, *settings])
                yield pytest.param(*values, marks=marks, id=label)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks feed in constant, collinear and separable data, of which MDRE warns.
        warnings.simplefilter("ignore")
        check(estimator)
