"""scikit-learn's own checks, with the exceptions listed and explained."""

from __future__ import annotations

import warnings

import pytest
from estimators import INSTANCES
from sklearn.utils.estimator_checks import estimator_checks_generator

from isthmus import MDRE, StackedMDRE
from isthmus.baselines import InfoNCE
from isthmus.estimator import RatioEstimator

# The only two checks that MDRE does not pass, for one reason.
COLUMNS = (
    "predict_proba has a column for p, q and every auxiliary, as the paper defines it, "
    "where scikit-learn expects one for each label in y"
)
EXPECTED = {"check_classifiers_train": COLUMNS, "check_decision_proba_consistency": COLUMNS}

# A stack judges its candidates by rows that they have not seen.
FOLDS = "folds split rows and not their copies, so that weights count and do not repeat rows"

# InfoNCE is for a q that is the product of p's margins.
SHUFFLED = "q is not looked at: shuffled rows of p stand for it, and the check's q is another"


# Other settings of classes that are checked anyway; what they do to rows is tested elsewhere.
LIKE_OTHERS = {"diagonal", "mixing", "bdre-classifier", "tre-dimension-wise"}

# Checks of rows that lie so far apart that everything there is to choose is tried in vain.
LONG = {"check_positive_only_tag_during_fit", "check_non_transformer_estimators_n_iter"}


def expected(estimator: RatioEstimator) -> dict[str, str]:
    if isinstance(estimator, InfoNCE):
        return {"check_classifiers_train": SHUFFLED}
    if isinstance(estimator, StackedMDRE):
        return {"check_sample_weight_equivalence_on_dense_data": FOLDS}
    return EXPECTED if isinstance(estimator, MDRE) else {}


def left_out(name, check):
    """What one estimator of several with the same code is enough for.

    All estimators read rows by the same functions, and all ``MDRE`` have the same loop and tags:
    "paper" has the checks that take long and those of rows in read-only memory.
    """
    if check.keywords.get("readonly_memmap", False):
        return name != "paper"
    return name == "default" and check.func.__name__ in LONG


def cases():
    """Estimators and checks, without those that repeat others."""
    for name, estimator in INSTANCES.items():
        if name in LIKE_OTHERS:
            continue
        known = expected(estimator)
        for case in estimator_checks_generator(
            estimator, expected_failed_checks=known, mark="xfail"
        ):
            values, marks = getattr(case, "values", case), getattr(case, "marks", ())
            check = values[1]
            if not left_out(name, check):
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
