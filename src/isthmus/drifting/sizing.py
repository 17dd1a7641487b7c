"""How far a window is from the reference: a divergence that does not depend on the rows' number.

Regressions on columns, on waves and products of them, and trees are fitted without a fold and asked
about it; one regression weighs them. Fits to fewer rows show what is still to be learned.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from ..candidates import Candidate, Ridge, Rows, Sparse, Trees
from ..crossfit import Smaller
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..functionals import Estimate, get_divergence
from ..functionals.f_divergence import Divergence
from ..selection.weighing import Pair, weigh
from ..typing import Array, IntArray
from ..uncertainty.learning import learned_estimate

CANDIDATES: tuple[Candidate, ...] = (Ridge(), Sparse(), Trees())
_FOLDS = 3
_PARTS = 3
_CHOICE_ROWS = 2000


@dataclass(frozen=True)
class Sized:
    """A divergence, and log(window/reference) at rows by fits that have not seen them."""

    estimate: Estimate
    log_ratio_p: Array
    log_ratio_q: Array


def sized(window: Array, reference: Array, divergence: str, level: float, seeds: Seeds) -> Sized:
    """Estimate a divergence of the window from the reference, both encoded."""
    samples = TwoSamples.of(window, reference)
    found = get_divergence(divergence)
    if not window.shape[1]:
        nothing = np.zeros(len(window)), np.zeros(len(reference))
        estimate = Estimate(0.0, 0.0, 0.0, 0.0, level, "learned")
        return Sized(estimate, *nothing)
    rows = Rows.of(samples)
    with warnings.catch_warnings():
        # What a small fit has to say of itself is no news of the window.
        warnings.simplefilter("ignore")
        settled = [
            one.settled(rows.bounded(_CHOICE_ROWS), seeds)
            for one in CANDIDATES
            if one.suits(samples)
        ]
        rng = seeds("folds")
        fold = _parts(len(window), _FOLDS, rng), _parts(len(reference), _FOLDS, rng)
        log_p, log_q = _crossed(settled, rows, fold, seeds, leave_out=True)
        part = _parts(len(window), _PARTS, rng), _parts(len(reference), _PARTS, rng)
        fewer = _crossed(settled, rows, part, seeds, leave_out=False)
    smaller = Smaller(*fewer, 1.0 / _PARTS, 1.0 - 1.0 / _FOLDS)
    weights = np.ones(len(window)), np.ones(len(reference))
    estimate = learned_estimate(found, (log_p, log_q, *weights), smaller, level)
    return Sized(_no_surer_than_rows(estimate, samples, found), log_p, log_q)


def _no_surer_than_rows(e: Estimate, samples: TwoSamples, divergence: Divergence) -> Estimate:
    """The estimate with an upper end of at least what so many rows may hide.

    Where nothing was found the ratio is one everywhere, without any noise. But a mean that is moved
    by z standard errors hides among k columns until z is about sqrt(2 log k).
    """
    error = np.sqrt(1.0 / len(samples.p) + 1.0 / len(samples.q))
    hidden = np.sqrt(2.0 * np.log(max(samples.n_columns, 2))) + ndtri(0.5 + 0.5 * e.level)
    high = min(max(e.high, _of_shift(divergence, hidden * error)), divergence.upper)
    return replace(e, high=high, std_error=max(e.std_error, _of_shift(divergence, error)))


def _of_shift(divergence: Divergence, shift: float) -> float:
    """A divergence of two normal distributions that are so many standard deviations apart."""
    z = ndtri((np.arange(2000) + 0.5) / 2000)
    return float(divergence.value(shift * (z + 0.5 * shift), shift * (z - 0.5 * shift)))


def _parts(n: int, count: int, rng: np.random.Generator) -> IntArray:
    return rng.permutation(np.arange(n) % count)


def _crossed(
    candidates: list[Candidate],
    rows: Rows,
    part: tuple[IntArray, IntArray],
    seeds: Seeds,
    *,
    leave_out: bool,
) -> Pair:
    """Weighed log-ratios: of each part by fits to the others, or by a fit to one other part."""
    parts = int(part[0].max()) + 1
    found = [(np.empty(len(part[0])), np.empty(len(part[1]))) for _ in candidates]
    for k in range(parts):
        asked = [one == k for one in part]
        seen = [~one for one in asked] if leave_out else [one == (k + 1) % parts for one in part]
        train, held = rows.take(*seen), rows.take(*asked)
        for one, pair in zip(candidates, found, strict=True):
            fit = one.fit(train, seeds)
            for r, at, sample, before in zip(pair, asked, held.samples, held.before, strict=True):
                r[at] = fit.log_ratio(sample.rows, before)
    return weigh(found, rows.samples, *part).ratios
