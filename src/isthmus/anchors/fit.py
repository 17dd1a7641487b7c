"""From what a user passes as ``anchor`` to fitted anchors of p and of q."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..data.moments import column_moments
from ..data.sample import Sample, TwoSamples
from ..data.validation import check_option
from ..maps.coordinates import Coordinates, Surroundings
from ..typing import Anchor, Array
from .elliptical import OneComponent


class Pooled(BaseEstimator):
    """What p and q share, fitted to both samples together.

    The critic then has the rest of the difference to learn. Where p and q are alike,
    or rows are few for the number of columns, nothing is to be learned or little,
    and the noise of two separate fits is spared.

    Parameters
    ----------
    anchor : str or anchor
        What to fit.
    places : {"one", "two"}
        "one": the same anchor for p and for q. "two": the same shape around the mean of
        each sample, as in linear discriminant analysis; the anchor must be of
        one component, such as "gaussian" or "student-t".
    """

    def __init__(self, anchor: Any = "gaussian", places: str = "one") -> None:
        self.anchor = anchor
        self.places = places


class Moved(OneComponent):
    """A fitted anchor of one component, moved to another place."""

    def __init__(self, anchor: Any, by: Array) -> None:
        self.anchor, self.by = anchor, by
        self.component_ = replace(anchor.component_, mean=anchor.component_.mean + by)


def resolve_anchor(spec: Any) -> Anchor:
    """Turn a name or an anchor into an unfitted anchor; the caller's object is copied."""
    from . import BY_NAME

    if isinstance(spec, str):
        check_option(spec, "anchor", [*BY_NAME, None])
        named: Anchor = BY_NAME[spec]()
        return named
    for name in ("fit", "score_samples"):
        if not callable(getattr(spec, name, None)):
            raise ValueError(
                f"anchor must be one of {', '.join(map(repr, BY_NAME))}, None, or have fit(X) and "
                f"score_samples(X); received a {type(spec).__name__} without {name}."
            )
    copy: Anchor = clone(spec, safe=False)
    return copy


def anchor_pair(spec: Any) -> tuple[Any, Any]:
    """Specifications for p and for q: one for both, or a pair."""
    return tuple(spec) if isinstance(spec, (list, tuple)) else (spec, spec)


def fit_anchor(anchor: Any, sample: Sample, surroundings: Surroundings | None = None) -> Any:
    """Fit an anchor, with the weights and the surroundings where its ``fit`` takes them."""
    given: dict[str, Any] = {"surroundings": surroundings}
    if sample.weighted:
        given["sample_weight"] = sample.weight
    known = inspect.signature(anchor.fit).parameters
    return anchor.fit(
        sample.rows,
        **{name: value for name, value in given.items() if value is not None and name in known},
    )


def fit_anchors(spec: Any, samples: TwoSamples, where: Coordinates) -> list[Any]:
    """Fitted anchors of p and of q, given in coordinates; what they share where it is pooled.

    ``spec`` is an anchor, a name, a pair of these, :class:`Pooled`, or None for no anchors.
    """
    if spec is None:
        return []
    if isinstance(spec, Pooled):
        return _fit_pooled(spec, samples, where)
    p, q = samples
    return [
        fit_anchor(resolve_anchor(one), own, where.surroundings(other.rows))
        for one, own, other in zip(anchor_pair(spec), (p, q), (q, p), strict=True)
    ]


def _fit_pooled(spec: Pooled, samples: TwoSamples, where: Coordinates) -> list[Any]:
    apart = spec.places == "two"
    places = [column_moments(sample)[0] if apart else np.zeros(1) for sample in samples]
    rows = np.concatenate(
        [sample.rows - place for sample, place in zip(samples, places, strict=True)]
    )
    if len(samples.p) == len(samples.q) and not samples.weighted:
        both = Sample.of(rows)
    else:
        # Each sample counts for half, whatever its size.
        both = Sample(rows, 0.5 * len(rows) * np.concatenate([one.share for one in samples]))
    shared = fit_anchor(resolve_anchor(spec.anchor), both, where.surroundings(rows))
    return [Moved(shared, place) for place in places] if apart else [shared, shared]


def bias_of(anchor: Any) -> float:
    """Bias of an anchor's log-density; zero for another's that does not know it."""
    return float(getattr(anchor, "bias_", 0.0))


def has_influence(anchor: Any) -> bool:
    """Whether an anchor is a normal by moments: what every row did to it has a formula."""
    return bool(getattr(anchor, "influence", False))
