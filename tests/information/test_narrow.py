"""Few columns that matter, bends that mix columns, densities of variates, wide intervals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from isthmus import mutual_information
from isthmus.data.holdout import random_folds
from isthmus.data.seeds import Seeds
from isthmus.information.choice import Trials, _mixture
from isthmus.information.conditional import ConditionalRatio
from isthmus.information.evaluation import evaluate
from isthmus.information.finishing import finished
from isthmus.information.marginal import Marginal
from isthmus.information.narrow import narrowed
from isthmus.information.neighbours import ksg_terms
from isthmus.information.nonlinear import FeatureSet, NonlinearRatio
from isthmus.information.numbers import _by_neighbours
from isthmus.information.result import Answer
from isthmus.information.telling import verdict
from isthmus.information.warped import WarpedRatio


def held_out(ratio, n):
    splits = random_folds(n, 4, np.random.default_rng(0))[:1]
    return evaluate(ratio, splits, np.random.default_rng(1), inside=False).score


def sides(x, y):
    rng = np.random.default_rng(0)
    return Marginal.of(x, rng), Marginal.of(y, rng)


def trials(x, y):
    seeds = Seeds(0)
    return Trials(*sides(x, y), random_folds(len(x), 5, seeds("folds")), seeds)


def test_what_is_said_of_a_column_undoes_the_bend_of_the_next(monkeypatch):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(4000, 2))
    rest = np.exp(-2.5)
    y = np.sqrt(1 - rest**2) * z + rest * rng.normal(size=z.shape)  # the truth is 5
    x = z.copy()
    x[:, 1] += 2 * np.sin(2 * x[:, 0])
    x[:, 0] += 1.5 * np.cos(1.5 * x[:, 1])
    ratio = ConditionalRatio(x, y, rng)
    with_it = held_out(ratio, len(x))
    monkeypatch.setattr(ConditionalRatio, "_bent", lambda *_: False)
    without = held_out(ConditionalRatio(x, y, rng), len(x))
    # A mean of 1,000 held-out log-ratios has a standard error of about 0.04.
    assert 4.6 < with_it < 5.2
    assert with_it > without + 0.3


def test_fits_to_fewer_rows_have_the_same_features():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1200, 3))
    y = np.column_stack([np.sin(2 * x[:, 0]) + x[:, 1] ** 2, x[:, 2]])
    ratio = ConditionalRatio(x, y + 0.2 * rng.normal(size=y.shape), rng)
    for count in (1200, 300):
        at = np.arange(count)
        assert np.isfinite(ratio.fit(at).log_ratio(at, at)).all()


def test_columns_with_longish_tails_are_also_taken_as_they_are():
    rng = np.random.default_rng(0)
    squares = rng.normal(size=(5000, 1)) ** 4
    assert trials(squares, rng.normal(size=(5000, 1))).plain
    squares[0] = 1e6  # an outlier
    x, _ = sides(squares, squares)
    assert np.array_equal(x.plain, x.raw)
    assert not trials(*rng.normal(size=(2, 500, 1))).plain


def test_columns_that_matter_are_found_if_they_are_few():
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(3000, 12)), rng.normal(size=(3000, 2))
    y = np.column_stack([x[:, 3] * x[:, 8] + 0.3 * e[:, 0], e[:, 1]])
    few = narrowed(*sides(x, y))
    assert (few[0].width, few[1].width) == (2, 1)
    assert narrowed(*sides(x, rng.normal(size=(3000, 2)))) is None
    assert narrowed(*sides(x, x + rng.normal(size=x.shape))) is None


def test_a_column_that_shows_nothing_by_itself_is_not_given_up():
    # Which of two columns y follows is said by the sign of a third.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1500, 8))
    y = np.where(x[:, 2] > 0, x[:, 0], x[:, 1])[:, None] + 0.4 * rng.normal(size=(1500, 1))
    seen = trials(x, y)
    assert seen.few is not None
    assert seen.few.x.width == 2
    assert any(ratio.x.shape[1] == 8 for ratio in _mixture(seen))


def test_a_wave_of_one_of_many_columns_is_measured():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1000, 10))
    y = np.sin(3 * x[:, [7]]) + 0.3 * rng.normal(size=(1000, 1))
    i = mutual_information(x, y, random_state=0)  # the truth is 0.862
    assert i.low <= 0.862 <= i.high
    assert i.trusted
    assert i.value == pytest.approx(0.862, abs=0.12)


def test_variates_that_are_not_jointly_normal_have_a_density_of_their_own():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 3))
    y = (np.sign(x.prod(axis=1)) * np.abs(rng.normal(size=3000)))[:, None]  # the truth is log(2)
    bent = NonlinearRatio(x, y, FeatureSet(0, 3, 3), 1)
    assert held_out(WarpedRatio(bent, 8, rng), 3000) > held_out(bent, 3000) + 0.1


def test_neighbours_look_at_straightened_columns_too():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1500, 2))
    x = np.column_stack([z[:, 0] + 3 * np.sin(3 * z[:, 1]), z[:, 1]])
    y = z[:, :1] + 0.1 * rng.normal(size=(1500, 1))
    seen = trials(x, y)
    assert _by_neighbours(seen).value > ksg_terms(*seen.scores).mean() + 0.2


def test_a_wide_interval_keeps_both_ends_and_its_value_is_not_trusted():
    wide, short = (finished(Answer(0.5, error, "a"), 60, 0.95) for error in (0.2, 0.02))
    assert np.isfinite(wide.high)
    assert not wide.trusted
    assert verdict(wide) == "not trusted: the interval is too wide to be of use"
    assert short.trusted


def test_independence_in_few_rows_reaches_to_what_they_do_not_refuse():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 70, 1)) / np.sqrt(rng.chisquare(2, size=(70, 1)) / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        i = mutual_information(x, y, random_state=0)  # the truth is 0.083
    assert i.method == "independent"
    assert i.low <= 0.083 <= i.high < 1.0
