"""The log-ratio in few products of matrices is that of the densities, whatever the anchors are."""

from __future__ import annotations

import numpy as np
import pytest

import isthmus
from isthmus.anchors import GaussianAnchor
from isthmus.anchors.truncated import TruncatedAnchor
from isthmus.auxiliaries import Cauchy
from isthmus.model.folded import Folded


class Box:
    """An anchor of a user's own: a uniform density, with a normal to place auxiliaries on."""

    def fit(self, X):
        self.low_, self.high_ = X.min(axis=0), X.max(axis=0)
        self.components_ = GaussianAnchor().fit(X).components_
        return self

    def score_samples(self, X):
        inside = ((X >= self.low_) & (X <= self.high_)).all(axis=1)
        return np.where(inside, -np.log(self.high_ - self.low_).sum(), -50.0)


@pytest.mark.parametrize("own", [TruncatedAnchor(), TruncatedAnchor("above"), Box()])
def test_an_anchor_with_components_keeps_its_own_density(own):
    rng = np.random.default_rng(0)
    p, q = rng.uniform(-1, 1, (400, 1)), rng.uniform(-0.5, 1.5, (400, 1))
    settings = {"anchor": own, "maps": None, "critic": "quadratic", "l2": np.inf}
    mdre = isthmus.MDRE(Cauchy(), **settings, random_state=0).fit(*isthmus.stack(p, q))
    offsets = mdre.model_.offsets
    assert Folded.of(mdre.model_, 0, 1) is None
    # Coordinates change both densities by the same factor.
    Z = offsets.where.affine(p)
    expected = offsets.anchors[0].score_samples(Z) - offsets.anchors[1].score_samples(Z)
    np.testing.assert_allclose(mdre.log_ratio(p), expected, rtol=1e-9, atol=1e-9)


def test_a_normal_that_is_cut_off_is_followed_across_a_chasm():
    # Fitted normals say 75 nats here, since a cut narrows the spread of q from 0.2 to 0.16; the
    # standard error of the fit to 20,000 rows of q is about 1.5 %.
    problem = isthmus.problems.load("table3/row1")
    rng = np.random.default_rng(1)
    c = isthmus.compare(
        problem.sample_p(20_000, rng), problem.sample_q(20_000, rng), random_state=0
    )
    assert abs(c.kl - problem.kl) < 4 * 0.015 * problem.kl
