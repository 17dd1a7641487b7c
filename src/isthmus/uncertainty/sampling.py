"""Draws of the log-ratio with the covariance over samples, by whichever way there is."""

from __future__ import annotations

from ..mdre import MDRE
from .bootstrap import bootstrap
from .laplace import laplace
from .posterior import Posterior

_REPLICATES = 50


def sampling_uncertainty(mdre: MDRE) -> Posterior:
    """Draws of a fitted model as other samples of the same size would give them.

    By the delta method where every row's influence is known, by 50 fits to rows drawn again
    otherwise. The seed is fixed, so that the answer is the same when asked for again.
    """
    if isinstance(mdre, MDRE) and mdre.model_.has_influence:
        return laplace(mdre, covariance="sandwich", random_state=0)
    return bootstrap(mdre, replicates=_REPLICATES, random_state=0)
