"""Labelled samples that the speed benchmarks share: p, q and what joins them, as arrays."""

from __future__ import annotations

import numpy as np

from isthmus import problems
from isthmus.auxiliaries import fit_auxiliary, resolve_auxiliaries
from isthmus.data.sample import TwoSamples


def classes(problem: str, rows: int, seed: int) -> list[np.ndarray]:
    """Rows of p, q and each of the paper's auxiliaries, the same number of each.

    Parameters
    ----------
    problem : str
        Name in :mod:`isthmus.problems`.
    rows : int
        Rows in all; every class gets an equal share.
    seed : int
    """
    pair = problems.load(problem)
    auxiliaries = resolve_auxiliaries(pair.auxiliaries, pair.dim)
    each = rows // (2 + len(auxiliaries))
    p, q = pair.sample_p(each, seed), pair.sample_q(each, seed)
    rng = np.random.default_rng(seed)
    samples = TwoSamples.of(p, q)
    drawn = [fit_auxiliary(m, samples).sample(each, rng) for m in auxiliaries]
    return [p, q, *drawn]
