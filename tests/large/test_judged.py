"""Very many rows: intervals reach over what the rows say against the ratio."""

import numpy as np
import pytest

import isthmus
from isthmus.data.validation import as_two_samples
from isthmus.functionals import get_divergence
from isthmus.functionals.binned import Binned, BinnedRatios
from isthmus.large.judged import Counting, JudgedRatios, misfit
from isthmus.large.pieces import Piece

STEP = 0.3


def stepped(n, seed, step):
    """Normals of two columns, 0.3 apart in the second; p has a gap in the first."""
    rng = np.random.default_rng(seed)
    p, q = rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    p[:, 1] += 0.3
    p[:, 0] += step * (p[:, 0] > 0)
    return p, q


def truth(step):
    """In closed form: that of the shift, and half of the rows moved by the step."""
    return 0.045 + 0.5 * (step * np.sqrt(2 / np.pi) + 0.5 * step**2)


def test_a_family_that_is_not_that_of_the_rows(small, normals):
    """Two normals see no gap; the counts of all rows do, and the interval reaches over it."""
    with pytest.warns(UserWarning, match="All rows together contradict the fitted ratio"):
        c = isthmus.compare(*stepped(20_000, 0, STEP), estimator=normals, random_state=0)
    found = c.by_fit("kl")
    assert found.value < 0.7 * truth(STEP)
    assert found.low < truth(STEP) < found.high
    assert c.divergence("js").high > 1.5 * c.divergence("js").value


@pytest.mark.parametrize("seed", range(3))
def test_a_right_family_loses_nothing(small, normals, seed):
    """What may be chance is not counted, so the interval is that of the error alone."""
    c = isthmus.compare(*stepped(20_000, seed, 0.0), estimator=normals, random_state=0)
    assert c.all_rows.binned.misfit == 0.0


def test_misfit_is_a_lower_bound_that_is_near():
    """Of a ratio that is one everywhere it is all of a divergence that one column holds."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, (50_000, 1)), rng.normal(size=(50_000, 1))
    samples = as_two_samples(p[:2000], q[:2000])
    nothing = np.zeros(2000), np.zeros(2000)
    of_p, of_q = Counting.both(samples, nothing, (50_000, 50_000))
    counts = [
        one(Piece(x, None, np.arange(len(x))), np.zeros(len(x)))
        for one, x in zip((of_p, of_q), (p, q), strict=True)
    ]
    assert 0.11 < misfit(*counts) < 0.125 + 3 * 0.5 / np.sqrt(50_000)


def test_across_a_chasm_counts_say_nothing(small):
    """No row of q lies where p is: families decide there, and the interval says which."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(-1, 0.08, (4000, 1)), rng.normal(2, 0.15, (4000, 1))
    c = isthmus.compare(p, q, random_state=0)
    assert c.all_rows.binned.misfit == 0.0
    assert c.kl.low < 200.27 < c.kl.high


def test_a_learned_ratio_is_as_uncertain_as_its_sample():
    """The mean over all rows of a ratio from a sample has at least the error of the sample."""
    rng = np.random.default_rng(0)
    p, q = rng.normal(0.5, 1, 40_000), rng.normal(-0.5, 1, 40_000)
    kl, sample = get_divergence("kl"), BinnedRatios(Binned.of(p[:400]), Binned.of(q[:400]))
    every = JudgedRatios(Binned.of(p), Binned.of(q), 0.0, sample)
    assert every.efficient_error(kl, 0.99) > sample.efficient_error(kl, 0.99)
    assert every.std_error(kl) == BinnedRatios(every.p, every.q).std_error(kl)
