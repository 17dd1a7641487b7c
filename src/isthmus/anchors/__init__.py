"""Anchors: simple generative fits that a class's critic starts from.

An anchor is any object with ``fit(X)`` and ``score_samples(X)``; the critic
learns only what the anchor has not seen.
"""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import clone

from .._typing import Array
from .._validation import check_option
from .automatic import AutoAnchor
from .copula import CopulaAnchor
from .elliptical import Component, mixture_log_density
from .gaussian import GaussianAnchor
from .mixed import mixed_anchor
from .mixture import MixtureAnchor
from .pooled import Moved, Pooled, centre
from .student_t import StudentTAnchor
from .surroundings import Surroundings

__all__ = [
    "AutoAnchor",
    "Component",
    "CopulaAnchor",
    "GaussianAnchor",
    "MixtureAnchor",
    "Moved",
    "Pooled",
    "StudentTAnchor",
    "Surroundings",
    "anchor_pair",
    "centre",
    "fit_anchor",
    "mixed_anchor",
    "mixture_log_density",
    "resolve_anchor",
]

BY_NAME = {
    "gaussian": GaussianAnchor,
    "student-t": StudentTAnchor,
    "mixture": MixtureAnchor,
    "copula": CopulaAnchor,
    "auto": AutoAnchor,
}


def resolve_anchor(spec: Any, covariance: str = "full") -> Any:
    """Turn a name or an anchor into an unfitted anchor; the caller's object is copied."""
    if isinstance(spec, str):
        check_option(spec, "anchor", [*BY_NAME, None])
        return GaussianAnchor(covariance) if spec == "gaussian" else BY_NAME[spec]()
    for name in ("fit", "score_samples"):
        if not callable(getattr(spec, name, None)):
            raise ValueError(
                f"anchor must be one of {', '.join(map(repr, BY_NAME))}, None, or have fit(X) and "
                f"score_samples(X); received a {type(spec).__name__} without {name}."
            )
    return clone(spec, safe=False)


def anchor_pair(spec: Any) -> tuple[Any, Any]:
    """Specifications for p and for q: one for both, or a pair."""
    return tuple(spec) if isinstance(spec, (list, tuple)) else (spec, spec)


def fit_anchor(
    anchor: Any, X: Array, weight: Array | None, surroundings: Surroundings | None = None
) -> Any:
    """Fit an anchor, with the weights and the surroundings where its ``fit`` takes them."""
    given: dict[str, Any] = {"sample_weight": weight, "surroundings": surroundings}
    known = inspect.signature(anchor.fit).parameters
    return anchor.fit(
        X, **{name: value for name, value in given.items() if value is not None and name in known}
    )
