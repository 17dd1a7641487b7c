"""Mass: the mean of p/q over rows of q is one; far above one it is wrong, few rows or many."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import MDRE, compare
from isthmus.diagnostics import check_normalisation

NORMAL = MDRE(auxiliaries="bridge", critic="quadratic", anchor="gaussian", maps=None, l2=np.inf)


def verdict(log_terms):
    return check_normalisation(np.asarray(log_terms), None, "E_q[p/q]", "the rows of q").verdict


class TestMarkov:
    def test_one_row_that_carries_the_mean_is_evidence(self):
        rows = np.full(1000, -3.0)
        for mean, expected in ((1.0, "ok"), (30.0, "warn"), (850.0, "fail")):
            rows[0] = np.log(1000 * mean)
            assert verdict(rows) == expected

    @pytest.mark.parametrize("spread", [0.5, 2.0, 4.0])
    def test_a_right_ratio_fails_seldom_however_heavy_its_tail(self, spread):
        # Over p log p/q is N(s²/2, s²) and over q N(-s²/2, s²). Markov allows one in a hundred.
        failed = 0
        for seed in range(200):
            rows = np.random.default_rng(seed).normal(-0.5 * spread**2, spread, 500)
            failed += check_normalisation(rows, None, "E", "rows").value >= 100.0
        assert failed <= 2 + 3 * np.sqrt(2)


@pytest.mark.parametrize("seed", range(2))
class TestAcrossAChasm:
    def test_a_rare_component_of_q_fails(self, seed):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(0, 1, (1000, 4)), rng.normal(4, 1, (1000, 4))
        q[:15] = rng.normal(0, 1, (15, 4))  # Where p is; two normals do not see it.
        c = compare(p, q, estimator=NORMAL, folds=3, random_state=0)
        check = c.diagnostics["normalisation_q"]
        assert check.verdict == "fail" and check.value > 100 and "the rows of q" in check.advice
        assert not c.trusted

    def test_and_of_p(self, seed):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(4, 1, (1000, 4)), rng.normal(0, 1, (1000, 4))
        p[:15] = rng.normal(0, 1, (15, 4))
        c = compare(p, q, estimator=NORMAL, folds=3, random_state=0)
        assert c.diagnostics["normalisation_p"].verdict == "fail"

    def test_two_normals_pass(self, seed):
        rng = np.random.default_rng(seed)
        p, q = rng.normal(0, 1, (1000, 4)), rng.normal(4, 1, (1000, 4))
        c = compare(p, q, estimator=NORMAL, folds=3, random_state=0)
        for side in "pq":
            assert c.diagnostics[f"normalisation_{side}"].verdict == "ok"
