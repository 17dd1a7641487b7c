"""From what a user passes as ``anchor`` to fitted anchors of p, of q and of what mixes them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..data.moments import column_moments
from ..data.sample import Sample, TwoSamples
from ..data.validation import check_option
from ..maps.coordinates import Coordinates, Surroundings
from ..typing import Anchor, Array, MixingAuxiliary
from .elliptical import Component, OneComponent
from .gaussian import GaussianAnchor, shrunk_roots
from .mixture import MixtureAnchor


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

    Examples
    --------
    >>> import isthmus
    >>> from isthmus.anchors import Pooled
    >>> mdre = isthmus.MDRE(anchor=Pooled("gaussian"))  # one density for both samples
    >>> mdre.anchor.places
    'one'
    """

    def __init__(self, anchor: Any = "gaussian", places: str = "one") -> None:
        self.anchor = anchor
        self.places = places


class Moved(OneComponent):
    """A fitted anchor of one component, moved to another place.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, Moved
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> anchor = GaussianAnchor().fit(rows)
    >>> moved = Moved(anchor, np.array([3.0, 0.0]))
    >>> np.allclose(moved.score_samples(rows + [3.0, 0.0]), anchor.score_samples(rows))
    True
    """

    def __init__(self, anchor: Any, by: Array) -> None:
        self.anchor, self.by = anchor, by
        self.component_ = anchor.component_.moved(by)


def resolve_anchor(spec: Any) -> Anchor:
    """Turn a name or an anchor into an unfitted anchor; the caller's object is copied.

    Examples
    --------
    >>> from isthmus.anchors import resolve_anchor
    >>> resolve_anchor("student-t")
    StudentTAnchor()
    """
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
    """Specifications for p and for q: one for both, or a pair.

    Examples
    --------
    >>> from isthmus.anchors import anchor_pair
    >>> anchor_pair("gaussian"), anchor_pair(("student-t", "gaussian"))
    (('gaussian', 'gaussian'), ('student-t', 'gaussian'))
    """
    return tuple(spec) if isinstance(spec, (list, tuple)) else (spec, spec)


def fit_anchor(anchor: Any, sample: Sample, surroundings: Surroundings | None = None) -> Any:
    """Fit an anchor, with the weights and the surroundings where its ``fit`` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, fit_anchor
    >>> from isthmus.data.sample import Sample
    >>> rows = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> anchor = fit_anchor(GaussianAnchor(), Sample(rows, np.array([1.0, 1.0, 1.0, 0.0])))
    >>> anchor.components_[0].mean.tolist()
    [1.0]
    """
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

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import fit_anchors
    >>> from isthmus.data.validation import as_two_samples
    >>> from isthmus.maps.coordinates import fit_coordinates
    >>> rng = np.random.default_rng(0)
    >>> samples = as_two_samples(rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2)))
    >>> where = fit_coordinates(samples)
    >>> anchors = fit_anchors("gaussian", samples.map(where), where)
    >>> anchors
    [GaussianAnchor(), GaussianAnchor()]
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
        # Each sample counts for half, whatever its size; together they stand for as many rows.
        half = 0.5 * sum(one.size for one in samples)
        both = Sample(rows, half * np.concatenate([one.share for one in samples]))
    shared = fit_anchor(resolve_anchor(spec.anchor), both, where.surroundings(rows))
    return [Moved(shared, place) for place in places] if apart else [shared, shared]


