"""The automatic chain of auxiliaries, why each is there, and the anchors of mixed classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from isthmus import MDRE, stack
from isthmus.auxiliaries import Bridge, DimensionWiseMixing, LinearMixing, chain
from isthmus.auxiliaries.chain import APART, Link, build_chain, separability
from isthmus.selection import search as _search


class Elsewhere:
    """An overlapping auxiliary that overlaps neither sample."""

    def fit(self, p, q):
        self.d = p.shape[1]
        return self

    def sample(self, n, rng):
        return 1e3 + rng.normal(size=(n, self.d))


def normals(shift, n=3000, d=2, scale_p=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, scale_p, (n, d)), rng.normal(shift / np.sqrt(d), 1, (n, d))


def told_apart(links, p, q):
    """How well neighbours of a chain are told apart, on draws of our own."""
    rng = np.random.default_rng(17)
    rows = [p, *(link.auxiliary.fit(p, q).sample(len(p), rng) for link in links), q]
    return [separability(a, b) for a, b in itertools.pairwise(rows)]


class TestSeparability:
    @pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 2.0, 3.0])
    @pytest.mark.parametrize("d", [1, 3])
    def test_is_the_bayes_accuracy_of_two_unit_normals(self, shift, d):
        n = 20_000
        p, q = normals(shift, n, d, seed=3)
        bayes = stats.norm.cdf(0.5 * shift)
        # Half of the rows are judged; the fitted rule costs O(1/n) more.
        assert abs(separability(p, q) - bayes) < 4 * np.sqrt(bayes * (1 - bayes) / n) + 1e-3

    def test_sees_a_difference_in_spread_alone(self):
        rng = np.random.default_rng(0)
        n, wide = 20_000, 3.0
        p, q = rng.normal(0, 1, (n, 1)), rng.normal(0, wide, (n, 1))
        edge = np.sqrt(2 * np.log(wide) / (1 - 1 / wide**2))
        bayes = 0.5 * (
            stats.norm.cdf(edge) - stats.norm.cdf(-edge) + 2 * stats.norm.sf(edge / wide)
        )
        assert abs(separability(p, q) - bayes) < 4 * np.sqrt(0.25 / n) + 1e-3

    def test_apart_is_one_and_the_order_does_not_matter(self):
        p, q = normals(50.0)
        assert separability(p, q) == 1.0
        p, q = normals(1.0)
        assert separability(p, q) == separability(q, p)


class TestBuildChain:
    @pytest.mark.parametrize("d", [1, 5])
    @pytest.mark.parametrize("shift", [0.5, 20.0, 200.0])
    def test_the_overlapping_link_joins_normals_however_far_apart(self, d, shift):
        p, q = normals(shift, d=d)
        (link,) = build_chain(p, q, np.random.default_rng(0))
        assert isinstance(link.auxiliary, Bridge)
        assert not hasattr(link.auxiliary, "components_"), "unfitted"
        assert link.reason.startswith("Joins p and q (worse side told apart: overlapping ")
        assert "linear mixing" in link.reason and link.reason.endswith("%).")
        assert ("dimension-wise mixing" in link.reason) == (d > 1)
        assert max(told_apart([link], p, q)) <= APART

    @pytest.mark.parametrize(
        ("d", "shift", "scale_p"), [(1, 8, 1), (2, 8, 1), (6, 8, 1), (1, 12, 3)]
    )
    def test_mixing_links_are_inserted_until_neighbours_overlap(
        self, monkeypatch, d, shift, scale_p
    ):
        monkeypatch.setattr(chain, "Bridge", Elsewhere)
        p, q = normals(shift, d=d, scale_p=scale_p)
        links = build_chain(p, q, np.random.default_rng(1))
        accuracies = told_apart(links, p, q)
        assert 2 <= len(links) < 5
        # The chain was judged on other draws than these.
        assert max(accuracies) <= APART + 0.01, accuracies
        assert all(isinstance(one.auxiliary, LinearMixing) for one in links)
        # In the order from p to q.
        alphas = [one.auxiliary.alphas[0] for one in links]
        assert alphas == sorted(alphas)

    @pytest.mark.parametrize("d", [2, 6])
    def test_there_are_never_more_than_five_links(self, monkeypatch, d):
        monkeypatch.setattr(chain, "Bridge", Elsewhere)
        monkeypatch.setattr(chain, "APART", 0.7)  # which five links cannot reach
        p, q = normals(8.0, d=d)
        links = build_chain(p, q, np.random.default_rng(1))
        assert len(links) == 5
        assert max(told_apart(links, p, q)) < max(told_apart([links[2]], p, q))

    def test_reasons_of_inserted_links_say_what_they_changed(self, monkeypatch):
        monkeypatch.setattr(chain, "Bridge", Elsewhere)
        links = build_chain(*normals(8.0), np.random.default_rng(1))
        kinds = [one.reason.split(" (")[0] for one in links]
        assert kinds.count("Least far from p and q") == 1
        assert kinds.count("Inserted") == len(links) - 1
        for one in links:
            if one.reason.startswith("Inserted"):
                assert f"linear mixing at {one.auxiliary.alphas[0]:.2f}" in one.reason
                before, left, right = (
                    float(word.strip(".,").rstrip("%"))
                    for word in one.reason.split()
                    if word.strip(".,").endswith("%")
                )
                assert max(left, right) < before
                assert before >= 100 * APART

    def test_nearby_samples_need_no_insertion_without_the_overlapping_link(self, monkeypatch):
        monkeypatch.setattr(chain, "Bridge", Elsewhere)
        (link,) = build_chain(*normals(2.0), np.random.default_rng(0))
        assert isinstance(link.auxiliary, LinearMixing | DimensionWiseMixing)
        assert link.reason.startswith("Joins p and q (worse side told apart: overlapping 100%")

    @pytest.mark.parametrize("replaced", [False, True])
    def test_deterministic_given_the_generator(self, monkeypatch, replaced):
        if replaced:
            monkeypatch.setattr(chain, "Bridge", Elsewhere)
        p, q = normals(10.0)
        one, two = (build_chain(p, q, np.random.default_rng(4)) for _ in range(2))
        assert [(str(a.auxiliary), a.reason) for a in one] == [
            (str(b.auxiliary), b.reason) for b in two
        ]

    def test_the_samples_are_not_changed(self, monkeypatch):
        monkeypatch.setattr(chain, "Bridge", Elsewhere)
        p, q = normals(8.0)
        before = p.copy(), q.copy()
        build_chain(p, q, np.random.default_rng(0))
        np.testing.assert_array_equal(p, before[0])
        np.testing.assert_array_equal(q, before[1])


@pytest.fixture(scope="module")
def fitted():
    X, y = stack(*normals(12.0, 400))
    return X, y, MDRE(random_state=0).fit(X, y)


class TestAutomaticAuxiliaries:
    def test_one_sentence_for_each_auxiliary(self, fitted):
        _, _, model = fitted
        reasons = model.selection_.reasons
        assert len(reasons) == len(model.auxiliaries_) == len(model.best_params_["auxiliaries"]) > 0
        assert all(reason.endswith(".") and reason.count(". ") == 0 for reason in reasons)
        assert all(reason in model.selection_.summary() for reason in reasons)

    def test_the_choice_can_be_set_again(self, fitted):
        X, y, model = fitted
        again = MDRE(random_state=0, **model.best_params_).fit(X, y)
        assert [type(one) for one in again.auxiliaries_] == [
            type(one) for one in model.auxiliaries_
        ]
        np.testing.assert_allclose(again.log_ratio(X), model.log_ratio(X), rtol=1e-10)
        assert again.selection_.reasons == []

    def test_no_reasons_for_what_was_given(self, fitted):
        X, y, _ = fitted
        model = MDRE(
            LinearMixing([0.5]), anchor="gaussian", maps=None, critic="quadratic", random_state=0
        ).fit(X, y)
        assert model.selection_.reasons == []
        assert isinstance(model.best_params_["auxiliaries"], LinearMixing)

    @pytest.mark.parametrize("helps", [False, True])
    def test_a_longer_chain_is_kept_only_if_it_predicts_better(self, monkeypatch, helps):
        """Without the overlapping link nothing else joins them; with it nothing more is needed."""
        known = [] if helps else [Link(Bridge(), "First.")]
        links = [*known, Link(LinearMixing([0.4]), "Second."), Link(LinearMixing([0.6]), "Third.")]
        monkeypatch.setattr(_search, "build_chain", lambda p, q, rng: links)
        X, y = stack(*normals(3.0, 400, seed=5))
        model = MDRE(anchor="gaussian", maps=None, critic="quadratic", l2=1.0, random_state=0)
        model.fit(X, y)
        expected = links if helps else links[:1]
        assert model.selection_.reasons == [one.reason for one in expected]
        assert model.best_params_["auxiliaries"] == [one.auxiliary for one in expected]
        assert len(model.auxiliaries_) == len(expected)
        tried = [trial for trial in model.selection_.trials if trial.stage == "auxiliary"]
        # Without an overlapping link there is no shorter chain to compare with.
        assert [trial.name for trial in tried] == ([] if helps else [f"{len(links)} auxiliaries"])


def correlated(n=500, d=4, seed=0):
    """Two samples with correlated columns of unlike units."""
    rng = np.random.default_rng(seed)
    unit = 10.0 ** np.arange(-1, d - 1)
    p = (rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)) * unit
    q = (rng.normal(size=(n + 100, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)) * unit
    return p, q


def linear(alpha, form):
    keep = 1 - alpha if form == "linear" else np.sqrt(1 - alpha**2)

    def moments(mean_p, cov_p, mean_q, cov_q):
        return keep * mean_p + alpha * mean_q, keep**2 * cov_p + alpha**2 * cov_q

    return moments


def columns_of_q(columns):
    def moments(mean_p, cov_p, mean_q, cov_q):
        mean, cov = mean_p.copy(), cov_p.copy()
        mean[columns] = mean_q[columns]
        others = [c for c in range(len(mean)) if c not in columns]
        cov[np.ix_(columns, columns)] = cov_q[np.ix_(columns, columns)]
        cov[np.ix_(columns, others)] = 0.0
        cov[np.ix_(others, columns)] = 0.0
        return mean, cov

    return moments


MIXED = {
    "linear": (LinearMixing([0.3]), [linear(0.3, "linear")]),
    "three linear": (LinearMixing(), [linear(a, "linear") for a in (0.25, 0.5, 0.75)]),
    "outside": (LinearMixing([1.4]), [linear(1.4, "linear")]),
    "sqrt": (
        LinearMixing([0.35, 0.85], form="sqrt"),
        [linear(a, "sqrt") for a in (0.35, 0.85)],
    ),
    "two blocks": (DimensionWiseMixing(2), [columns_of_q([0, 1])]),
    "four blocks": (
        DimensionWiseMixing(4),
        [columns_of_q(list(range(j))) for j in (1, 2, 3)],
    ),
    "in an order": (
        DimensionWiseMixing(4, order=[2, 0, 3, 1]),
        [columns_of_q(c) for c in ([2], [0, 2], [0, 2, 3])],
    ),
}
FIXED = {"anchor": "gaussian", "maps": None, "l2": np.inf, "random_state": 0}


class TestMixedAnchors:
    @pytest.mark.parametrize("critic", ["quadratic", "diagonal"])
    @pytest.mark.parametrize("name", MIXED)
    def test_have_the_exact_moments(self, name, critic):
        auxiliary, expected = MIXED[name]
        p, q = correlated()
        model = MDRE(auxiliary, critic=critic, **FIXED).fit(*stack(p, q))
        # Anchors of p and q are fitted by moments (maximum likelihood, nothing clipped here).
        given = []
        for rows in (p, q):
            given += [rows.mean(axis=0), np.cov(rows.T, bias=True)]
        for anchor, rows in zip(model.anchors_[:2], (p, q), strict=True):
            backward = model.map_.affine.backward
            root = backward.T @ anchor.component_.cholesky
            np.testing.assert_allclose(root @ root.T, np.cov(rows.T, bias=True), rtol=1e-8)
        x = np.concatenate([p[:50], q[:50]])
        assert len(model.anchors_) == 2 + len(expected)
        for own, moments in zip(model.anchors_[2:], expected, strict=True):
            mean, cov = moments(*given)
            # SciPy's cut-off for small eigenvalues would mistake unlike units for dependence.
            unit = np.sqrt(np.diag(cov))
            law = stats.multivariate_normal(mean / unit, cov / np.outer(unit, unit))
            truth = law.logpdf(x / unit) - np.log(unit).sum()
            found = own.score_samples(model.map_(x)) + model.map_.log_volume(x)
            np.testing.assert_allclose(found, truth, rtol=1e-8, atol=1e-6)

    def test_merged_positions_are_a_mixture_in_equal_parts(self):
        X, y = stack(*correlated())
        apart = MDRE(LinearMixing([0.3, 0.8]), critic="quadratic", **FIXED).fit(X, y)
        merged = MDRE(LinearMixing([0.3, 0.8], merged=True), critic="quadratic", **FIXED).fit(X, y)
        Z = merged.map_(X)
        parts = [anchor.score_samples(Z) for anchor in apart.anchors_[2:]]
        expected = np.logaddexp(*parts) - np.log(2)
        np.testing.assert_allclose(merged.anchors_[2].score_samples(Z), expected, rtol=1e-10)

    @pytest.mark.parametrize(
        "auxiliary", [LinearMixing([0.3]), LinearMixing([0.6], form="sqrt"), DimensionWiseMixing(2)]
    )
    def test_log_ratios_to_a_mixed_class_use_them(self, auxiliary):
        p, q = correlated()
        model = MDRE(auxiliary, critic="quadratic", **FIXED).fit(*stack(p, q))
        Z = model.map_(p)
        expected = model.anchors_[0].score_samples(Z) - model.anchors_[2].score_samples(Z)
        expected -= model.anchors_[0].bias_
        np.testing.assert_allclose(model.log_ratio(p, "p", "m1"), expected, atol=1e-8)

    def test_do_not_depend_on_the_draws(self):
        X, y = stack(*correlated())
        one, two = (
            MDRE(LinearMixing([0.3]), critic="quadratic", **{**FIXED, "random_state": seed})
            .fit(X, y)
            .log_ratio(X, "p", "m1")
            for seed in (0, 1)
        )
        np.testing.assert_array_equal(one, two)

    @pytest.mark.parametrize(
        "auxiliary",
        [
            DimensionWiseMixing(4, merged=True),
            DimensionWiseMixing(2, order="random"),
        ],
    )
    def test_a_class_of_several_laws_has_an_anchor_fitted_to_its_draws(self, auxiliary):
        p, q = correlated()
        model = MDRE(auxiliary, critic="quadratic", **FIXED).fit(*stack(p, q))
        assert model.auxiliaries_[0].laws(*[None] * 4) == []
        own, drawn = (
            model.anchors_[2].component_,
            model.fitted_to_.rows(model.model_.offsets).mapped[2].rows,
        )
        np.testing.assert_allclose(own.mean, drawn.mean(axis=0), atol=1e-9)
