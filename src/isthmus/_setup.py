"""What comes before the critic: coordinates, anchors, auxiliaries and the labelled sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from ._affine import represented
from ._coordinates import fit_coordinates
from ._parts import check_subspace, class_prior, draw_count, draw_rows_of
from ._random import Seeds
from ._sample import LabelledSample
from ._typing import Array
from .anchors import (
    GaussianAnchor,
    Moved,
    Pooled,
    anchor_pair,
    centre,
    fit_anchor,
    mixed_anchor,
    resolve_anchor,
)
from .auxiliaries import Bridge, fit_auxiliary, is_known, resolve_auxiliaries
from .auxiliaries._discrete import few_values
from .critics import Frame

_LOST = -20.0


class Setup:
    """The classes of one fit, ready for any critic.

    Parameters
    ----------
    p, q : ndarray of shape (n, d)
        The two samples.
    weights : pair of ndarray or None
        Weights of their rows.
    settings : mapping
        The parameters of :class:`MDRE`, none of them "auto" except those that
        stand for a rule.
    kind, covariance : str
        What the critic asks for; see :class:`~isthmus._typing.Critic`.
    seeds : Seeds
    names : sequence of str, optional
        Names of the columns.

    Attributes
    ----------
    where : Coordinates
    anchors : list
        Fitted anchors of the learned classes; empty without anchors.
    auxiliaries : list
        Fitted auxiliaries.
    class_names : list of str
    learned : ndarray of int
        Classes whose critic is learned.
    frames : list of Frame
        Where the learned classes lie.
    sample : LabelledSample
    """

    def __init__(
        self,
        p: Array,
        q: Array,
        weights: tuple[Array | None, Array | None],
        settings: Any,
        *,
        kind: str,
        covariance: str,
        seeds: Seeds,
        names: Sequence[str] | None = None,
        warn: bool = True,
    ) -> None:
        # 1. One well-conditioned system of coordinates for all classes.
        self.where = fit_coordinates(p, q, *weights, maps=settings["maps"], kind=kind, warn=warn)
        self.known, self.covariance = settings["known_density"], covariance
        self._settings, self._seeds = settings, seeds
        self._rows, self._weights = (p, q), weights
        Z = [self.where(p), self.where(q)]

        # 2. Anchors of p and q, which the default auxiliary is placed on.
        self.anchors = fit_anchors(settings["anchor"], Z, weights, self.where)
        self.auxiliaries: list[Any] = []
        for auxiliary in resolve_auxiliaries(settings["auxiliaries"], p.shape[1], names):
            if isinstance(auxiliary, Bridge) and self._carries(auxiliary):
                auxiliary.place(self.where, self.anchors, Z, weights)
            else:
                fit_auxiliary(auxiliary, p, q, *weights)
            self.auxiliaries.append(auxiliary)
        self.class_names = ["p", "q", *(f"m{k + 1}" for k in range(len(self.auxiliaries)))]
        learned = [True, True, *(not self.fixed(m) for m in self.auxiliaries)]
        self.learned = np.flatnonzero(learned)
        if self.anchors:
            self._anchor_mixtures()

    @property
    def data(self) -> tuple[Array, Array]:
        """Rows of p and of q, as they were given."""
        return self._rows

    @property
    def weights(self) -> tuple[Array | None, Array | None]:
        """Their weights."""
        return self._weights

    @cached_property
    def classes(self) -> Classes:
        """Rows, coordinates and weights of every class, drawn when they are first asked for."""
        rows = list(self._rows)
        mass = [_or_ones(w, part) for w, part in zip(self._weights, rows, strict=True)]
        sizes = [represented(weight) for weight in mass]
        for name, auxiliary in zip(self.class_names[2:], self.auxiliaries, strict=True):
            oversample = self._settings["oversample"] if self.fixed(auxiliary) else None
            count = draw_count(sizes, rows[0].shape[1], oversample)
            rng = self._seeds(name)
            rows.append(draw_rows_of(auxiliary, name, count, self.where.affine, rng))
            if self.fixed(auxiliary):
                check_subspace(rows[-1], name, self.where)
            mass.append(np.ones(len(rows[-1])))
        return Classes(rows, [self.where(part) for part in rows], mass)

    @cached_property
    def frames(self) -> list[Frame]:
        """Where the learned classes lie."""
        out = []
        for c in self.learned:
            fit = GaussianAnchor(self.covariance).fit(self.classes.Z[c], self.classes.mass[c])
            out.append(Frame(fit.component_.mean, fit.component_.whitening))
        return out

    @cached_property
    def prior(self) -> Array:
        """Prior probabilities of the classes."""
        spec = self._settings["prior"]
        counts = np.ones(len(self.class_names))
        if isinstance(spec, str) and spec == "counts":
            counts = np.array([weight.sum() for weight in self.classes.mass])
        return class_prior(spec, counts, self.class_names)

    @cached_property
    def sample(self) -> LabelledSample:
        """The labelled sample: class c gets the share pi_c of the total weight."""
        rows, Z, mass = self.classes.rows, self.classes.Z, self.classes.mass
        counts = np.array([weight.sum() for weight in mass])
        share = self.prior * counts.sum() / counts
        return LabelledSample(
            X=np.concatenate(Z),
            label=np.repeat(np.arange(len(Z)), [len(part) for part in Z]),
            weight=np.concatenate([s * weight for s, weight in zip(share, mass, strict=True)]),
            log_prior=np.log(self.prior),
            # Each class's column is contiguous, as the objective works on one at a time.
            offset=np.asfortranarray(
                np.concatenate([self.offset(x, z) for x, z in zip(rows, Z, strict=True)])
            ),
            learned=np.isin(np.arange(len(Z)), self.learned),
        )

    def bind(self, critic: Any, seeds: Seeds) -> Any:
        """Tie a critic to the frames of the learned classes, and to rows where it asks for them."""
        if hasattr(critic, "place"):
            ends = np.cumsum(np.bincount(self.sample.label))[:-1]
            critic = critic.place(np.split(self.sample.X, ends), seeds("centres"))
        return critic.bind(self.frames)

    def offset(self, X: Array, Z: Array) -> Array:
        """Evaluate the part of the critics that is not learned, shape (n, K + 2)."""
        out = np.zeros((len(X), len(self.class_names)))
        # Critics are log-densities in the units of x, like those of known auxiliaries.
        out[:, self.learned] = np.reshape(self.where.log_volume(X), (-1, 1))
        for c, anchor in zip(self.learned, self.anchors, strict=False):
            out[:, c] += anchor.score_samples(Z)
        for k, auxiliary in enumerate(self.auxiliaries):
            if self.fixed(auxiliary):
                out[:, k + 2] = auxiliary.log_density(X)
        return out

    @property
    def bias(self) -> Array:
        """Bias of every class's critic that its anchor brings along."""
        out = np.zeros(len(self.class_names))
        for c, anchor in zip(self.learned, self.anchors, strict=False):
            out[c] = getattr(anchor, "bias_", 0.0)
        return out

    def fixed(self, auxiliary: Any) -> bool:
        """Whether an auxiliary's critic is its known density."""
        return self.known and is_known(auxiliary)

    def _anchor_mixtures(self) -> None:
        """Give the learned auxiliaries anchors too: from those of p and q, or from their draws."""
        spec = anchor_pair(self._settings["anchor"])[0]
        spec = spec.anchor if isinstance(spec, Pooled) else spec
        for c in self.learned[2:]:
            own = mixed_anchor(self.auxiliaries[c - 2], self.where, self.anchors)
            if own is None:
                own = fit_anchor(resolve_anchor(spec), self.classes.Z[c], self.classes.mass[c])
            self.anchors.append(own)

    def _carries(self, bridge: Bridge) -> bool:
        """Whether the anchors can carry the bridge: components, and no column of few values."""
        return (
            bridge.anchor is None
            and len(self.anchors) > 1
            and all(hasattr(anchor, "components_") for anchor in self.anchors)
            and not few_values(*self._rows, *self._weights).any()
        )


