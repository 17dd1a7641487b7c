"""Columns that say which others matter, and bends that turn with the radius."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.data.holdout import random_folds
from isthmus.information.conditional import ConditionalRatio
from isthmus.information.evaluation import evaluate
from isthmus.information.learners import Trees, foretold
from isthmus.information.nonlinear import NonlinearRatio, feature_sets
from isthmus.information.surfaces import Surface

SPLITS = random_folds(6000, 4, np.random.default_rng(0))[:1]


def held_out(ratio):
    return evaluate(ratio, SPLITS, np.random.default_rng(1), inside=False).score


def test_learners_see_which_column_is_followed():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6000, 3))
    y = np.where(x[:, 2] > 0, x[:, 0], x[:, 1]) + 0.3 * rng.normal(size=6000)
    plain = ConditionalRatio(x, y[:, None], rng)
    without = held_out(plain)
    learned = plain.with_learners(SPLITS[0].train)
    assert learned is not None and (0, False) in learned.learners
    # The truth is log(1 + 1 / 0.09) / 2 = 1.25. A mean of 1,500 log-ratios has an error of .03.
    found = held_out(learned)
    assert without + 0.15 < found < 1.35


def test_learners_have_no_say_where_nothing_is_left_over():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6000, 3))
    y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.5 * rng.normal(size=6000)
    ratio = ConditionalRatio(x, y[:, None], rng).fit(np.arange(5000))
    assert ratio.with_learners(np.arange(5000)) is None
    single = ConditionalRatio(x[:, :1], y[:, None], rng).fit(np.arange(5000))
    assert single.with_learners(np.arange(5000)) is None


def test_surfaces_learn_a_column_across_many_others():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(6000, 8))
    y = np.sin(2 * (x[:, 0] + x[:, 1] - x[:, 2])) + 0.3 * rng.normal(size=6000)
    plain = ConditionalRatio(x, y[:, None], rng)
    without = held_out(plain)
    learned = plain.with_learners(SPLITS[0].train)
    assert learned is not None and learned.learners[0, False].name == "surfaces"
    # Of 600,000 rows the truth is .850 nats. A mean of 1,500 log-ratios has an error of .02, and
    # splines of single columns see nothing of it.
    assert without < 0.05 and 0.7 < held_out(learned) < 0.91


@pytest.mark.parametrize("learner", [Trees(), Surface(np.eye(2), 0.1, 1e-6)])
def test_what_learners_say_of_a_row_does_not_know_it(learner):
    rng = np.random.default_rng(2)
    x, noise = rng.normal(size=(3000, 2)), rng.normal(size=3000)
    # The noise of the rows that are fitted to is followed ...
    known = learner.fit(x, noise)(x)
    assert np.corrcoef(known, noise)[0, 1] > 0.2
    # ... and that of others is not: the standard error of a correlation of nothing is .018.
    said = foretold(learner, x, noise, np.arange(3000))
    assert abs(np.corrcoef(said, noise)[0, 1]) < 0.08


def test_a_turn_that_grows_with_the_radius_is_undone_far_out_too():
    rng = np.random.default_rng(3)
    z = rng.normal(size=(6000, 3))
    y = 0.9 * z + np.sqrt(1 - 0.81) * rng.normal(size=z.shape)  # 2.49 nats
    angle = 1.5 * np.sqrt((z * z).sum(axis=1))
    x = z.copy()
    x[:, 0] = np.cos(angle) * z[:, 0] - np.sin(angle) * z[:, 1]
    x[:, 1] = np.sin(angle) * z[:, 0] + np.cos(angle) * z[:, 1]
    features = next(one for one in feature_sets(3, 3, 6000) if one.rings and not one.degree)
    ratio = NonlinearRatio(x, y, features, 3)
    # These rows give 2.41; six pieces that end at 1.5 standard scores give 2.18.
    assert held_out(ratio) > 2.3
