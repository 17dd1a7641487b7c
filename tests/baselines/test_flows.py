"""F-DRE: flows, their features, and the classifiers on top of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
import zuko
from sklearn.linear_model import LogisticRegression

from isthmus import stack
from isthmus.baselines import BDRE, FDRE
from isthmus.baselines.fdre import calm

TINY = {"transforms": 2, "width": 16, "depth": 1, "steps": 60, "batch_size": 64}


def shifted(n=2000, seed=0, d=2):
    """N(0, I) and N(1, I): the log-ratio is d / 2 - sum(x)."""
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, (n, d)), rng.normal(1, 1, (n, d))


def rms_error(model, p):
    return np.sqrt(np.mean((model.log_ratio(p) - (p.shape[1] / 2 - p.sum(axis=1))) ** 2))


def affine(columns):
    """A flow that shifts and scales columns, and nothing else."""
    base = zuko.flows.MAF(columns, transforms=1).base
    return zuko.flows.Flow([zuko.flows.ElementWiseTransform(columns)], base)


class TestRatio:
    # The log-ratio has a standard deviation of sqrt(2). A logistic regression with six
    # coefficients errs by about sqrt(6 / 4000 / .2) = .09; flows of 150 steps add as much
    # again, and a network twice that.
    @pytest.mark.parametrize("flow", ["maf", "nsf", "realnvp"])
    def test_is_found_with_every_flow(self, flow):
        p, q = shifted()
        model = FDRE(flow, **{**TINY, "steps": 150}, random_state=0).fit(*stack(p, q))
        assert rms_error(model, p) < 0.35
        assert isinstance(model.classifier_, BDRE)

    @pytest.mark.parametrize("training", ["separate", "joint"])
    @pytest.mark.parametrize("critic", ["quadratic", "mlp"])
    def test_is_found_in_both_ways_of_training(self, training, critic):
        p, q = shifted()
        settings = {**TINY, "steps": 300, "lr": 3e-3}
        model = FDRE(critic=critic, training=training, **settings, random_state=0)
        model.fit(*stack(p, q))
        assert rms_error(model, p) < 0.45
        assert len(model.training_) == (2 if (training, critic) == ("separate", "mlp") else 1)

    def test_one_column(self):
        p, q = shifted(d=1)
        model = FDRE("nsf", **TINY, random_state=0).fit(*stack(p, q))
        assert rms_error(model, p) < 0.35

    def test_with_a_classifier_of_scikit_learn(self):
        p, q = shifted()
        model = FDRE(critic=LogisticRegression(), **TINY, random_state=0).fit(*stack(p, q))
        assert rms_error(model, p) < 0.35

    def test_an_affine_flow_changes_nothing(self):
        # BDRE is the same in any coordinates that an affine map reaches: the flow cancels.
        p, q = shifted(500)
        X, y = stack(p, q)
        model = FDRE(affine, l2=1.0, steps=50, random_state=0).fit(X, y)
        np.testing.assert_allclose(
            model.log_ratio(X), BDRE(l2=1.0).fit(X, y).log_ratio(X), atol=1e-4
        )


class TestFlow:
    def test_features_are_a_bijection(self):
        p, q = shifted(500)
        model = FDRE(**TINY, random_state=0).fit(*stack(p, q))
        Z = torch.from_numpy(model.features(p))
        with torch.no_grad():
            back = model.flow_().transform.inv(Z).numpy()
        np.testing.assert_allclose(back, model.standard_(calm(model.map_(p))), atol=1e-8)

    def test_the_flow_fits_the_mixture(self):
        rng = np.random.default_rng(0)
        p, q = rng.normal(-3, 0.5, (4000, 1)), rng.normal(3, 0.5, (4000, 1))
        model = FDRE("nsf", **{**TINY, "steps": 400, "lr": 1e-2}, random_state=0)
        model.fit(*stack(p, q))
        units = np.log(model.map_.forward[0, 0] / model.standard_.scale[0])
        entropy = np.log(2) + 0.5 * np.log(2 * np.pi * np.e * 0.25)
        # One normal would need 1.1 nats more. 1200 rows are held out, with a spread of .7, and
        # 400 steps leave something to be learned.
        assert -4 * 0.7 / np.sqrt(1200) < model.training_[0].held_out - units - entropy < 0.3

    def test_alpha_is_the_share_of_the_classifier(self):
        p, q = shifted(500)
        X, y = stack(p, q)
        settings = {"critic": "mlp", "training": "joint", **TINY, "validation": 0.0, "lr": 1e-2}
        # Nothing reaches a classifier without a share, and it starts at zero.
        nothing = FDRE(alpha=0.0, **settings, random_state=0).fit(X, y)
        np.testing.assert_array_equal(nothing.log_ratio(X), 0.0)
        everything = FDRE(alpha=1.0, **settings, random_state=0).fit(X, y)
        assert everything.score(X, y) > -np.log(2) + 0.1

        def likelihood(model):
            with torch.no_grad():
                rows = torch.from_numpy(model.standard_(calm(model.map_(X))))
                return float(model.flow_().log_prob(rows).mean())

        assert likelihood(nothing) > likelihood(everything) + 0.1

    def test_far_values_are_drawn_in_by_a_bijection(self):
        y = np.concatenate([np.linspace(-20, 20, 401), [1e8, 1e300]])
        z = calm(y)
        assert (np.diff(z[:401]) > 0).all() and z[-1] > z[-2] > z[400]
        np.testing.assert_array_equal(z[np.abs(y) <= 6], y[np.abs(y) <= 6])
        # It has no kink where it begins.
        step = 1e-6
        np.testing.assert_allclose((calm(6 + step) - calm(6.0)) / step, 1.0, atol=1e-5)


class TestContract:
    def test_same_seed_same_answer(self):
        X, y = stack(*shifted(300))
        before = torch.random.get_rng_state()
        a, b, c = (FDRE(**TINY, random_state=s).fit(X, y).log_ratio(X) for s in (0, 0, 1))
        np.testing.assert_array_equal(a, b)
        assert np.abs(a - c).max() > 1e-6
        assert torch.equal(before, torch.random.get_rng_state())

    @pytest.mark.parametrize("critic", ["quadratic", "mlp"])
    def test_a_weight_of_two_is_the_row_given_twice(self, critic):
        X, y = stack(*shifted(200))
        weight = np.random.default_rng(1).integers(0, 4, len(X))
        order = np.random.default_rng(2).permutation(weight.sum())
        again = np.repeat(np.arange(len(X)), weight)[order]
        model = FDRE(critic=critic, l2=1.0, **TINY, random_state=0)
        weighted = model.fit(X, y, sample_weight=weight).log_ratio(X)
        repeated = model.fit(X[again], y[again]).log_ratio(X)
        # Moments are added up in another order; 60 steps in single precision carry it on.
        np.testing.assert_allclose(weighted, repeated, atol=1e-3)

    @pytest.mark.parametrize("scale", [1e-8, 1e8])
    def test_units_do_not_matter(self, scale):
        p, q = shifted(300)
        one = FDRE(l2=1.0, **TINY, random_state=0).fit(*stack(p, q)).log_ratio(p)
        other = FDRE(l2=1.0, **TINY, random_state=0).fit(*stack(p * scale, q * scale))
        np.testing.assert_allclose(one, other.log_ratio(p * scale), atol=1e-3)

    def test_constant_and_repeated_columns(self):
        p, q = shifted(100)
        wide_p, wide_q = (np.column_stack([x, np.ones(100), x[:, 0]]) for x in (p, q))
        with pytest.warns(UserWarning, match="constant|linearly dependent"):
            model = FDRE(**TINY, random_state=0).fit(*stack(wide_p, wide_q))
        assert np.isfinite(model.log_ratio(wide_p)).all()

    @pytest.mark.parametrize("critic", ["quadratic", "mlp"])
    def test_heavy_tails_and_far_rows_are_finite(self, critic):
        rng = np.random.default_rng(0)
        X, y = stack(rng.standard_cauchy((300, 2)), rng.standard_cauchy((300, 2)) + 1)
        model = FDRE(critic=critic, **TINY, random_state=0).fit(X, y)
        far = np.array([[1e9, -1e9], [1e100, 1.0]])
        assert np.isfinite(model.log_ratio(np.vstack([X, far]))).all()

    def test_equal_samples_have_a_ratio_near_one(self):
        p, _ = shifted(500)
        # Every row is in both samples: no function tells them apart.
        found = FDRE(**TINY, random_state=0).fit(*stack(p, p)).log_ratio(p)
        assert np.abs(found).max() < 0.05

    @pytest.mark.parametrize("training", ["separate", "joint"])
    @pytest.mark.parametrize("critic", ["quadratic", "mlp"])
    def test_can_be_pickled(self, training, critic):
        X, y = stack(*shifted(100))
        settings = {**TINY, "steps": 5}
        model = FDRE(critic=critic, training=training, **settings, random_state=0).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.log_ratio(X), model.log_ratio(X))

    def test_progress_is_printed_on_request(self, capsys):
        X, y = stack(*shifted(100))
        FDRE(**TINY, random_state=0).fit(X, y)
        assert capsys.readouterr().out == ""
        FDRE(**TINY, critic="mlp", random_state=0, verbose=1).fit(X, y)
        out = capsys.readouterr().out
        assert "FDRE flow step 60 of 60" in out and "FDRE classifier step 60 of 60" in out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"flow": "glow"}, "flow must be one of 'maf', 'nsf', 'realnvp'"),
        ({"flow": lambda columns: None}, "flow must be a function that returns a flow"),
        ({"training": "both"}, "training must be one of 'separate', 'joint'"),
        ({"alpha": 1.5}, "alpha must be a number in"),
        ({"critic": "cubic"}, "critic must be one of"),
        ({"critic": "diagonal", "training": "joint"}, "critic must be one of 'quadratic', 'mlp'"),
        ({"transforms": 0}, "transforms must be an integer in"),
        ({"width": 0}, "width must be an integer in"),
        ({"l2": -1.0}, "l2 must be a number in"),
        ({"steps": 0}, "steps must be an integer in"),
        ({"batch_size": 0}, "batch_size must be an integer in"),
        ({"validation": 1.0}, "validation must be a number in"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FDRE(**settings).fit(*stack(*shifted(20)))
