"""What every row does to a divergence of which nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus.functionals import get_divergence


def squares(r):
    return (r - 1) ** 2


def entropy(r):
    return r * np.log(r)


SPECS = ["kl", "reverse-kl", "js", "hellinger", "chi2", "neyman", "alpha:0.3", "renyi:2", "tv"]
SPECS += ["alpha:0.5", "alpha:-1", "alpha:3", "renyi:0.5", "renyi:0.3", squares, entropy]


def levels(seed=0, k=6):
    """Two distributions over a few levels."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 3.0)), rng.dirichlet(np.full(k, 3.0))


def exact(divergence, p, q):
    """The divergence of two distributions over levels: the log-ratio follows the shares."""
    t = np.log(p / q)
    return float(divergence.value(t, t, p, q))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("side", [0, 1])
def test_against_differences_under_other_shares(spec, side):
    divergence, own = get_divergence(spec), levels()
    t = np.log(own[0] / own[1])
    terms = divergence.influences(t, t, *own)[side]
    terms = terms - own[side] @ terms
    step = 1e-6
    for level in range(len(t)):
        there = np.eye(len(t))[level]
        ends = []
        for sign in (1.0, -1.0):
            moved = list(own)
            moved[side] = own[side] + sign * step * (there - own[side])
            ends.append(exact(divergence, *moved))
        # Central differences: an error of about 1e-16 / 1e-6.
        assert terms[level] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("spec", ["kl", "js", "chi2"])
def test_they_are_the_spread_over_samples(spec):
    # Where the ratio is learned from the rows, by counting levels.
    rng, divergence = np.random.default_rng(0), get_divergence(spec)
    p, q = levels(1, 4)
    n = 4000
    values = [
        exact(divergence, rng.multinomial(n, p) / n, rng.multinomial(n, q) / n) for _ in range(400)
    ]
    t = np.log(p / q)
    variance = sum(
        share @ (term - share @ term) ** 2 / n
        for share, term in zip((p, q), divergence.influences(t, t, p, q), strict=True)
    )
    # A standard deviation of 400 values has a relative error of 3.5 %: four of these.
    assert np.std(values) == pytest.approx(np.sqrt(variance), rel=0.15)


def test_infinite_ratios_do_not_raise():
    t = np.array([-np.inf, 0.0, np.inf])
    p, q = get_divergence("kl").influences(t, t)
    assert p.shape == q.shape == (3,)


@pytest.mark.parametrize("spec", SPECS)
def test_log_ratios_of_any_size(spec):
    t = np.array([-np.inf, -5000.0, -800.0, -30.0, 0.0, 30.0, 800.0, 5000.0, np.inf])
    if not (isinstance(spec, str) and spec.startswith("renyi")):  # an infinite mean has no slope
        assert not np.isnan(get_divergence(spec).influences(t, t)).any()
    assert not np.isnan(get_divergence(spec).influences(t[1:-1], t[1:-1])).any()


def test_far_apart_to_the_digit():
    t = np.array([-2000.0, 2000.0])
    for spec, p, q in [
        ("kl", [-1999.0, 2001.0], [0.0, -np.inf]),
        ("reverse-kl", [-np.inf, 0.0], [2001.0, -1999.0]),
        ("js", [np.log(2) / 2 - 1000.0, np.log(2) / 2], [np.log(2) / 2, np.log(2) / 2 - 1000.0]),
        ("tv", [-0.5, 0.5], [0.5, -0.5]),
        ("alpha:2", [-1.0, np.inf], [0.5, -np.inf]),
    ]:
        found = get_divergence(spec).influences(t, t)
        np.testing.assert_allclose(found, [p, q], rtol=1e-14, err_msg=spec)
