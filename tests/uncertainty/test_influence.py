"""What every row did to a fit, over rows in memory and over rows that are read again.

The formulas are written out once more for all rows at a time; every kind of blocks must agree.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from isthmus import MDRE
from isthmus.data.blocks import Block, StreamedBlocks
from isthmus.functionals import get_divergence
from isthmus.model.objective import Objective
from isthmus.uncertainty.delta import delta_std_error
from isthmus.uncertainty.fit import fit_of
from isthmus.uncertainty.influence import Influence, centred_terms

FITS = {
    "known": {"anchor": "gaussian", "l2": 3.0, "oversample": 4},
    "anchors alone": {"anchor": "gaussian", "l2": np.inf},
    "all learned": {"auxiliaries": "linear", "anchor": "gaussian", "l2": 2.0},
    "no anchors": {"anchor": None, "l2": 1.0, "critic": "diagonal"},
    "no auxiliary": {"auxiliaries": None, "anchor": None, "l2": 0.5},
}


def cut(blocks, rows, order):
    """Blocks of so many rows, with the classes in that order."""
    index = 0
    for label in order:
        sample = blocks.classes[label]
        for start in range(0, len(sample), rows):
            at = slice(start, start + rows)
            offset = blocks.offsets[label][at]
            yield Block(label, sample.rows[at], sample.weight[at], offset, index, start)
            index += 1


def streamed(rows, backwards):
    def of(blocks):
        order = range(len(blocks.classes))[:: -1 if backwards else 1]
        return StreamedBlocks(lambda: cut(blocks, rows, order), blocks.log_prior, blocks.learned)

    return of


BLOCKS = {
    "memory": lambda blocks: blocks,
    "memory in small blocks": lambda blocks: replace(blocks, block_rows=37),
    "streamed in small blocks": streamed(61, backwards=False),
    "streamed backwards": streamed(61, backwards=True),
}


class Dense:
    """The same numbers from a matrix with a row for every row of the data."""

    def __init__(self, fit, anchored):
        blocks, critic = fit.objective.blocks, fit.objective.critic
        learned = np.flatnonzero(blocks.learned)
        self.label = np.repeat(np.arange(len(blocks.classes)), [len(s) for s in blocks.classes])
        X = np.concatenate([sample.rows for sample in blocks.classes])
        weight = np.concatenate([sample.weight for sample in blocks.classes])
        mass = np.bincount(self.label, weight)
        self.share = weight / mass[self.label]
        phi = critic.features(X)
        part = phi[0].shape[1]
        eta = np.concatenate(blocks.offsets) + blocks.log_prior
        for place, c in enumerate(learned):
            eta[:, c] += phi[place] @ fit.theta[place * part : (place + 1) * part]
        P = softmax(eta, axis=1)
        self.phi, self.hessian = phi, fit.objective.l2 * np.eye(fit.objective.n_parameters)
        self.gradients = np.empty((len(X), fit.objective.n_parameters))
        for a, c in enumerate(learned):
            at = slice(a * part, (a + 1) * part)
            own = self.label == c
            pull = own * anchored * fit.objective.l2 / mass[c]
            self.gradients[:, at] = (own - P[:, c] + pull)[:, None] * phi[a]
            self.gradients[:, at.start] -= pull
            for b, d in enumerate(learned):
                curvature = weight * (P[:, c] * (c == d) - P[:, c] * P[:, d])
                self.hessian[at, b * part : (b + 1) * part] += (phi[a].T * curvature) @ phi[b]
        self.gradients *= weight[:, None]

    def centred(self, values):
        """Less what all rows of a class have in common."""
        total = np.array([values[self.label == c].sum(axis=0) for c in range(self.label[-1] + 1)])
        share = self.share if values.ndim == 1 else self.share[:, None]
        return values - share * total[self.label]


@pytest.fixture(params=FITS, scope="module")
def fit(request, plane):
    X, y = plane(150)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    settings = {"critic": "quadratic", "maps": None, "random_state": 0, **FITS[request.param]}
    return fit_of(MDRE(**settings).fit(X, y, sample_weight=weight), infinite=True)


@pytest.fixture(params=[True, False], ids=["anchored", "plain"])
def anchored(request):
    return request.param


@pytest.fixture(params=BLOCKS)
def influence(request, fit, anchored):
    objective = fit.objective
    blocks = BLOCKS[request.param](objective.blocks)
    return Influence(Objective(objective.critic, blocks, objective.l2).at(fit.theta), anchored)


@pytest.fixture
def dense(fit, anchored):
    return Dense(fit, anchored)


@pytest.fixture
def memory(fit, anchored):
    return Influence(fit.point, anchored)


@pytest.fixture
def direction(fit):
    return np.random.default_rng(2).normal(size=fit.objective.n_parameters)


@pytest.fixture
def summands(fit):
    """Deviations from their mean, for the rows of p and of q."""
    rng = np.random.default_rng(3)
    own = [rng.normal(size=len(sample)) for sample in fit.rows.samples]
    return [values - values.mean() for values in own]


class TestInfluence:
    def test_variance(self, influence, dense, direction):
        found = influence.variance(influence.along(direction))
        expected = (dense.centred(dense.gradients @ direction) ** 2).sum()
        assert found == pytest.approx(expected, rel=1e-9)

    def test_covariance(self, influence, dense):
        basis = np.random.default_rng(4).normal(size=(len(dense.hessian), 3))
        U = dense.centred(dense.gradients @ basis)
        np.testing.assert_allclose(influence.covariance(basis), U.T @ U, rtol=1e-9)

    def test_covariance_with_a_sum_over_rows(self, influence, dense, summands):
        basis = np.random.default_rng(4).normal(size=(len(dense.hessian), 3))
        own = np.zeros(len(dense.label))
        own[dense.label < 2] = np.concatenate(summands)
        expected = own @ dense.centred(dense.gradients @ basis)
        found = influence.covariance_with(basis, summands)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())

    def test_solve(self, influence, dense, direction):
        found = influence.solve(dense.hessian @ direction)
        # But for the directions that the data leave open, which the objective holds by l2.
        np.testing.assert_allclose(dense.hessian @ found, dense.hessian @ direction, rtol=1e-6)

    def test_std(self, influence, memory, dense, direction):
        slope = dense.hessian @ direction
        found = influence.std(slope)
        assert found == pytest.approx(memory.std(slope), rel=1e-9)
        # Solved to a part in a thousand.
        expected = np.linalg.norm(dense.centred(dense.gradients @ direction))
        assert found == pytest.approx(expected, rel=1e-2)

    def test_draws_are_the_same_again(self, influence, summands):
        one = list(influence.draws(2, np.random.default_rng(0), summands))
        theta, shift = next(iter(influence.draws(2, np.random.default_rng(0), summands)))
        np.testing.assert_array_equal(theta, one[0][0])
        assert shift == one[0][1]
        assert not np.array_equal(one[0][0], one[1][0])


class TestDelta:
    @pytest.mark.parametrize("spec", ["kl", "js", "renyi:0.5"])
    def test_standard_error(self, influence, memory, dense, fit, spec):
        p, q = fit.rows.samples
        ratios = [fit.model.log_ratio(sample.rows) for sample in (p, q)]
        linear = get_divergence(spec).linearise(*ratios, p.weight, q.weight)
        found = delta_std_error(linear, p.weight, q.weight, influence)
        assert found == pytest.approx(delta_std_error(linear, p.weight, q.weight, memory), rel=1e-9)
        shares = np.concatenate([p.share, q.share])
        terms = np.zeros(len(dense.label))
        terms[dense.label < 2] = shares * np.concatenate([linear.p, linear.q])
        slopes = shares * np.concatenate([linear.p_slope, linear.q_slope])
        gradient = np.zeros_like(dense.gradients[0]).reshape(len(dense.phi), -1)
        for place, sign in ((0, 1.0), (1, -1.0)):
            gradient[place] = sign * slopes @ dense.phi[place][dense.label < 2]
        direction = np.linalg.lstsq(dense.hessian, gradient.ravel(), rcond=1e-12)[0]
        expected = np.linalg.norm(dense.centred(terms + dense.gradients @ direction))
        assert found == pytest.approx(expected, rel=1e-6)

    def test_without_a_fit_it_is_that_of_the_means(self):
        rng = np.random.default_rng(0)
        p, q, weight = rng.normal(1, 1, 50), rng.normal(-1, 1, 60), rng.uniform(0.5, 2, 50)
        linear = get_divergence("kl").linearise(p, q, weight, np.ones(60))
        share = weight / weight.sum()
        expected = np.sqrt((share**2 * (p - share @ p) ** 2).sum())
        assert delta_std_error(linear, weight, np.ones(60), None) == pytest.approx(expected)
        terms = centred_terms(linear, weight, np.ones(60))
        assert abs(terms[0].sum()) < 1e-12 and not terms[1].any()