@dataclass(frozen=True)
class Classes:
    """Rows of every class, in the units of the data and in coordinates, and their weights."""

    rows: list[Array]
    Z: list[Array]
    mass: list[Array]


class HeldOut:
    """Rows of every class that a setup has not seen, to score critics on.

    Parameters
    ----------
    setup : Setup
    rows : pair of ndarray
        Held-out rows of p and q.
    weights : pair of ndarray or None
    seeds : Seeds
        For fresh draws of the auxiliaries.
    """

    def __init__(
        self, setup: Setup, rows: Sequence[Array], weights: Sequence[Any], seeds: Seeds
    ) -> None:
        self.setup = setup
        self.rows, mass = fresh_rows(setup.auxiliaries, rows, weights, seeds)
        self.Z = [setup.where(part) for part in self.rows]
        self.offset = [setup.offset(x, z) for x, z in zip(self.rows, self.Z, strict=True)]
        self.share = [weight / weight.sum() for weight in mass]

    def score(
        self,
        critic: Any = None,
        theta: Array | None = None,
        classes: Sequence[int] | None = None,
        network: Any = None,
    ) -> Score:
        """Log-probability of the true class at every row, among all classes or some."""
        raw = None if critic is None or theta is None else critic.expand(theta)
        kept = list(range(len(self.Z))) if classes is None else list(classes)
        terms = []
        for place, c in enumerate(kept):
            logits = self.offset[c] + np.log(self.setup.prior)
            if raw is not None:
                logits[:, self.setup.learned] += critic.values(raw, self.Z[c])
            if network is not None:
                logits[:, self.setup.learned] += network.values(self.rows[c], self.Z[c])
            terms.append(log_softmax(logits[:, kept], axis=1)[:, place])
        prior = self.setup.prior[kept]
        return Score(terms, [self.share[c] for c in kept], prior / prior.sum())


