"""Balance: rows of q, weighted, have the means of p."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE, compare
from isthmus.data.sample import Sample
from isthmus.diagnostics import check_balance, check_effective_size, check_pareto

SHIFT = 0.5


def normals(seed, n=1500, d=3):
    rng = np.random.default_rng(seed)
    return rng.normal(SHIFT, 1, (n, d)), rng.normal(0, 1, (n, d))


def log_ratio(x, slope=1.0):
    return slope * (SHIFT * x - 0.5 * SHIFT**2).sum(axis=1)


def judged(p, q, slope=1.0, **how):
    return check_balance(
        Sample.of(p), Sample.of(q), log_ratio(p, slope), log_ratio(q, slope), **how
    )


@pytest.mark.parametrize("seed", range(10))
class TestVerdicts:
    def test_a_right_ratio_passes(self, seed):
        # One in a hundred fails, by the level of the check, if the means are about normal.
        check = judged(*normals(seed))
        assert check.verdict == "ok" and check.concerns == "weights"

    @pytest.mark.parametrize("slope", [-1.0, 0.0, 2.0])
    def test_a_wrong_one_fails(self, seed, slope):
        assert judged(*normals(seed), slope=slope).verdict == "fail"

    def test_weights_that_move_means_away_fail_where_other_checks_pass(self, seed):
        p, q = normals(seed, n=5000)
        t_p, t_q = log_ratio(p, -0.2), log_ratio(q, -0.2)
        assert check_effective_size(t_q).verdict == check_pareto(t_q).verdict == "ok"
        check = check_balance(Sample.of(p), Sample.of(q), t_p, t_q)
        assert check.verdict == "fail" and "without weights" in check.advice

    def test_heavy_weights_of_a_right_ratio_are_no_failure(self, seed):
        rng = np.random.default_rng(seed)
        # Few rows of q carry the weight: a standard error of theirs would be far too small.
        p, q = rng.normal(2, 1, (2000, 1)), rng.normal(0, 1, (2000, 1))
        check = check_balance(Sample.of(p), Sample.of(q), 2 * p[:, 0] - 2, 2 * q[:, 0] - 2)
        assert check is None or check.verdict != "fail"


class TestDetails:
    def test_columns_are_named(self):
        p, q = normals(0)
        p[:, 1] += 1.0
        check = judged(p, q, names=["a", "b", "c"])
        assert check.details["columns"] == [1] and check.details["names"] == ["b"]
        assert "b by " in check.advice and "a by " not in check.advice
        assert judged(p, q).details["names"] == ["x1"]

    def test_units_do_not_matter_and_constant_columns_are_no_trouble(self):
        p, q = normals(0)
        before = judged(p, q)
        again = check_balance(
            Sample.of(np.c_[1000 * p - 7, np.ones(1500)]),
            Sample.of(np.c_[1000 * q - 7, np.ones(1500)]),
            log_ratio(p),
            log_ratio(q),
        )
        assert again.value == pytest.approx(before.value, rel=1e-6)
        assert again.details["gaps"][:3] == pytest.approx(before.details["gaps"], rel=1e-6)

    def test_missing_values_are_left_out(self):
        p, q = normals(0)
        t_p, t_q = log_ratio(p), log_ratio(q)
        rng = np.random.default_rng(1)
        p[rng.random(p.shape) < 0.2], q[rng.random(q.shape) < 0.2] = np.nan, np.nan
        check = check_balance(Sample.of(p), Sample.of(q), t_p, t_q)
        assert check.verdict == "ok" and np.isfinite(check.value)

    def test_few_effective_rows_are_not_judged(self):
        p, q = normals(0)
        assert judged(p, q, slope=8.0) is None

    def test_in_a_comparison(self):
        class Wrong(MDRE):
            def evaluate(self, rows):
                return -0.3 * super().evaluate(rows)

        p, q = normals(0, n=1000, d=2)
        frames = [{"age": x[:, 0], "size": x[:, 1]} for x in (p, q)]
        given = {"critic": "quadratic", "anchor": "gaussian", "maps": None, "l2": np.inf}
        right = compare(*frames, estimator=MDRE(**given), folds=2, random_state=0)
        assert right.diagnostics["balance"].verdict == "ok"
        wrong = compare(*frames, estimator=Wrong(**given), folds=2, random_state=0)
        assert wrong.diagnostics["balance"].verdict == "fail"
        assert set(wrong.diagnostics["balance"].details["names"]) == {"age", "size"}
