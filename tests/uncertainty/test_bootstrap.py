"""Fits to rows drawn again."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE
from isthmus.uncertainty import bootstrap, laplace


class TestBootstrap:
    @pytest.mark.parametrize(
        "how",
        [
            {"anchor": "gaussian", "l2": 3.0},
            {"anchor": "gaussian", "l2": np.inf},
            {"anchor": None, "l2": 1.0},
            {"anchor": "gaussian", "l2": 3.0, "auxiliaries": "linear"},
        ],
    )
    def test_agrees_with_the_sandwich(self, how, running_example):
        model = MDRE(critic="quadratic", maps=None, oversample=2, random_state=0, **how)
        model.fit(*running_example(500))
        x = np.array([-1.0, 0.0, 1.0])
        expected = laplace(model, covariance="sandwich").log_ratio(x, return_std=True)[1]
        found = bootstrap(model, replicates=200, random_state=0).log_ratio(x, return_std=True)
        # A standard deviation of 200 fits errs by 5 %: four of these, and ten per cent for what
        # is not linear. Mixtures of rows are drawn apart from the rows, in both.
        np.testing.assert_allclose(found[1], expected, rtol=0.3)
        # Fits to rows that repeat are farther out, by less than the error itself.
        assert (np.abs(found[0] - model.log_ratio(x)) < expected).all()

    @pytest.mark.parametrize("anchor", ["student-t", "mixture", ("gaussian", "student-t")])
    def test_any_anchor_is_fitted_again(self, anchor, plane):
        model = MDRE(critic="quadratic", anchor=anchor, l2=np.inf, random_state=0).fit(*plane())
        fits = bootstrap(model, replicates=2, random_state=0)
        std = fits.log_ratio(plane()[0][:20], return_std=True)[1]
        # The critics stay at their anchors: all of this is theirs.
        assert (std > 0).all() and np.isfinite(std).all()

    def test_a_fit_is_that_of_the_rows_drawn(self, plane):
        X, y = plane(150)
        settings = {"critic": "quadratic", "anchor": "gaussian", "l2": 3.0, "maps": None}
        model = MDRE(None, **settings, random_state=0, tol=1e-9).fit(X, y)
        fits = bootstrap(model, replicates=2, random_state=0)
        counts = np.concatenate(fits.counts(1))
        again = MDRE(None, **settings, random_state=0, tol=1e-9).fit(X, y, sample_weight=counts)
        # Coordinates and frames stay as they were, which moves the penalty a little.
        found = fits.log_ratio_draws(X[:20])[1]
        spread = laplace(model, covariance="sandwich").log_ratio(X[:20], return_std=True)[1]
        assert (np.abs(found - again.log_ratio(X[:20])) < 0.2 * spread).all()
        assert counts.sum() == 300 and (counts == 0).any()

    def test_draws_can_be_repeated(self, known):
        one, two, other = (bootstrap(known, replicates=3, random_state=s) for s in (0, 0, 1))
        np.testing.assert_array_equal(one.draws, two.draws)
        assert not np.array_equal(one.draws, other.draws)
        np.testing.assert_array_equal(one.some(slice(1, 2)).counts(0)[0], one.counts(1)[0])

    def test_weights_of_rows_stay(self, plane):
        # Rows of tiny weight do not count, however often they are drawn.
        X, y = plane(150)
        far = np.full((50, 2), 30.0) + np.random.default_rng(0).normal(size=(50, 2))
        weight = np.concatenate([np.ones(len(X)), np.full(50, 1e-9)])
        settings = {"critic": "quadratic", "anchor": "gaussian", "l2": 3.0, "maps": None}
        model = MDRE(None, **settings, random_state=0)
        model.fit(np.concatenate([X, far]), np.concatenate([y, np.ones(50)]), sample_weight=weight)
        std = bootstrap(model, replicates=40, random_state=0).log_ratio(X[:5], return_std=True)[1]
        without = laplace(MDRE(None, **settings).fit(X, y), covariance="sandwich")
        # Four standard errors of a standard deviation of 40 values.
        expected = without.log_ratio(X[:5], return_std=True)[1]
        np.testing.assert_allclose(std, expected, rtol=4 / np.sqrt(80))

    def test_bad_parameters(self, known):
        with pytest.raises(ValueError, match="replicates must be"):
            bootstrap(known, replicates=1)
