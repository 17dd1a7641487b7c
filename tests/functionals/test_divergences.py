"""Divergences: exact on finite sets, against closed forms on Gaussians, at extremes.

On a finite set with the probabilities as weights, both means are exact sums, so a
divergence must equal its textbook formula to rounding. That is the sharpest test here;
the Monte Carlo ones check only that the two samples are not mixed up.
"""

from __future__ import annotations

import ast
import pickle
import warnings
from importlib.util import resolve_name
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

import isthmus.functionals
from isthmus.functionals import Divergence, get_divergence

LOG_2 = np.log(2.0)


def power_integral(p, q, a):
    return np.sum(p**a * q ** (1 - a))


def alpha_truth(a):
    return lambda p, q: (power_integral(p, q, a) - 1) / (a * (a - 1))


def renyi_truth(a):
    return lambda p, q: np.log(power_integral(p, q, a)) / (a - 1)


def kl_truth(p, q):
    return np.sum(p * np.log(p / q))


def js_truth(p, q):
    m = (p + q) / 2
    return (kl_truth(p, m) + kl_truth(q, m)) / 2


TRUTH = {
    "kl": kl_truth,
    "reverse-kl": lambda p, q: kl_truth(q, p),
    "js": js_truth,
    "hellinger": lambda p, q: 1 - np.sum(np.sqrt(p * q)),
    "chi2": lambda p, q: np.sum((p - q) ** 2 / q),
    "pearson": lambda p, q: np.sum((p - q) ** 2 / q),
    "neyman": lambda p, q: np.sum((p - q) ** 2 / p),
    "tv": lambda p, q: np.sum(np.abs(p - q)) / 2,
    "alpha:1": kl_truth,
    "alpha:0": lambda p, q: kl_truth(q, p),
    "renyi:1": kl_truth,
}
TRUTH |= {f"alpha:{a}": alpha_truth(a) for a in (-1, -0.7, 0.2, 0.5, 0.9, 1.4, 2, 3)}
TRUTH |= {f"renyi:{a}": renyi_truth(a) for a in (0.2, 0.5, 0.8, 1.5, 2, 3)}
NAMES = sorted(TRUTH)
# Mutually inverse under exchange of p and q, which turns t into -t.
EXCHANGED = {
    "kl": "reverse-kl",
    "chi2": "neyman",
    "js": "js",
    "hellinger": "hellinger",
    "tv": "tv",
    "alpha:0.5": "alpha:0.5",
    "alpha:0.2": "alpha:0.8",
    "alpha:-0.7": "alpha:1.7",
    "alpha:3": "alpha:-2",
    "alpha:1": "alpha:0",
}


def kl_f(r):
    return r * np.log(r)


def js_f(r):
    return 0.5 * (r * np.log(2 * r / (1 + r)) + np.log(2 / (1 + r)))


def tv_f(r):
    return np.abs(r - 1) / 2


def chi2_f(r):
    return (r - 1) ** 2


def reverse_kl_f(r):
    return -np.log(r)


def neyman_f(r):
    return (r - 1) ** 2 / r


FUNCTIONS = {
    "kl": kl_f,
    "js": js_f,
    "tv": tv_f,
    "chi2": chi2_f,
    "reverse-kl": reverse_kl_f,
    "neyman": neyman_f,
}


@st.composite
def finite_pairs(draw):
    """p and q on one finite set, probabilities down to about 1e-4."""
    size = draw(st.integers(2, 6))
    logits = st.lists(st.floats(-4, 4), min_size=size, max_size=size)
    p, q = np.exp(draw(logits)), np.exp(draw(logits))
    return p / p.sum(), q / q.sum()


def exact(spec, p, q):
    t = np.log(p / q)
    return get_divergence(spec).value(t, t, p, q)


@pytest.fixture
def rng():
    return np.random.default_rng(20)