class Score:
    """Multinomial log-likelihood of held-out rows, class by class, to be compared in pairs.

    Parameters
    ----------
    terms : list of ndarray
        For every class, the log-probability of it at each of its rows.
    share : list of ndarray
        Shares of these rows, which add up to one in each class.
    prior : ndarray
        Class priors.
    """

    def __init__(self, terms: list[Array], share: list[Array], prior: Array) -> None:
        # One far outlier may cost hundreds of nats; it counts as one row that is lost.
        self.terms = [np.maximum(term, _LOST) for term in terms]
        self.share, self.prior = share, prior

    @property
    def value(self) -> float:
        """Mean log-likelihood."""
        return float(
            sum(pi * (s @ t) for pi, s, t in zip(self.prior, self.share, self.terms, strict=True))
        )

    @property
    def rows(self) -> int:
        """Number of rows, in all classes."""
        return sum(map(len, self.terms))

    def gain(self, other: Score) -> tuple[float, float]:
        """How much higher than another score on the same rows, and the standard error of that."""
        mean, variance = 0.0, 0.0
        for pi, s, mine, theirs in zip(
            self.prior, self.share, self.terms, other.terms, strict=True
        ):
            gap = mine - theirs
            centre = float(s @ gap)
            mean += pi * centre
            variance += pi**2 * float((s**2 * (gap - centre) ** 2).sum())
        return float(mean), float(np.sqrt(variance))


def fresh_rows(
    auxiliaries: Sequence[Any], rows: Sequence[Array], weights: Sequence[Any], seeds: Seeds
) -> tuple[list[Array], list[Array]]:
    """Rows of every class, and their weights, that a fit has not seen.

    Auxiliaries of known density are drawn anew; those that mix rows are made anew
    from the rows given.

    Parameters
    ----------
    auxiliaries : sequence of fitted auxiliaries
    rows : pair of ndarray
        New rows of p and of q.
    weights : pair of ndarray or None
    seeds : Seeds
    """
    parts = list(rows)
    mass = [_or_ones(w, part) for w, part in zip(weights, parts, strict=True)]
    for k, auxiliary in enumerate(auxiliaries):
        fresh = auxiliary
        if not is_known(auxiliary):
            fresh = fit_auxiliary(clone(auxiliary, safe=False), *rows, *weights)
        parts.append(np.asarray(fresh.sample(max(map(len, rows)), seeds(f"fresh m{k + 1}"))))
        mass.append(np.ones(len(parts[-1])))
    return parts, mass


def fit_anchors(spec: Any, Z: Sequence[Array], weights: Sequence[Any], where: Any) -> list[Any]:
    """Fitted anchors of p and of q; what they share where it is pooled; none for None.

    Parameters
    ----------
    spec : anchor, name, pair of these, Pooled or None
    Z : pair of ndarray
        Rows of p and of q in coordinates.
    weights : pair of ndarray or None
        Their weights.
    where : Coordinates
    """
    if spec is None:
        return []
    if isinstance(spec, Pooled):
        apart = spec.places == "two"
        places = [centre(z, w) if apart else np.zeros(1) for z, w in zip(Z, weights, strict=True)]
        rows = np.concatenate([z - place for z, place in zip(Z, places, strict=True)])
        weight = None
        if len(Z[0]) != len(Z[1]) or any(w is not None for w in weights):
            # Each sample counts for half, whatever its size.
            mass = [_or_ones(w, z) for w, z in zip(weights, Z, strict=True)]
            weight = np.concatenate([0.5 * len(rows) * w / w.sum() for w in mass])
        shared = fit_anchor(resolve_anchor(spec.anchor), rows, weight, where.surroundings(rows))
        return [Moved(shared, place) for place in places] if apart else [shared, shared]
    return [
        fit_anchor(resolve_anchor(one), Z[c], weights[c], where.surroundings(Z[1 - c]))
        for c, one in enumerate(anchor_pair(spec))
    ]


def _or_ones(weight: Array | None, rows: Array) -> Array:
    return np.ones(len(rows)) if weight is None else weight
