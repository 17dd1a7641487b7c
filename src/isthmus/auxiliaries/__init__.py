"""Auxiliary distributions: what joins p and q.

Each has ``fit(p, q)``, ``sample(n, rng)`` and, where its density is known,
``log_density(x)``. A new auxiliary is a file, and its name here.
"""

from typing import Any

from .bridge import Bridge
from .mixing import DimensionWiseMixing, LinearMixing, Samples
from .overlapping import Cauchy, Normal, StudentT, TruncatedNormal, Uniform
from .resolve import fit_auxiliary, is_known, resolve_auxiliaries
from .shuffled import ShuffledColumns
from .smoothed import SmoothedMixture

BY_NAME: dict[str, Any] = {
    "auto": Bridge,
    "bridge": Bridge,
    "cauchy": Cauchy,
    "student-t": StudentT,
    "normal": Normal,
    "uniform": Uniform,
    "truncated-normal": TruncatedNormal,
    "smoothed-mixture": SmoothedMixture,
    "shuffled": ShuffledColumns,
    "linear": LinearMixing,
    "dimension-wise": DimensionWiseMixing,
}

__all__ = [
    "BY_NAME",
    "Bridge",
    "Cauchy",
    "DimensionWiseMixing",
    "LinearMixing",
    "Normal",
    "Samples",
    "ShuffledColumns",
    "SmoothedMixture",
    "StudentT",
    "TruncatedNormal",
    "Uniform",
    "fit_auxiliary",
    "is_known",
    "resolve_auxiliaries",
]
