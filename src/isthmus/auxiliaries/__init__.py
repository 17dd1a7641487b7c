"""Auxiliary distributions: what joins p and q.

Each has ``fit(p, q)``, ``sample(n, rng)`` and, where its density is known,
``log_density(x)``.
"""

from .automatic import fit_auxiliary, is_known, resolve_auxiliaries
from .bridge import Bridge
from .mixing import DimensionWiseMixing, LinearMixing, Samples
from .overlapping import Cauchy, Normal, StudentT, TruncatedNormal, Uniform
from .smoothed import SmoothedMixture

__all__ = [
    "Bridge",
    "Cauchy",
    "DimensionWiseMixing",
    "LinearMixing",
    "Normal",
    "Samples",
    "SmoothedMixture",
    "StudentT",
    "TruncatedNormal",
    "Uniform",
    "fit_auxiliary",
    "is_known",
    "resolve_auxiliaries",
]
