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
from .elliptical import Component, mixture_log_density
from .gaussian import GaussianAnchor
from .mixture import MixtureAnchor
from .student_t import StudentTAnchor

__all__ = [
    "AutoAnchor",
    "Component",
    "GaussianAnchor",
    "MixtureAnchor",
    "StudentTAnchor",
    "fit_anchor",
    "mixture_log_density",
    "resolve_anchor",
]

BY_NAME = {
    "gaussian": GaussianAnchor,
    "student-t": StudentTAnchor,
    "mixture": MixtureAnchor,
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


def fit_anchor(anchor: Any, X: Array, weight: Array | None) -> Any:
    """Fit an anchor, with the weights where its ``fit`` takes them."""
    if weight is not None and "sample_weight" in inspect.signature(anchor.fit).parameters:
        return anchor.fit(X, sample_weight=weight)
    return anchor.fit(X)
