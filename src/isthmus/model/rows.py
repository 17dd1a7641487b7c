"""The classes of one fit with their rows, before there is a critic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from ..anchors import (
    GaussianAnchor,
    Pooled,
    anchor_pair,
    fit_anchor,
    fit_anchors,
    has_components,
    mixed_anchor,
    resolve_anchor,
)
from ..auxiliaries import Bridge, fit_auxiliary, is_known, resolve_auxiliaries
from ..auxiliaries.discrete import few_values
from ..critics import Frame, placed
from ..data.blocks import MemoryBlocks
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.validation import as_rows
from ..maps.coordinates import Coordinates, fit_coordinates
from ..settings import Settings
from ..typing import Array, Auxiliary, BoundCritic, Critic
from .offsets import Offsets
from .priors import class_prior, draw_count


@dataclass(frozen=True)
class ClassRows:
    """Rows of p, q and every auxiliary, and what is known of their classes.

    It lives as long as a fit, or an uncertainty, needs rows; a fitted model has none of them.
    Draws are made when they are first asked for: anchors alone need none.

    Attributes
    ----------
    samples : TwoSamples
        p and q, in the units of the data.
    inside : TwoSamples
        The same in coordinates.
    offsets : Offsets
    settings : Settings
    covariance : str
        What the critic asks for; see :class:`~isthmus.typing.Critic`.
    seeds : Seeds
    """

    samples: TwoSamples
    inside: TwoSamples
    offsets: Offsets
    settings: Settings
    covariance: str
    seeds: Seeds
    drawn: tuple[tuple[Sample, Sample], ...] = field(default=(), repr=False)

    @property
    def class_names(self) -> list[str]:
        """Names of the classes."""
        return self.offsets.class_names

    @cached_property
    def auxiliary_rows(self) -> tuple[tuple[Sample, Sample], ...]:
        """Rows of every auxiliary, in the units of the data and in coordinates."""
        if self.drawn:
            return self.drawn
        sizes = [sample.size for sample in self.samples]
        out = []
        for name, auxiliary in zip(self.class_names[2:], self.offsets.auxiliaries, strict=True):
            fixed = self.offsets.fixed(auxiliary)
            oversample = self.settings.oversample if fixed else None
            count = draw_count(sizes, self.samples.n_columns, oversample)
            rows = draw_rows_of(auxiliary, name, count, self.offsets.where, self.seeds(name))
            if fixed:
                check_subspace(rows, name, self.offsets.where)
            sample = Sample.of(rows)
            out.append((sample, sample.map(self.offsets.where)))
        return tuple(out)

    @property
    def given(self) -> list[Sample]:
        """Rows of every class in the units of the data."""
        return [*self.samples, *(sample for sample, _ in self.auxiliary_rows)]

    @property
    def mapped(self) -> list[Sample]:
        """Rows of every class in coordinates."""
        return [*self.inside, *(sample for _, sample in self.auxiliary_rows)]

    @cached_property
    def frames(self) -> list[Frame]:
        """Where the learned classes lie."""
        out = []
        for c in self.offsets.learned:
            sample = self.mapped[c]
            fit = GaussianAnchor(self.covariance).fit(sample.rows, sample.weight).component_
            out.append(Frame(fit.mean, fit.whitening))
        return out

    @cached_property
    def prior(self) -> Array:
        """Prior probabilities of the classes."""
        spec = self.settings.prior
        counts = np.ones(len(self.class_names))
        if isinstance(spec, str) and spec == "counts":
            counts = np.array([sample.weight.sum() for sample in self.given])
        return class_prior(spec, counts, self.class_names)

    @cached_property
    def blocks(self) -> MemoryBlocks:
        """The rows as the objective sees them: class c gets the share pi_c of the total weight."""
        mapped = self.mapped
        counts = np.array([sample.weight.sum() for sample in mapped])
        share = self.prior * counts.sum() / counts
        return MemoryBlocks(
            classes=[
                Sample(one.rows, s * one.weight) for s, one in zip(share, mapped, strict=True)
            ],
            offsets=[self.offsets(x.rows, z.rows) for x, z in zip(self.given, mapped, strict=True)],
            log_prior=np.log(self.prior),
            learned=np.isin(np.arange(len(mapped)), self.offsets.learned),
        )

    def bind(self, critic: Critic) -> BoundCritic:
        """Tie a critic to the frames of the learned classes, and to rows where it asks for them."""
        rows = [sample.rows for sample in self.mapped]
        return placed(critic, rows, self.seeds("centres")).bind(self.frames)


def prepare(
    samples: TwoSamples, settings: Settings, critic: Critic, seeds: Seeds, warn: bool = True
) -> ClassRows:
    """Coordinates, anchors and auxiliaries of two samples; p and q are mapped once.

    Parameters
    ----------
    samples : TwoSamples
    settings : Settings
        None of them "auto" except those that stand for a rule.
    critic : Critic
        It says which coordinates it wants.
    seeds : Seeds
    warn : bool
        Warn of constant and of dependent columns.
    """
    # 1. One well-conditioned system of coordinates for all classes.
    where = fit_coordinates(samples, maps=settings.maps, kind=critic.coordinates, warn=warn)
    inside = samples.map(where)
    # 2. Anchors of p and q, which the default auxiliary is placed on.
    anchors = fit_anchors(settings.anchor, inside, where)
    auxiliaries = []
    for auxiliary in resolve_auxiliaries(settings.auxiliaries, samples.n_columns, samples.names):
        if isinstance(auxiliary, Bridge) and _carries(auxiliary, anchors, samples):
            auxiliary.place(where, anchors, inside)
        else:
            fit_auxiliary(auxiliary, samples)
        auxiliaries.append(auxiliary)
    offsets = Offsets(where, tuple(anchors), tuple(auxiliaries), settings.known_density)
    rows = ClassRows(samples, inside, offsets, settings, critic.covariance, seeds)
    return _with_mixture_anchors(rows) if anchors else rows


@dataclass(frozen=True)
class FittedTo:
    """What a fit was made of, for what needs its rows afterwards: uncertainties and checks.

    Attributes
    ----------
    samples : TwoSamples
        The rows, as they were given.
    settings : Settings
        With every "auto" replaced.
    critic : Critic
        The convex critic, not tied to any rows.
    seeds : Seeds
        They make the same draws again.
    """

    samples: TwoSamples
    settings: Settings
    critic: Critic
    seeds: Seeds

    def rows(self, offsets: Offsets) -> ClassRows:
        """Rows of every class once more, the same to the bit."""
        return ClassRows(
            self.samples,
            self.samples.map(offsets.where),
            offsets.with_rows(self.samples),
            self.settings,
            self.critic.covariance,
            self.seeds,
        )


def fresh_rows(auxiliaries: Sequence[Auxiliary], samples: TwoSamples, seeds: Seeds) -> list[Sample]:
    """Rows of every class that a fit has not seen, given new rows of p and of q.

    Auxiliaries of known density are drawn anew; those that mix rows mix the new ones.
    """
    out = list(samples)
    count = max(map(len, samples))
    for k, auxiliary in enumerate(auxiliaries):
        fresh = auxiliary
        if not is_known(auxiliary):
            fresh = fit_auxiliary(clone(auxiliary, safe=False), samples)
        out.append(Sample.of(np.asarray(fresh.sample(count, seeds(f"fresh m{k + 1}")))))
    return out


def draw_rows_of(
    auxiliary: Auxiliary, name: str, count: int, where: Coordinates, rng: np.random.Generator
) -> Array:
    """Draw the rows of one auxiliary class and check them."""
    count = getattr(auxiliary, "n_samples", count)
    d = len(where.affine.centre)
    rows = as_rows(auxiliary.sample(count, rng), f"The sample of auxiliary {name}", min_rows=2)
    if rows.shape[1] != d:
        raise ValueError(
            f"The sample of auxiliary {name} must have {d} columns; received {rows.shape[1]}."
        )
    return rows


def check_subspace(rows: Array, name: str, where: Coordinates) -> None:
    """Refuse a known density off the subspace of the samples: it would not compare with theirs."""
    shared = where.affine
    if shared.forward.shape[1] == len(shared.centre):
        return
    some = rows[:100]
    back = where.inverse(where(some))
    unit = np.abs(some - shared.centre).max() + np.abs(shared.centre).max()
    if np.abs(back - some).max() > 1e-6 * unit:
        raise ValueError(
            f"Auxiliary {name} leaves the subspace of the samples, whose columns are constant or "
            "linearly dependent: drop such columns, or use auxiliaries='auto'."
        )


def auxiliary_anchor(spec: Any, sample: Sample) -> Any:
    """Anchor of a learned auxiliary, fitted to its draws."""
    one = anchor_pair(spec)[0]
    return fit_anchor(resolve_anchor(one.anchor if isinstance(one, Pooled) else one), sample)


def _with_mixture_anchors(rows: ClassRows) -> ClassRows:
    """Give the learned auxiliaries anchors too: from those of p and q, or from their draws."""
    offsets = rows.offsets
    learned = offsets.learned[2:]
    found = {
        c: mixed_anchor(offsets.auxiliaries[c - 2], offsets.where, list(offsets.anchors))
        for c in learned
    }
    drawn = rows.auxiliary_rows if any(own is None for own in found.values()) else ()
    further = [
        auxiliary_anchor(rows.settings.anchor, drawn[c - 2][1]) if own is None else own
        for c, own in found.items()
    ]
    return replace(
        rows, offsets=replace(offsets, anchors=(*offsets.anchors, *further)), drawn=drawn
    )


def _carries(bridge: Bridge, anchors: Sequence[Any], samples: TwoSamples) -> bool:
    """Whether the anchors can carry the bridge: components, and no column of few values."""
    return (
        bridge.anchor is None
        and len(anchors) > 1
        and all(map(has_components, anchors))
        and not few_values(samples).any()
    )
