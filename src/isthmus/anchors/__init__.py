"""Anchors: simple generative fits that a class's critic starts from.

An anchor is any object with ``fit(X)`` and ``score_samples(X)``; the critic
learns only what the anchor has not seen.
"""

from .automatic import AutoAnchor
from .copula import CopulaAnchor
from .elliptical import Component, mixture_log_density
from .fit import fit_anchor
from .gaussian import GaussianAnchor
from .mixed import mixed_anchor
from .mixture import MixtureAnchor
from .pair import anchor_pair, fit_anchors, resolve_anchor
from .pooled import Moved, Pooled
from .student_t import StudentTAnchor

__all__ = [
    "AutoAnchor",
    "Component",
    "CopulaAnchor",
    "GaussianAnchor",
    "MixtureAnchor",
    "Moved",
    "Pooled",
    "StudentTAnchor",
    "anchor_pair",
    "fit_anchor",
    "fit_anchors",
    "mixed_anchor",
    "mixture_log_density",
    "resolve_anchor",
]