# --- exact on finite sets -------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(pair=finite_pairs())
def test_equals_the_textbook_formula_on_a_finite_set(name, pair):
    truth = TRUTH[name](*pair)
    # Powers of ratios up to e^16 make the scale of the rounding error.
    assert exact(name, *pair) == pytest.approx(truth, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@settings(max_examples=40, deadline=None)
@given(pair=finite_pairs())
def test_a_generator_agrees_with_the_named_divergence(name, pair):
    assert exact(FUNCTIONS[name], *pair) == pytest.approx(exact(name, *pair), rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(pair=finite_pairs())
def test_range_and_inequalities_between_divergences(pair):
    d = {name: exact(name, *pair) for name in NAMES}
    for name, value in d.items():
        assert -1e-12 <= value <= get_divergence(name).upper + 1e-12, name
    assert d["js"] <= d["tv"] * LOG_2 + 1e-12
    assert d["tv"] ** 2 <= d["kl"] / 2 + 1e-12  # Pinsker
    assert d["hellinger"] <= d["tv"] + 1e-12
    assert d["tv"] ** 2 <= d["hellinger"] * (2 - d["hellinger"]) + 1e-12  # Le Cam
    assert d["kl"] <= np.log1p(d["chi2"]) + 1e-12
    orders = [d[f"renyi:{a}"] for a in (0.2, 0.5, 0.8, 1, 1.5, 2, 3)]
    assert np.all(np.diff(orders) >= -1e-10)


@pytest.mark.parametrize("name", NAMES)
def test_equal_distributions_are_at_zero(name):
    zeros = np.zeros(5)
    assert get_divergence(name).value(zeros, zeros[:3]) == 0.0


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_generator_is_zero_for_equal_distributions(name):
    assert get_divergence(FUNCTIONS[name]).value(np.zeros(5), np.zeros(3)) == 0.0


@pytest.mark.parametrize(
    ("name", "limit", "order"),
    [("alpha", "alpha:1", 1.0), ("alpha", "alpha:0", 0.0), ("renyi", "renyi:1", 1.0)],
)
@pytest.mark.parametrize("step", [-1e-5, -1e-9, 1e-9, 1e-5])
def test_orders_near_a_limit(name, limit, order, step):
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.2, 0.7])
    # The derivative in the order is below 2 here; the naive formula errs by 1e-7 at 1e-9.
    error = abs(exact(f"{name}:{order + step!r}", p, q) - exact(limit, p, q))
    assert error <= 2 * abs(step) + 1e-14


