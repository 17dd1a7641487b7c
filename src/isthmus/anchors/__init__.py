"""Anchors: simple generative fits that a class's critic starts from.

An anchor is any object with ``fit(X)`` and ``score_samples(X)``; the critic
learns only what the anchor has not seen. A new anchor is a file, and its name here.
"""

from typing import Any

from .automatic import AutoAnchor
from .copula import CopulaAnchor
from .elliptical import Component, mixture_log_density
from .fit import (
    Moved,
    Pooled,
    anchor_pair,
    bias_of,
    can_move,
    fit_anchor,
    fit_anchors,
    grows,
    has_components,
    has_influence,
    has_normal_tails,
    mixed_anchor,
    resolve_anchor,
    silent_share,
)
from .gaussian import GaussianAnchor
from .generalised_normal import GeneralisedNormalAnchor
from .mixed import MixedAnchor
from .mixture import MixtureAnchor
from .student_t import StudentTAnchor

BY_NAME: dict[str, Any] = {
    "gaussian": GaussianAnchor,
    "student-t": StudentTAnchor,
    "generalised-normal": GeneralisedNormalAnchor,
    "mixture": MixtureAnchor,
    "copula": CopulaAnchor,
    "auto": AutoAnchor,
}

__all__ = [
    "BY_NAME",
    "AutoAnchor",
    "Component",
    "CopulaAnchor",
    "GaussianAnchor",
    "GeneralisedNormalAnchor",
    "MixedAnchor",
    "MixtureAnchor",
    "Moved",
    "Pooled",
    "StudentTAnchor",
    "anchor_pair",
    "bias_of",
    "can_move",
    "fit_anchor",
    "fit_anchors",
    "grows",
    "has_components",
    "has_influence",
    "has_normal_tails",
    "mixed_anchor",
    "mixture_log_density",
    "resolve_anchor",
    "silent_share",
]
