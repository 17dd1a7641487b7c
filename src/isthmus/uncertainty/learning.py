r"""An interval that knows what is still to be learned.

A ratio that is learned from rows and regularised errs towards one, and more rows bring it nearer
to the truth. Fits to fewer rows show by how much: with :math:`D_n` the divergence at rows that
fits to n rows have not seen, :math:`D_n \approx D - c\,n^{-a}`, where a is 1 for a family of
finite size and falls to 1/2, 1/3 and below for anything learned without one. The value goes as
far as a = 3/4 takes it, less where the difference may be noise; the interval reaches from what was
learned to where a = 1/3 leads.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..crossfit import Smaller
from ..functionals import Estimate
from ..functionals.binned import BinnedRatios
from ..functionals.f_divergence import Divergence
from ..typing import Array
from .delta import Ratios

FAST, SLOW = 0.75, 1.0 / 3.0
"""Rates of learning: of the value, and of the upper end."""

_TOP = 0.99


def learned_estimate(
    divergence: Divergence,
    ratios: Ratios,
    smaller: Smaller | None,
    level: float,
    every: BinnedRatios | None = None,
) -> Estimate:
    """A divergence of held-out log-ratios, with an interval up to where learning leads.

    Parameters
    ----------
    divergence : Divergence
    ratios : log-ratios at the rows of p and of q, and their weights
    smaller : Smaller or None
        What fits to fewer rows gave.
    level : float
    every : BinnedRatios, optional
        Log-ratios of very many rows, of which ``ratios`` are those of a sample: the fit to the
        sample has seen all of the sample, and none of the others.
    """
    value = here = float(divergence.value(*ratios))
    # A row of q with a ratio beyond nearly all of p's is off, and would be all of the error.
    if every is not None:
        value, error = every.value(divergence), every.efficient_error(divergence, _TOP)
    else:
        top = float(np.quantile(ratios[0], _TOP))
        terms = divergence.influences(ratios[0], np.minimum(ratios[1], top), *ratios[2:])
        error = _std_error(terms, ratios)
    if smaller is None or not np.isfinite(error):
        return divergence.estimate(value, error, level=level, method="learned")
    fewer: Ratios = (smaller.log_ratio_p, smaller.log_ratio_q, *ratios[2:])
    gain = here - float(divergence.value(*fewer))
    noise = _noise(divergence, ratios, fewer)
    further = max(gain, 0.0)
    seen = None if every is None else 1.0
    sure = further**2 / (further**2 + noise**2) if further > 0 else 0.0
    below = sure * smaller.ahead(FAST, seen) * further
    error = float(np.hypot(error, sure * smaller.ahead(FAST, seen) * noise))
    # No gain that was seen is no gain: half of its noise may have hidden one.
    above = smaller.ahead(SLOW, seen) * max(further, 0.5 * noise) - below
    value = min(value + below, divergence.upper)
    return divergence.estimate(value, error, (below, above), level=level, method="learned")


def further_end(divergence: Divergence, ratios: Ratios, smaller: Smaller | None) -> float:
    """How far above a divergence of fitted densities its learning curve leads.

    Densities of a flexible family, such as mixtures, come nearer to the truth with more rows too.
    What may be noise is not counted.
    """
    if smaller is None:
        return 0.0
    fewer: Ratios = (smaller.log_ratio_p, smaller.log_ratio_q, *ratios[2:])
    gain = float(divergence.value(*ratios)) - float(divergence.value(*fewer))
    if not gain > _noise(divergence, ratios, fewer):
        return 0.0
    return smaller.ahead(SLOW) * gain


def paired_error(
    divergence: Divergence, ratios: Ratios, other: tuple[Array, Array], level: float
) -> float:
    """How far the difference of a divergence by two fits at the same rows may be off."""
    noise = _noise(divergence, ratios, (*other, *ratios[2:]))
    return float(ndtri(0.5 + 0.5 * level)) * noise if np.isfinite(noise) else 0.0


def _noise(divergence: Divergence, ratios: Ratios, fewer: Ratios) -> float:
    """Standard error of the difference of a divergence by two fits at the same rows."""
    pairs = zip(divergence.linearise(*ratios)[:2], divergence.linearise(*fewer)[:2], strict=True)
    with np.errstate(invalid="ignore"):
        p, q = (a - b for a, b in pairs)
    return _std_error((p, q), ratios)


def _std_error(terms: tuple[Array, Array], ratios: Ratios) -> float:
    """Root of the sum of the squares of what the rows do."""
    total = 0.0
    for term, weight in zip(terms, ratios[2:], strict=True):
        share = weight / weight.sum()
        counts = share > 0
        if not np.isfinite(term[counts]).all():
            return np.inf
        with np.errstate(over="ignore", invalid="ignore"):
            gap = term[counts] - share[counts] @ term[counts]
            total += float((share[counts] ** 2) @ gap**2)
    return float(np.sqrt(total)) if np.isfinite(total) else np.inf
