"""Two fitted densities: which, and what others with lighter or heavier tails would say."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from .anchors import MixedAnchor
from .auxiliaries.discrete import has_atoms
from .data.holdout import MOST_GAIN, paired_gain
from .data.sample import TwoSamples
from .data.seeds import Seeds
from .data.telling import quiet
from .mdre import MDRE
from .selection.weighing import Pair, error_of

SEPARATE = 0.02
"""Share of rows on the wrong side, below which the samples count as separate: classifying them then
says little about their ratio."""

_REFUSED = 10.0
_SOME_ROWS = 1500


def fit_densities(samples: TwoSamples, seeds: Seeds) -> MDRE:
    """Two fitted densities: of the best family, or simple ones where columns have levels.

    A column of a few values has no density, and the search for the best family would be in vain.
    Where p and q overlap normals are enough to begin with; across a chasm levels are counted.
    """
    normal = MDRE(anchor="gaussian", critic="quadratic", l2=np.inf, random_state=seed_of(seeds))
    if has_atoms(*(sample.rows for sample in samples)):
        normal.set_params(auxiliaries=None)
        levels: MDRE = clone(normal).set_params(anchor=MixedAnchor(), maps=None)
        # Some rows tell whether levels keep the samples apart; that they lack rare ones is no news.
        with quiet():
            apart = _separate(levels, samples.bounded(_SOME_ROWS))
        if apart:
            levels.fit_samples(samples)
            return levels
        if not _separate(normal, samples):
            return normal
    normal.set_params(anchor="auto", auxiliaries="auto").fit_samples(samples)
    return normal


def _separate(model: MDRE, samples: TwoSamples) -> bool:
    """Fit, and tell whether hardly a row lies on the wrong side."""
    model.fit_samples(samples)
    p, q = (model.log_ratio_at(sample.rows) for sample in samples)
    return error_of((p, q), samples) < SEPARATE


def other_tails(densities: MDRE, samples: TwoSamples) -> tuple[Pair, ...]:
    """Log-ratios of two normals and of two Student-t, in the coordinates of other densities.

    Rows may refuse them, but none lies as far out as the other sample does: tails may be as light
    there, or as heavy. Only what is refused by very many standard errors is left out.
    """
    out = []
    for anchor in ("gaussian", "student-t"):
        other = MDRE(maps=densities.best_params_["maps"], anchor=anchor, auxiliaries=None)
        other.set_params(critic="quadratic", l2=np.inf).fit_samples(samples)
        likelier = [
            paired_gain(
                [densities.model_.critics(sample.rows)[:, k]],
                [other.model_.critics(sample.rows)[:, k]],
                [sample.share],
                most=MOST_GAIN,
            )
            for k, sample in enumerate(samples)
        ]
        if not any(gain.above(_REFUSED) for gain in likelier):
            p, q = (other.log_ratio_at(sample.rows) for sample in samples)
            out.append((p, q))
    return tuple(out)


def seed_of(seeds: Seeds) -> int:
    """The seed of a fit, as a number."""
    return int(seeds("fit").integers(2**31))