def test_disjoint_supports_reach_the_upper_bounds():
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.0, 1.0])
    t = np.array([np.inf, np.inf, -np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in NAMES:
            d = get_divergence(name)
            assert d.value(t, t, p, q) == pytest.approx(d.upper), name
        for f in FUNCTIONS.values():
            d = get_divergence(f)
            assert d.value(t, t, p, q) == pytest.approx(d.upper), f


def test_upper_bound_of_a_generator():
    assert get_divergence(js_f).upper == pytest.approx(LOG_2)
    assert get_divergence(tv_f).upper == pytest.approx(1.0)
    assert get_divergence(lambda r: (1 - np.sqrt(r)) ** 2 / 2).upper == pytest.approx(1.0)
    assert get_divergence(kl_f).upper == np.inf
    assert get_divergence(neyman_f).upper == np.inf


# --- Gaussian pairs -------------------------------------------------------------------


class GaussianPair:
    def __init__(self, mean_p, cov_p, mean_q, cov_q):
        self.parameters = [
            (np.atleast_1d(np.asarray(m, float)), np.atleast_2d(np.asarray(c, float)))
            for m, c in ((mean_p, cov_p), (mean_q, cov_q))
        ]

    def log_density(self, which, x):
        mean, cov = self.parameters[which]
        z = np.linalg.solve(np.linalg.cholesky(cov), (x - mean).T)
        return -0.5 * (np.sum(z**2, axis=0) + np.linalg.slogdet(2 * np.pi * cov)[1])

    def log_ratio(self, x):
        return self.log_density(0, x) - self.log_density(1, x)

    def samples(self, n_p, n_q, rng):
        (m_p, c_p), (m_q, c_q) = self.parameters
        return rng.multivariate_normal(m_p, c_p, n_p), rng.multivariate_normal(m_q, c_q, n_q)

    def kl(self, a=0, b=1):
        (m, c), (m2, c2) = self.parameters[a], self.parameters[b]
        ratio = np.linalg.solve(c2, c)
        shift = m2 - m
        quadratic = shift @ np.linalg.solve(c2, shift)
        return 0.5 * (np.trace(ratio) - len(m) + quadratic - np.linalg.slogdet(ratio)[1])

    def power_integral(self, a):
        """Closed form of the integral of p^a q^(1-a), from completing the square."""
        (m, c), (m2, c2) = self.parameters
        P, Q = np.linalg.inv(c), np.linalg.inv(c2)
        A = a * P + (1 - a) * Q
        assert np.all(np.linalg.eigvalsh(A) > 0), "the integral diverges"
        b = a * P @ m + (1 - a) * Q @ m2
        rest = a * m @ P @ m + (1 - a) * m2 @ Q @ m2 - b @ np.linalg.solve(A, b)
        logdet = (
            a * np.linalg.slogdet(P)[1]
            + (1 - a) * np.linalg.slogdet(Q)[1]
            - np.linalg.slogdet(A)[1]
        )
        return np.exp(0.5 * (logdet - rest))

    def by_grid(self, integrand):
        """Integral of a function of (p, q) on a grid that holds all but 1e-15 of the mass."""
        dim = len(self.parameters[0][0])
        axis = np.linspace(-12, 12, 24001 if dim == 1 else 1201)
        grid = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
        p, q = (np.exp(self.log_density(k, grid)) for k in (0, 1))
        return np.sum(integrand(p, q)) * (axis[1] - axis[0]) ** dim


PAIRS = {
    "1-D": GaussianPair(0.8, 0.8, 0.0, 1.0),
    "2-D": GaussianPair([0.5, -0.3], [[0.9, 0.2], [0.2, 0.8]], [0.0, 0.0], np.eye(2)),
}


def js_integrand(p, q):
    p, q = p + 1e-300, q + 1e-300
    return 0.5 * (p * np.log(2 * p / (p + q)) + q * np.log(2 * q / (p + q)))


def gaussian_truth(pair, name):
    if name in ("kl", "alpha:1", "renyi:1"):
        return pair.kl()
    if name in ("reverse-kl", "alpha:0"):
        return pair.kl(1, 0)
    if name == "js":
        return pair.by_grid(js_integrand)
    if name == "tv":
        return pair.by_grid(lambda p, q: np.abs(p - q) / 2)
    if name == "hellinger":
        return 1 - pair.power_integral(0.5)
    if name in ("chi2", "pearson"):
        return pair.power_integral(2.0) - 1
    if name == "neyman":
        return pair.power_integral(-1.0) - 1
    family, order = name.split(":")
    integral = pair.power_integral(float(order))
    a = float(order)
    return (integral - 1) / (a * (a - 1)) if family == "alpha" else np.log(integral) / (a - 1)


def test_the_grid_agrees_with_a_closed_form_and_with_quadrature():
    # A check of the test's own truth: without it "js" and "tv" would rest on one sum.
    for pair in PAIRS.values():
        affinity = pair.by_grid(lambda p, q: np.sqrt(p * q))
        assert affinity == pytest.approx(pair.power_integral(0.5), abs=1e-10)
    pair = PAIRS["1-D"]

    def gap(x):
        p, q = (np.exp(pair.log_density(k, np.array([[x]]))[0]) for k in (0, 1))
        return abs(p - q) / 2

    value = integrate.quad(gap, -12, 12, limit=400, points=[0.0, 0.5, 1.0])[0]
    assert pair.by_grid(lambda p, q: np.abs(p - q) / 2) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("dim", sorted(PAIRS))
def test_gaussian_closed_forms(dim, seed):
    pair = PAIRS[dim]
    x_p, x_q = pair.samples(20_000, 30_000, np.random.default_rng(seed))
    t_p, t_q = pair.log_ratio(x_p), pair.log_ratio(x_q)
    # Negative orders have no fourth moments on these pairs, so that the sample standard
    # error means little; the next test gives them a pair of their own.
    for name in sorted(set(NAMES) - {"alpha:-1", "alpha:-0.7", "neyman"}):
        d = get_divergence(name)
        rows = d.linearise(t_p, t_q)
        se = np.sqrt(rows.p.var() / len(t_p) + rows.q.var() / len(t_q))
        truth = gaussian_truth(pair, name)
        # 4 standard errors: one failure in 16 000 if the seeds were free. The second
        # condition keeps the first from passing by an absurd standard error.
        assert abs(d.value(t_p, t_q) - truth) <= 4 * se, name
        assert 0 < se < 0.1 * truth, name


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_neyman_on_a_pair_with_light_tails(seed):
    pair = GaussianPair(0.3, 1.0, 0.0, 0.8)
    x_p, x_q = pair.samples(20_000, 30_000, np.random.default_rng(seed))
    t_p, t_q = pair.log_ratio(x_p), pair.log_ratio(x_q)
    for name in ("neyman", "alpha:-1", "alpha:-0.7"):
        d = get_divergence(name)
        rows = d.linearise(t_p, t_q)
        se = np.sqrt(rows.p.var() / len(t_p) + rows.q.var() / len(t_q))
        assert abs(d.value(t_p, t_q) - gaussian_truth(pair, name)) <= 4 * se, name
        assert 0 < se < 0.1 * gaussian_truth(pair, name), name


def test_balanced_terms_have_less_noise_than_a_split_at_one(rng):
    pair = PAIRS["1-D"]
    x_p, x_q = pair.samples(50_000, 50_000, rng)
    t_p, t_q = pair.log_ratio(x_p), pair.log_ratio(x_q)
    rows = get_divergence(kl_f).linearise(t_p, t_q)
    balanced = rows.p.var() + rows.q.var()
    # The split takes rows with r > 1 from p and the others from q, for f = r log r and for
    # f = r log r - r + 1, which is the form that the balanced terms have.
    r_q = np.exp(t_q)
    split = np.where(t_p > 0, t_p, 0).var() + np.where(t_q > 0, 0, r_q * t_q).var()
    flat_p, flat_q = t_p - 1 + np.exp(-t_p), r_q * t_q - r_q + 1
    flat_split = np.where(t_p > 0, flat_p, 0).var() + np.where(t_q > 0, 0, flat_q).var()
    assert balanced < flat_split < split
    assert balanced < 0.5 * split


# --- exchange, draws, weights ---------------------------------------------------------


@pytest.mark.parametrize("name", sorted(EXCHANGED))
def test_exchange_of_p_and_q(name, rng):
    t_p, t_q = rng.normal(0.5, 1.5, 40), rng.normal(-0.5, 1.5, 30)
    here, there = get_divergence(name), get_divergence(EXCHANGED[name])
    # Row for row, not only in the mean: the forms mirror each other.
    np.testing.assert_allclose(here.p_term(t_p), there.q_term(-t_p), rtol=1e-10, atol=1e-14)
    assert here.value(t_p, t_q) == pytest.approx(there.value(-t_q, -t_p), rel=1e-10)


@pytest.mark.parametrize("a", [0.2, 0.5, 0.7])
def test_exchange_for_renyi(a, rng):
    t_p, t_q = rng.normal(0.5, 1.5, 40), rng.normal(-0.5, 1.5, 30)
    swapped = get_divergence(f"renyi:{1 - a}").value(-t_q, -t_p)
    assert get_divergence(f"renyi:{a}").value(t_p, t_q) == pytest.approx(a / (1 - a) * swapped)


@pytest.mark.parametrize("spec", [*NAMES, kl_f, js_f])
def test_draws_equal_a_loop(spec, rng):
    t_p, t_q = rng.normal(1, 2, (3, 4, 20)), rng.normal(-1, 2, (3, 4, 15))
    d = get_divergence(spec)
    together = d.value(t_p, t_q)
    assert together.shape == (3, 4)
    for i in np.ndindex(3, 4):
        alone = d.value(t_p[i], t_q[i])
        assert isinstance(alone, float)
        assert together[i] == pytest.approx(alone, rel=1e-12)
    # One set of draws may meet a single row of the other sample.
    broadcast = d.value(t_p[0], t_q[0, 0])
    assert broadcast[2] == pytest.approx(d.value(t_p[0, 2], t_q[0, 0]), rel=1e-12)


@pytest.mark.parametrize("spec", [*NAMES, kl_f, js_f])
def test_weights_equal_repetition(spec, rng):
    t_p, t_q = rng.normal(1, 2, 12), rng.normal(-1, 2, 9)
    n_p, n_q = rng.integers(0, 4, 12), rng.integers(1, 4, 9)
    assert n_p.min() == 0 < n_p.max()
    d = get_divergence(spec)
    repeated = d.value(np.repeat(t_p, n_p), np.repeat(t_q, n_q))
    assert d.value(t_p, t_q, n_p, 7.5 * n_q) == pytest.approx(repeated, rel=1e-12)
    assert d.value(t_p, t_q) != pytest.approx(repeated, rel=1e-6)


def test_sets_of_weights_serve_a_bootstrap(rng):
    t_p, t_q = rng.normal(1, 2, 12), rng.normal(-1, 2, 9)
    w = rng.exponential(size=(5, 12))
    for name in ("kl", "renyi:2", "tv"):
        d = get_divergence(name)
        values = d.value(t_p, t_q, w)
        assert values.shape == (5,)
        assert values[3] == pytest.approx(d.value(t_p, t_q, w[3]), rel=1e-12)


@pytest.mark.parametrize("spec", [*NAMES, kl_f, chi2_f])
def test_a_row_without_weight_does_not_count_even_if_infinite(spec):
    t = np.array([0.3, -0.4, np.inf, -np.inf])
    w = np.array([1.0, 2.0, 0.0, 0.0])
    d = get_divergence(spec)
    assert d.value(t, t, w, w) == pytest.approx(d.value(t[:2], t[:2], w[:2], w[:2]), rel=1e-12)


# --- slopes ---------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*NAMES, kl_f, js_f, chi2_f, tv_f])
def test_slopes_are_derivatives(spec):
    d = get_divergence(spec)
    t = np.linspace(-6.05, 6.05, 100)  # not 0, where "tv" has its kink
    h = 1e-5
    for term, slope in ((d.p_term, d.p_slope), (d.q_term, d.q_slope)):
        numerical = (term(t + h) - term(t - h)) / (2 * h)
        # The difference errs by h^2 times a third derivative and by eps / h times the value.
        np.testing.assert_allclose(slope(t), numerical, rtol=2e-8, atol=2e-9)
    m = np.linspace(0.1, 2, 20)
    numerical = (d.link(m + h) - d.link(m - h)) / (2 * h)
    np.testing.assert_allclose(d.link_slope(m), numerical, rtol=1e-7)


@pytest.mark.parametrize("name", ["alpha:0.999", "alpha:1.001", "alpha:0.001", "alpha:-0.001"])
def test_slopes_of_alpha_near_its_limits(name):
    d, h, t = get_divergence(name), 1e-4, np.linspace(-8, 8, 33)
    numerical = (d.p_term(t + h) - d.p_term(t - h)) / (2 * h)
    np.testing.assert_allclose(d.p_slope(t), numerical, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("spec", [*NAMES, kl_f])
def test_linearisation_gives_the_first_order_change(spec, rng):
    t_p, t_q = rng.normal(1, 1, 30), rng.normal(-1, 1, 20)
    move_p, move_q = rng.normal(size=30), rng.normal(size=20)
    d, h = get_divergence(spec), 1e-5
    rows = d.linearise(t_p, t_q)
    predicted = np.mean(rows.p_slope * move_p) + np.mean(rows.q_slope * move_q)
    up, down = (d.value(t_p + s * h * move_p, t_q + s * h * move_q) for s in (1, -1))
    assert predicted == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-8)
    # The same for a change of the weights, which moves the empirical distributions.
    w = np.ones(30)
    w[4] += 1e-6
    change = (d.value(t_p, t_q, w) - d.value(t_p, t_q)) / 1e-6
    assert change == pytest.approx((rows.p[4] - rows.p.mean()) / 30, rel=1e-4, abs=1e-8)


def test_linearisation_of_draws(rng):
    t_p, t_q = rng.normal(1, 1, (3, 30)), rng.normal(-1, 1, (3, 20))
    for name in ("kl", "renyi:2", "renyi:0.5"):
        d = get_divergence(name)
        for whole, part in zip(d.linearise(t_p, t_q), d.linearise(t_p[1], t_q[1]), strict=True):
            np.testing.assert_allclose(whole[1], part, rtol=1e-12)


# --- extremes -------------------------------------------------------------------------

FAR = np.array([-1000.0, -745.0, -710.0, -300.0, 0.0, 300.0, 710.0, 745.0, 1000.0])
FINITE_WHEN_FAR = [
    name for name in NAMES if name not in ("chi2", "pearson", "neyman")
    and not (name.startswith("alpha") and not 0 <= float(name[6:]) <= 1)
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("spec", [*FINITE_WHEN_FAR, kl_f, js_f, tv_f, reverse_kl_f])
def test_log_ratios_of_a_thousand_are_finite_and_silent(spec):
    d = get_divergence(spec)
    assert np.isfinite(d.value(FAR, FAR))
    assert np.isfinite(d.value(np.full(3, 1000.0), np.full(3, -1000.0)))
    assert all(np.isfinite(part).all() for part in d.linearise(FAR, FAR))
    assert np.isfinite(d.value(FAR[FAR > 0], FAR[FAR < 0]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", NAMES)
def test_terms_and_slopes_are_silent_everywhere(name):
    d = get_divergence(name)
    t = np.concatenate([FAR, [-1e5, 1e5, -np.inf, np.inf]])
    for function in (d.p_term, d.q_term, d.p_slope, d.q_slope):
        assert not np.isnan(function(t)).any(), function


@pytest.mark.filterwarnings("error")
def test_far_values_are_the_right_ones():
    far_p, far_q = np.full(4, 1000.0), np.full(5, -1000.0)
    expected = {
        "kl": 1000.0,
        "reverse-kl": 1000.0,
        "js": LOG_2,
        "hellinger": 1.0,
        "tv": 1.0,
        "alpha:0.5": 4.0,
        "renyi:2": 1000.0,
        "renyi:3": 1000.0,
        "renyi:0.5": 1000.0,
        "renyi:0.2": 250.0,
        "renyi:0.8": 1000.0,
    }
    for name, value in expected.items():
        assert get_divergence(name).value(far_p, far_q) == pytest.approx(value, rel=1e-12), name
    # Terms of the balanced KL sum to E_p[t] - 1 + 1 - 0 when nothing overlaps.
    assert get_divergence(kl_f).value(far_p, far_q) == pytest.approx(1000.0, rel=1e-8)
    assert get_divergence(reverse_kl_f).value(far_p, far_q) == pytest.approx(1000.0, rel=1e-8)


@pytest.mark.parametrize(
    ("name", "sign", "factor"),
    [("chi2", 1, ""), ("neyman", -1, ""), ("alpha:2", 1, "2 * "), ("alpha:-1", -1, "2 * ")],
)
def test_overflow_is_explained(name, sign, factor):
    t = sign * np.array([1000.0, 1000.0, -5.0, 0.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert get_divergence(name).value(t, t) == np.inf
    assert [w.category for w in caught] == [UserWarning]
    assert f"log(1 + {factor}{name}) is {1000 - LOG_2:.6g}" in str(caught[0].message)


def test_a_warning_is_of_the_line_that_called():
    with pytest.warns(UserWarning) as caught:
        get_divergence("chi2").value([1000.0], [0.0])
    assert caught[0].filename == __file__


def test_an_estimate_and_its_interval():
    found = get_divergence("kl").estimate(1.0, 0.1, (0.2, 0.3))
    # 1.96 standard errors, and what is said to lie further out.
    assert (found.method, found.std_error, found.level) == ("normal", 0.1, 0.95)
    assert found.low == pytest.approx(1.0 - 0.196 - 0.2, abs=1e-4)
    assert found.high == pytest.approx(1.0 + 0.196 + 0.3, abs=1e-4)
    drawn = get_divergence("kl").estimate(1.0, 0.1, draws=np.linspace(-0.5, 0.5, 1001), level=0.8)
    assert (drawn.low, drawn.high) == (pytest.approx(0.6), pytest.approx(1.4))
    told = get_divergence("kl").estimate(1.0, np.inf, level=0.8, method="learned")
    assert (told.method, told.level, told.low, told.high) == ("learned", 0.8, 0.0, np.inf)


def test_the_slope_of_a_generator_that_overflows_is_infinite():
    rows = get_divergence(chi2_f).linearise([800.0, 0.0], [0.0])
    assert rows.p_slope[0] == np.inf and rows.p_slope[1] == pytest.approx(0.0, abs=1e-9)


def test_overflow_in_some_draws():
    t = np.array([[1.0, 2.0], [1.0, 1000.0]])
    with pytest.warns(UserWarning, match=r"log\(1 \+ chi2\) is at most 999\.307"):
        values = get_divergence("chi2").value(t, t)
    assert values[0] == pytest.approx((np.e + np.e**2) / 2 - 1)
    assert values[1] == np.inf


def test_overflow_of_a_generator_is_explained():
    for f, t in ((chi2_f, 1000.0), (neyman_f, -1000.0)):
        with pytest.warns(UserWarning, match="above the largest float"):
            assert get_divergence(f).value([t, 0.0], [t, 0.0]) == np.inf


@pytest.mark.filterwarnings("error")
def test_a_sum_may_overflow_where_the_mean_does_not():
    value = get_divergence("chi2").value(np.full(1000, 709.0), [0.0])
    assert value == pytest.approx(np.exp(709.0), rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_infinite_log_ratios():
    t = np.array([np.inf, 1.0])
    assert get_divergence("kl").value(t, [0.0]) == np.inf
    assert get_divergence("chi2").value(t, [0.0]) == np.inf
    assert get_divergence("reverse-kl").value([0.0], -t) == np.inf
    assert get_divergence("kl").value(-t, [0.0]) == -np.inf
    assert get_divergence("tv").value([np.inf], [-np.inf]) == 1.0
    with pytest.raises(ValueError, match=r"\+inf and -inf"):
        get_divergence("kl").value([np.inf, -np.inf], [0.0])


# --- the door -------------------------------------------------------------------------


def test_unknown_names_say_what_is_allowed():
    with pytest.raises(ValueError, match=r"spec must be one of 'kl', .*'tv', .*received 'kll'"):
        get_divergence("kll")
    with pytest.raises(ValueError, match=r"finite order, as in 'alpha:0.5'; received 'alpha'"):
        get_divergence("alpha")
    for spec in ("alpha:x", "alpha:inf", "renyi:nan", "renyi:"):
        with pytest.raises(ValueError, match=f"finite order.*received '{spec}'"):
            get_divergence(spec)
    with pytest.raises(ValueError, match="order above 0; received -1"):
        get_divergence("renyi:-1")
    with pytest.raises(TypeError, match="received int"):
        get_divergence(3)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda r: r * np.log(r) + 1, r"f\(1\) = 0; received f\(1\) = 1"),
        (lambda r: 0.0 if r == 1 else 1.0, "accepts an array.*raised ValueError"),
        (lambda r: 0.0, "same shape"),
        (lambda r: np.log(r), "convex"),
        (lambda r: "no", "accepts an array"),
    ],
)
def test_bad_generators_are_refused(f, message):
    with pytest.raises(ValueError, match=message):
        get_divergence(f)


def test_a_generator_that_is_not_defined_is_refused():
    with pytest.raises(ValueError, match="received NaN at r = "):
        get_divergence(lambda r: np.where(r < 1e-3, np.nan, (r - 1) ** 2))


def test_names_are_forgiving_and_read_back():
    assert get_divergence(" Reverse_KL ").name == "reverse-kl"
    assert get_divergence("pearson") == get_divergence("chi2")
    for spec in [*NAMES, "alpha:0.12345678901", "renyi:1e-3"]:
        d = get_divergence(spec)
        assert get_divergence(d.name).name == d.name
        t = np.array([0.3, -0.4])
        assert get_divergence(d.name).value(t, t) == d.value(t, t)
    assert get_divergence("alpha:2").name == "alpha:2"
    assert get_divergence("alpha:0.12345678901").name == "alpha:0.12345678901"
    d = get_divergence("kl")
    assert get_divergence(d) is d
    assert get_divergence(kl_f).name == "f:kl_f"


@pytest.mark.parametrize("spec", [*NAMES, kl_f])
def test_divergences_can_be_pickled(spec):
    d = get_divergence(spec)
    again = pickle.loads(pickle.dumps(d))
    assert isinstance(again, Divergence)
    t = np.array([0.3, -0.4, 1.2])
    assert again.value(t, t[:2]) == d.value(t, t[:2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [0.0]), r"log_r_p must have at least one axis and one row; received shape \(0,\)"),
        (([0.0], 1.0), r"log_r_q must have at least one axis and one row; received shape \(\)"),
        (([0.0, np.nan], [0.0]), "log_r_p must not contain NaN; received 1 NaN among 2 values"),
        ((["a"], [0.0]), "log_r_p must be an array of numbers"),
        (([0.0], [0.0], [-1.0]), "weight_p must be finite and at least 0; received .*-1"),
        (([0.0], [0.0], None, [0.0]), "weight_q must be positive for some row"),
        (([0.0], [0.0], [np.inf]), "weight_p must be finite"),
        (([0.0], [0.0, 1.0], None, [1.0]), r"weight_q must have one value for each of the 2 rows"),
        (
            (np.zeros((2, 4)), [0.0], np.ones((3, 4))),
            r"weight_p must .* broadcast against its shape \(2, 4\)",
        ),
    ],
)
def test_bad_input_is_named(arguments, message):
    d = get_divergence("kl")
    for function in (d.value, d.linearise):
        with pytest.raises(ValueError, match=message):
            function(*arguments)


def test_input_is_not_changed(rng):
    t, w = rng.normal(size=6), np.array([0.0, 1, 2, 3, 4, 5])
    kept = t.copy(), w.copy()
    for name in NAMES:
        get_divergence(name).value(t, t, w, w)
    np.testing.assert_array_equal(t, kept[0])
    np.testing.assert_array_equal(w, kept[1])


def test_only_numpy_scipy_special_and_checks_are_imported():
    # Of the data, the checks of arguments, the draw of some rows and how a warning is given, which
    # know nothing else.
    data = ("isthmus.data.validation", "isthmus.data.sample", "isthmus.data.telling")
    allowed = ("numpy", "scipy.special", "isthmus.typing", *data)
    standard = {"__future__", "collections.abc", "dataclasses", "functools", "math", "typing"}
    standard.add("warnings")
    package = "isthmus.functionals"
    for path in Path(isthmus.functionals.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                relative = "." * node.level + (node.module or "")
                names = [resolve_name(relative, package) if node.level else node.module]
            else:
                continue
            for name in names:
                own = name.startswith((*allowed, f"{package}."))
                assert own or name in standard, (path.name, name)
