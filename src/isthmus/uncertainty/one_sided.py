"""Divergences where one sample has levels that the other lacks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..crossfit import CrossFit
from ..data.sample import Sample, TwoSamples
from ..functionals import Divergence, Estimate
from ..tables.onesided import OneSided, OneSidedRows


def infinite_for(divergence: Divergence, found: OneSidedRows) -> list[OneSided]:
    """Levels that make a divergence infinite: p's alone make KL(p‖q) so, q's alone KL(q‖p)."""
    with np.errstate(all="ignore"):
        ends = {
            "p": float(divergence.p_term(np.array([np.inf]))[0]),
            "q": float(divergence.q_term(np.array([-np.inf]))[0]),
        }
    unbounded = divergence.upper == np.inf
    return [one for one in found.levels if unbounded and not ends[one.side] < np.inf]


def with_infinite_value(
    found: Estimate, divergence: Divergence, rows: OneSidedRows, labels: tuple[str, str]
) -> Estimate:
    """The estimate, or an infinite one with the reason, where a sample lacks levels."""
    levels = infinite_for(divergence, rows)
    if not levels:
        return found
    return replace(
        found,
        value=np.inf,
        std_error=np.inf,
        high=np.inf,
        reason=" and ".join(one.in_words(labels) for one in levels[:2]),
    )


def without_one_sided(
    samples: TwoSamples, crossfit: CrossFit, rows: OneSidedRows
) -> tuple[TwoSamples, CrossFit]:
    r"""The samples without rows that have such levels, which weigh nothing then.

    If the shares s of these rows are known, the ratio of what is left is that of all rows but
    for a constant, :math:`p'/q' = (p/q) (1 - s_q) / (1 - s_p)`.
    """
    rest = [
        Sample(sample.rows, np.where(at, 0.0, sample.weight))
        for sample, at in zip(samples, (rows.p, rows.q), strict=True)
    ]
    left = [
        float(sample.weight.sum() / whole.weight.sum())
        for sample, whole in zip(rest, samples, strict=True)
    ]
    return TwoSamples.both(rest), crossfit.shifted(float(np.log(left[1] / left[0])))
