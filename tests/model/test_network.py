"""Networks as critics of MDRE, and when "auto" takes one."""

from __future__ import annotations

import json
import pickle
import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch")

from isthmus import MDRE, compare, problems, stack  # noqa: E402
from isthmus.auxiliaries import LinearMixing  # noqa: E402
from isthmus.critics import MLP, Network, Quadratic  # noqa: E402
from isthmus.data.seeds import Seeds  # noqa: E402
from isthmus.model.network import auxiliary_rows, split_classes  # noqa: E402
from isthmus.neural import seeded  # noqa: E402
from isthmus.uncertainty import laplace  # noqa: E402

PLAIN = {"anchor": "gaussian", "maps": None, "random_state": 0}


def small(**settings):
    return MLP(**{"width": 16, "steps": 150, "batch_size": 64, "lr": 1e-2, **settings})


def samples(n=400, d=2, seed=0):
    """Two modes along the first column against a normal: anchors leave something to learn."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0, 1, (n, d)), rng.normal(0, 1.5, (n, d))
    p[:, 0] = 0.3 * p[:, 0] + rng.choice([-1.5, 1.5], n)
    return stack(p, q)


class TestCritic:
    def test_it_learns_what_the_anchors_miss(self):
        """Two narrow modes against a normal of the same moments: no quadratic tells them apart."""
        rng = np.random.default_rng(0)
        p, fresh = (rng.choice([-0.95, 0.95], n) + rng.normal(0, 0.3, n) for n in (3000, 20_000))
        q = rng.normal(0, 1, 3000)
        log_p = np.logaddexp(-0.5 * ((fresh - 0.95) / 0.3) ** 2, -0.5 * ((fresh + 0.95) / 0.3) ** 2)
        truth = np.mean(log_p - np.log(0.6) + 0.5 * fresh**2)
        found = []
        for critic in ("quadratic", MLP(width=32, steps=500, lr=5e-3)):
            model = MDRE("bridge", critic=critic, **PLAIN).fit(*stack(p, q))
            found.append(model.log_ratio(fresh).mean())
        report = model.network_.report
        assert report.held_out < model.network_.start - 0.05
        # The modes leave .45 nats that a quadratic misses. With 3000 rows on a side the mean of
        # a fitted log-ratio of about ten coefficients has a standard error near .03.
        assert abs(found[0] - truth) > 0.3
        assert abs(found[1] - truth) < 4 * 0.03

    def test_one_class_of_several_positions_works(self):
        """Linear mixing with K = 1, whose density is a mixture, in 10 dimensions."""
        rng = np.random.default_rng(1)
        p, q = rng.normal(1.5, 1, (2000, 10)), rng.normal(0, 1, (2000, 10))
        mixing = LinearMixing([0.25, 0.5, 0.75], merged=True)
        critic = MLP(width=32, steps=300)
        model = MDRE(mixing, critic=critic, **PLAIN).fit(*stack(p, q))
        truth = 0.5 * 10 * 1.5**2
        # Of two normals with unknown means and covariances the KL has a standard error of
        # about sqrt(2 d (1 + 1.5^2) / n) * sqrt(truth) = .6 at most; anchors have that too.
        fresh = rng.normal(1.5, 1, (5000, 10))
        assert abs(model.log_ratio(fresh).mean() - truth) < 1.5
        assert model.network_.report.held_out <= model.network_.start

    def test_the_same_seed_gives_the_same_ratio_and_leaves_torch_alone(self):
        X, y = samples()
        before = torch.random.get_rng_state()
        first, again, other = (
            MDRE("bridge", critic=small(), **{**PLAIN, "random_state": seed}).fit(X, y).log_ratio(X)
            for seed in (0, 0, 1)
        )
        assert np.array_equal(first, again) and not np.array_equal(first, other)
        assert torch.equal(before, torch.random.get_rng_state())

    def test_a_weight_of_two_is_the_row_twice(self):
        X, y = samples(300)
        weight = np.where(np.arange(len(X)) % 3 == 0, 2.0, 1.0)
        twice = np.concatenate([np.arange(len(X)), np.flatnonzero(weight == 2)])
        model = MDRE("bridge", critic=small(), **PLAIN)
        fitted = clone(model).fit(X, y, weight)
        assert fitted.network_.report.best_step > 0
        weighted = fitted.log_ratio(X)
        copied = clone(model).fit(X[twice], y[twice]).log_ratio(X)
        # Anchors differ by rounding, and 150 steps in single precision enlarge it.
        assert np.allclose(weighted, copied, atol=1e-3)

    def test_a_model_is_pickled_and_copied(self):
        X, y = samples(200)
        model = MDRE(critic=small(), **PLAIN).fit(X, y)
        back = pickle.loads(pickle.dumps(model))
        assert np.array_equal(back.log_ratio(X), model.log_ratio(X))
        assert clone(model).critic.get_params() == model.critic.get_params()

    def test_probabilities_and_ratios_of_all_classes_agree(self):
        X, y = samples(300)
        model = MDRE("bridge", critic=small(), **PLAIN).fit(X, y)
        log_p = model.predict_log_proba(X)
        assert log_p.shape == (600, 3)
        assert np.allclose(np.exp(log_p).sum(axis=1), 1)
        assert np.allclose(log_p[:, 0] - log_p[:, 1], model.log_ratio(X))
        assert model.score(X, y) < 0

    def test_it_can_stand_on_a_convex_critic(self):
        X, y = samples(500)
        convex = MDRE("bridge", critic="quadratic", l2=1.0, **PLAIN).fit(X, y)
        # One step at a rate of nearly nothing: what is left is the convex critic.
        on = MLP(base="quadratic", steps=1, lr=1e-12)
        model = MDRE("bridge", critic=on, l2=1.0, **PLAIN).fit(X, y)
        assert np.allclose(model.log_ratio(X), convex.log_ratio(X), atol=1e-6)
        assert not np.allclose(
            MDRE("bridge", critic=on.on(None), **PLAIN).fit(X, y).log_ratio(X), convex.log_ratio(X)
        )

    def test_base_auto_is_what_mdre_would_choose(self):
        X, y = samples(400)
        alone = MDRE(critic=Quadratic(), **PLAIN).fit(X, y)
        model = MDRE(critic=small(base=Quadratic(), steps=5), **PLAIN).fit(X, y)
        assert model.best_params_["l2"] == alone.best_params_["l2"]
        assert isinstance(model.best_params_["critic"], MLP)

    def test_rows_held_out_do_not_come_back_in_mixtures(self):
        X, y = samples(100, d=1)
        model = MDRE(LinearMixing([1.0]), critic=small(steps=2), **PLAIN).fit(X, y)
        classes = model.fitted_to_.rows(model.model_.offsets)
        train, held = split_classes(classes, 0.2, Seeds(0))
        assert held is not None and len(held[1]) == 20
        drawn = auxiliary_rows(classes.offsets, train, 200, Seeds(0), "epoch 3")[2].rows
        # Position 1 is q itself: every draw is one of the rows of q that are trained on.
        assert np.isin(drawn, train[1].rows).all()
        assert not np.isin(drawn, held[1].rows).any()

    def test_auxiliaries_given_as_rows_and_none_at_all(self):
        X, y = samples(200)
        rows = np.random.default_rng(0).normal(0.5, 2, (300, 2))
        for auxiliaries in (rows, []):
            model = MDRE(auxiliaries, critic=small(), **PLAIN).fit(X, y)
            assert np.isfinite(model.log_ratio(X)).all()
            assert model.network_.report.held_out <= model.network_.start

    @pytest.mark.parametrize("scale", [1e-8, 1e8])
    def test_scale_does_not_matter(self, scale):
        X, y = samples(300)
        models = [MDRE("bridge", critic=small(), **PLAIN).fit(c * X, y) for c in (1.0, scale)]
        assert models[0].network_.report.best_step > 0
        ratios = [m.log_ratio(c * X) for m, c in zip(models, (1.0, scale), strict=True)]
        # Coordinates agree to rounding; 150 steps in single precision enlarge it.
        assert np.allclose(*ratios, atol=1e-2)

    @pytest.mark.parametrize("how", ["constant", "duplicate", "same", "few"])
    def test_degenerate_samples_give_finite_ratios(self, how):
        X, y = samples(10 if how == "few" else 150)
        if how == "constant":
            X = np.column_stack([X, np.ones(len(X))])
        elif how == "duplicate":
            X = np.column_stack([X, X[:, 0]])
        elif how == "same":
            X = np.concatenate([X[y == 1], X[y == 1]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constant and dependent columns
            model = MDRE("bridge", critic=small(), **PLAIN).fit(X, y)
        assert np.isfinite(model.log_ratio(X)).all()
        assert np.isfinite(model.log_ratio(1e6 * X[:5])).all()

    def test_what_does_not_fit_is_refused(self):
        X, y = samples(30)
        for critic, message in [
            (MLP(width=0), "width must be"),
            (MLP(steps=0), "steps must be"),
            (MLP(shrink=-1.0), "shrink must be"),
            (MLP(activation="Linear"), "activation must be"),
            (MLP(base="forest"), "base must be"),
            (Network(3), "module must be a torch.nn.Module; received a int"),
            ("perceptron", "critic must be one of .*'mlp'"),
        ]:
            with pytest.raises(ValueError, match=message):
                MDRE(critic=critic).fit(X, y)

    def test_posteriors_refuse_a_network(self):
        X, y = samples(100)
        model = MDRE("bridge", critic=small(base="quadratic", steps=2), l2=1.0, **PLAIN).fit(X, y)
        with pytest.raises(ValueError, match="classifier or a network"):
            laplace(model)


class TestModule:
    def module(self, n_in=2, n_out=3):
        with seeded(np.random.default_rng(0)):
            return torch.nn.Sequential(
                torch.nn.Linear(n_in, 16), torch.nn.Tanh(), torch.nn.Linear(16, n_out)
            )

    def test_any_module_learns_and_is_left_as_it_was(self):
        X, y = samples(500)
        module = self.module()
        before = {name: value.clone() for name, value in module.state_dict().items()}
        network, random = Network(module, steps=100, lr=1e-2), torch.random.get_rng_state()
        model = MDRE("bridge", critic=network, anchor=None, random_state=0).fit(X, y)
        assert torch.equal(random, torch.random.get_rng_state())
        assert model.network_.report.held_out < model.network_.start
        after = module.state_dict()
        assert all(torch.equal(before[name], after[name]) for name in before)

    def test_on_anchors_it_starts_from_them(self):
        X, y = samples(300)
        anchors = MDRE("bridge", critic="quadratic", l2=np.inf, **PLAIN).fit(X, y)
        one = Network(self.module(), steps=1, lr=1e-12)
        model = MDRE("bridge", critic=one, **PLAIN).fit(X, y)
        assert np.allclose(model.log_ratio(X), anchors.log_ratio(X), atol=1e-6)

    def test_a_bare_module_is_a_critic(self, monkeypatch):
        X, y = samples(60)
        monkeypatch.setitem(Network.__init__.__kwdefaults__, "steps", 3)
        model = MDRE("bridge", critic=self.module(), **PLAIN).fit(X, y)
        assert model.predict_proba(X).shape == (120, 3)

    @pytest.mark.parametrize("shape", [(2, 2), (3, 3)])
    def test_a_module_of_another_shape_is_refused(self, shape):
        with pytest.raises(ValueError, match=r"\(n, 2\) to \(n, 3\)"):
            MDRE("bridge", critic=Network(self.module(*shape)), **PLAIN).fit(*samples(50))


@pytest.fixture(scope="module")
def ring():
    # With these rows the axes lie between the modes: additive critics cannot see them.
    problem = problems.load("hard/ring")
    rng = np.random.default_rng([1, 7])
    return problem, problem.sample_p(2500, rng), problem.sample_q(2500, rng)


class TestAuto:
    def test_a_network_is_taken_where_convex_critics_are_not_enough(self, ring, monkeypatch):
        problem, p, q = ring
        monkeypatch.setitem(MLP.__init__.__kwdefaults__, "steps", 600)
        model = MDRE("bridge", **PLAIN).fit(*stack(p, q))
        trials = {t.name: t for t in model.selection_.trials}
        assert trials["network"].chosen and model.network_ is not None
        fresh = problem.sample_p(20_000, 3)
        truth = problem.log_ratio(fresh).mean()
        # The KL of samples of 2500 rows has a standard error near .05 when log q must be
        # learned at four places from about 60 rows each.
        assert abs(model.log_ratio(fresh).mean() - truth) < 4 * 0.05

    def test_without_torch_the_convex_answer_comes_with_a_message(self, ring, monkeypatch):
        _, p, q = ring
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.warns(UserWarning, match=r"torch is not installed.*isthmus\[neural\]"):
            model = MDRE("bridge", **PLAIN).fit(*stack(p, q))
        assert model.network_ is None and np.isfinite(model.log_ratio(p)).all()
        with pytest.raises(ImportError, match=r"critic='mlp' must have torch.*isthmus\[neural\]"):
            MDRE(critic="mlp").fit(*stack(p, q))

    def test_where_anchors_are_right_none_is_tried(self):
        rng = np.random.default_rng(2)
        for _ in range(3):
            p, q = rng.normal(1, 1, (1000, 3)), rng.normal(0, 2, (1000, 3))
            model = MDRE(**PLAIN).fit(*stack(p, q))
            assert model.network_ is None


class TestCompare:
    def test_cross_fitting_works_alike_in_threads(self):
        X, y = samples(200)
        p, q = X[y == 1], X[y == 0]
        how = {"folds": 2, "random_state": 0}
        estimator = MDRE("bridge", critic=small(), anchor="gaussian", maps=None)
        one = compare(p, q, estimator=estimator, **how)
        two = compare(p, q, estimator=estimator, n_jobs=2, **how)
        assert one.kl.value == two.kl.value
        assert np.isfinite(one.kl.std_error) and one.kl.std_error > 0
        assert "flexibility" in one.diagnostics

    def test_the_critic_can_be_named_and_only_once(self, monkeypatch):
        X, y = samples(40)
        with pytest.raises(ValueError, match="critic must be left out where an estimator"):
            compare(X[y == 1], X[y == 0], estimator=MDRE(), critic="mlp")
        seen = []
        monkeypatch.setattr(MDRE, "learn", lambda self, *a, **k: seen.append(self.critic) or 1 / 0)
        with pytest.raises(ZeroDivisionError):
            compare(X[y == 1], X[y == 0], critic="mlp")
        assert seen == ["mlp"]


def test_the_numbers_in_the_document_are_those_of_the_record(monkeypatch):
    docs = Path(__file__).parents[2] / "docs"
    monkeypatch.syspath_prepend(str(docs))
    names = runpy.run_path(str(docs / "make_neural.py"))
    record = json.loads(names["RECORD"].read_text("utf-8"))
    assert names["rows"](record) in (docs / "neural.md").read_text("utf-8")
