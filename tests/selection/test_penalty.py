"""The penalty of a fit without anchors is chosen by held-out rows, like that of the rivals."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE, stack
from isthmus.baselines import BDRE
from isthmus.data.holdout import LEAST_ROWS


def samples(d=6, n=600, shift=0.5):
    rng = np.random.default_rng(0)
    return rng.normal(0, 1, (n, d)), rng.normal(shift, 1, (n, d))


def fit(auxiliaries="linear", **others):
    settings = {"critic": "quadratic", "anchor": None, "maps": None, "random_state": 0, **others}
    return MDRE(auxiliaries, **settings).fit(*stack(*samples()))


def test_without_anchors_the_penalty_is_that_of_held_out_rows():
    model = fit()
    tried = model.selection_.trials
    chosen = [trial for trial in tried if trial.chosen]
    assert len(tried) > 3 and len(chosen) == 1
    assert chosen[0].score == max(trial.score for trial in tried)
    assert chosen[0].name == f"l2 = {model.l2_:.3g}"
    assert model.best_params_["l2"] == model.l2_ != 1.0
    # The choice can be set again, and gives the same.
    again = fit(**{k: v for k, v in model.best_params_.items() if k != "auxiliaries"})
    fresh = samples()[0][:50]
    np.testing.assert_array_equal(again.log_ratio(fresh), model.log_ratio(fresh))


def test_it_beats_a_penalty_of_one_on_fresh_rows_where_columns_are_many():
    rng = np.random.default_rng(1)
    X, y = stack(*(rng.normal(mean, 1, (400, 12)) for mean in (0.0, 0.3)))
    fresh = stack(*(rng.normal(mean, 1, (4000, 12)) for mean in (0.0, 0.3)))
    # 91 coefficients a class from 400 rows: unpenalised, noise costs about 91/400 nats a row.
    settings = {"critic": "quadratic", "anchor": None, "maps": None, "random_state": 0}
    chosen = MDRE("linear", **settings).fit(X, y)
    weak = MDRE("linear", l2=1.0, **settings).fit(X, y)
    assert chosen.l2_ > 10.0 and chosen.score(*fresh) > weak.score(*fresh) + 0.02


def test_without_auxiliaries_it_is_the_rival_s():
    X, y = stack(*samples())
    binary = BDRE(random_state=0).fit(X, y)
    # The same rows are held out, and the same grid is walked.
    assert fit(None).l2_ == pytest.approx(binary.l2_, rel=1e-12) and np.isfinite(binary.l2_)


@pytest.mark.parametrize("anchor", [None, "gaussian"])
def test_too_few_rows_to_hold_out_leave_a_rule_and_its_number(anchor):
    rng = np.random.default_rng(0)
    n = LEAST_ROWS - 1
    X, y = stack(rng.normal(0, 1, (n, 2)), rng.normal(1, 1, (n, 2)))
    model = MDRE("bridge", critic="quadratic", anchor=anchor, maps=None, random_state=0).fit(X, y)
    # One, or from an anchor a residual of about a nat: as many as there are coefficients.
    assert model.best_params_["l2"] == model.l2_ == (1.0 if anchor is None else 6.0)


def test_a_penalty_that_is_given_stays():
    assert fit(l2=3.0).best_params_["l2"] == 3.0
