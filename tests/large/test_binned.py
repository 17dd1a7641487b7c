"""Log-ratios in bins: the same divergences, errors and counts as of the rows themselves."""

import numpy as np
import pytest

from isthmus.functionals import get_divergence
from isthmus.functionals.binned import Binned, BinnedRatios
from isthmus.uncertainty.delta import delta_std_error, linearised

SPECS = ("kl", "reverse-kl", "js", "hellinger", "chi2", "neyman", "tv", "alpha:0.3", "renyi:2")


@pytest.fixture(scope="module")
def ratios():
    rng = np.random.default_rng(0)
    p, q = rng.normal(1.5, 2.0, 20_000), rng.normal(-1.5, 2.0, 15_000)
    return p, q, rng.uniform(0.1, 2.0, len(p)), np.ones(len(q))


@pytest.fixture(scope="module")
def binned(ratios):
    p, q, weight, _ = ratios
    return BinnedRatios(
        Binned.of(p[:700], weight[:700]) + Binned.of(p[700:], weight[700:]), Binned.of(q)
    )


@pytest.mark.parametrize("spec", SPECS)
def test_divergences_are_those_of_the_rows(ratios, binned, spec):
    divergence = get_divergence(spec)
    assert binned.value(divergence) == pytest.approx(divergence.value(*ratios), rel=1e-6)
    linear, weights = linearised(divergence, ratios)
    error = delta_std_error(linear, *weights, None)
    assert binned.std_error(divergence) == pytest.approx(error, rel=1e-5)
    assert binned.rests_on(divergence) == pytest.approx(divergence.rests_on(*ratios), rel=1e-5)


def test_kl_is_exact(ratios, binned):
    kl = get_divergence("kl")
    assert binned.value(kl) == pytest.approx(kl.value(*ratios), rel=1e-13)


def test_far_and_infinite_ratios():
    t = np.array([0.0, 20.0, 5000.0, -5000.0, 1e12])
    found = Binned.of(t)
    assert np.average(found.values, weights=found.weight) == pytest.approx(t.mean(), rel=1e-12)
    beyond = Binned.of(np.array([0.0, np.inf]))
    assert np.isinf(get_divergence("kl").value(beyond.values, [0.0], beyond.weight, [1.0]))
    with pytest.raises(ValueError, match="NaN"):
        Binned.of(np.array([np.nan]))


def test_quantile(ratios, binned):
    assert binned.q.quantile(0.99) == pytest.approx(np.quantile(ratios[1], 0.99), abs=2e-2)