def mixed_anchor(auxiliary: Any, where: Coordinates, anchors: Sequence[Any]) -> Any:
    """Anchor of an auxiliary that mixes rows of p and q, without a fit to its draws.

    A mixture of normals where several positions between p and q make one class. None
    where the auxiliary's law does not follow from two normals: other anchors, mapped
    columns, dependent columns, or another kind of auxiliary.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import fit_anchors, mixed_anchor
    >>> from isthmus.data.validation import as_two_samples
    >>> from isthmus.maps.coordinates import fit_coordinates
    >>> rng = np.random.default_rng(0)
    >>> samples = as_two_samples(rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2)))
    >>> where = fit_coordinates(samples)
    >>> anchors = fit_anchors("gaussian", samples.map(where), where)
    >>> from isthmus.auxiliaries import LinearMixing
    >>> mixed_anchor(LinearMixing([0.5]), where, anchors)
    GaussianAnchor()
    """
    affine = where.affine
    normal = all(has_influence(one) for one in anchors[:2]) and where.maps is None
    if not (normal and affine.is_square and isinstance(auxiliary, MixingAuxiliary)):
        return None
    given: list[Array] = []
    for component in (anchors[0].component_, anchors[1].component_):
        root = component.cholesky.T @ affine.backward
        given += [affine.inverse(component.mean[None])[0], root.T @ root]
    laws = auxiliary.laws(*given)
    components = []
    for mean, covariance in laws:
        root, whitening, _ = shrunk_roots(
            affine.forward.T @ covariance @ affine.forward, np.inf, 10 * len(mean)
        )
        components.append(Component(1.0 / len(laws), affine(mean[None])[0], root, whitening))
    if not components:
        return None
    if len(components) > 1:
        mixture = MixtureAnchor(len(components))
        mixture.components_ = components
        return mixture
    out = GaussianAnchor()
    out.component_ = components[0]
    return out


def bias_of(anchor: Any) -> float:
    """Bias of an anchor's log-density; zero for another's that does not know it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.mixture import GaussianMixture
    >>> from isthmus.anchors import GaussianAnchor, bias_of
    >>> rows = np.random.default_rng(0).normal(size=(100, 5))
    >>> bias_of(GaussianAnchor().fit(rows)) != 0, bias_of(GaussianMixture().fit(rows))
    (True, 0.0)
    """
    return float(getattr(anchor, "bias_", 0.0))


def has_components(anchor: Any) -> bool:
    """Whether an auxiliary can be placed on a fitted anchor.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KernelDensity
    >>> from isthmus.anchors import GaussianAnchor, has_components
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> has_components(GaussianAnchor().fit(rows)), has_components(KernelDensity().fit(rows))
    (True, False)
    """
    return hasattr(anchor, "components_")


def can_move(anchor: Any) -> bool:
    """Whether a fitted anchor is of one piece and of formulas, which can be moved elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, MixtureAnchor, can_move
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> can_move(GaussianAnchor().fit(rows)), can_move(MixtureAnchor(2).fit(rows))
    (True, False)
    """
    return getattr(anchor, "component_", None) is not None and (
        getattr(anchor, "margins", "") != "quantile"
    )


def has_influence(anchor: Any) -> bool:
    """Whether an anchor is a normal by moments: what every row did to it has a formula.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, MixtureAnchor, has_influence
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> has_influence(GaussianAnchor().fit(rows)), has_influence(MixtureAnchor(2).fit(rows))
    (True, False)
    """
    return bool(getattr(anchor, "influence", False))


def grows(anchor: Any) -> bool:
    """Whether an anchor is of a family that comes nearer to any density as rows come.

    Examples
    --------
    >>> from isthmus.anchors import CopulaAnchor, GaussianAnchor, grows
    >>> grows(CopulaAnchor()), grows(GaussianAnchor())
    (True, False)
    """
    inner = getattr(anchor, "anchor", anchor)
    return bool(getattr(inner, "grows", False))


def has_normal_tails(anchor: Any) -> bool:
    """Whether an anchor falls off like a normal: it is one, moved, cut off or a sum of some.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, StudentTAnchor, has_normal_tails
    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> has_normal_tails(GaussianAnchor().fit(rows)), has_normal_tails(StudentTAnchor().fit(rows))
    (True, False)
    """
    inner = getattr(anchor, "anchor", anchor)
    return has_influence(inner) or bool(getattr(inner, "normal_tails", False))


def silent_share(anchor: Any, X: Array) -> float:
    """Share of rows, where an anchor has none of its own, at which its density says nothing.

    That of a family says how it goes on; one with margins of any shape does not, nor one that
    falls off as if it had an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import GaussianAnchor, silent_share
    >>> X = np.random.default_rng(0).normal(size=(200, 1))
    >>> silent_share(GaussianAnchor().fit(X), X + 9)
    0.0
    """
    inner = getattr(anchor, "anchor", anchor)
    return float(inner.silent(X)) if hasattr(inner, "silent") else 0.0
