"""Families that say how a tail goes on, judged by the likelihood of all rows.

Held-out rows would need to be many more to tell families apart that differ beyond the rows only;
and which rows are held out would decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.holdout import LIKELY
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .copula import CopulaAnchor, source_axes
from .fit import fit_anchor
from .gaussian import GaussianAnchor
from .generalised_normal import GeneralisedNormalAnchor
from .margins import KINDS, Margin, fit_margins, n_shapes
from .student_t import StudentTAnchor

# One row counts for so many nats at most: a few outliers do not decide.
_MOST_EACH = 3.0
_LEAST_ROWS = 200
MOST_COLUMNS = 12
"""Columns up to which margins of all kinds are fitted."""


@dataclass(frozen=True)
class TailFamily:
    """A family, fitted to all rows.

    Attributes
    ----------
    name : str
    anchor : anchor
    density : ndarray of shape (n,)
        Log-density of the rows, as it was fitted: with its noise taken out no family is
        the likeliest of its kind, and in many columns that would decide.
    shapes, axes : int
        Number of parameters that a normal does not have: of tails, and of directions.
    """

    name: str
    anchor: Any
    density: Array
    shapes: int = 0
    axes: int = 0

    @property
    def price(self) -> int:
        """Number of parameters beyond those of a normal."""
        return self.shapes + self.axes


@dataclass(frozen=True)
class TailChoice:
    """The chosen family, and those that the rows do not refuse in its favour."""

    chosen: TailFamily
    rivals: Sequence[TailFamily]
    evidence: dict[str, float]  # Twice the gain in log-likelihood over the normal.


def choose_tails(sample: Sample, surroundings: Surroundings | None) -> TailChoice:
    """Choose a family by Schwarz's criterion, doubled.

    A family has to earn twice the logarithm of the number of rows with every parameter that a
    normal does not have: across a chasm families are worlds apart. If none does, those that earn
    it once are rivals of the normal, which most of them contain. Otherwise the rivals are those
    that are not worse than the chosen one by more than two standard errors of the difference over
    the rows (Vuong 1989).
    """
    n, share = sample.size, sample.share
    unit = float(np.log(n))
    normal, *others = _families(sample, surroundings)

    def gap(one: TailFamily, other: TailFamily) -> Array:
        return np.clip(one.density - other.density, -_MOST_EACH, _MOST_EACH)

    def evidence(one: TailFamily, other: TailFamily) -> float:
        return 2.0 * n * float(share @ gap(one, other))

    chosen = normal
    for other in sorted(others, key=lambda one: one.price):
        # Of two that cost the same, the later one has to be likelier beyond doubt.
        if evidence(other, chosen) > max(2.0 * (other.price - chosen.price), 1.0) * unit:
            chosen = other
    rivals = []
    for other in others:
        if other is chosen:
            continue
        if chosen is normal:
            if evidence(other, normal) > other.price * unit:
                rivals.append(other)
            continue
        lost = gap(chosen, other)
        mean = float(share @ lost)
        error = float(np.sqrt(share @ (lost - mean) ** 2 / n))
        # Tails of one more parameter are no larger family. Directions are one.
        mean -= 0.5 * (chosen.axes - other.axes) * unit / n
        if mean < LIKELY * error:
            rivals.append(other)
    found = {one.name: evidence(one, normal) for one in (normal, *others)}
    return TailChoice(chosen, rivals, found)


def _families(sample: Sample, surroundings: Surroundings | None) -> Iterator[TailFamily]:
    """Every family that there are rows enough for, the normal first."""
    n, d = sample.rows.shape
    yield _elliptical("gaussian", GaussianAnchor(), sample, surroundings)
    if n < 4 * d + 20:
        return
    yield _elliptical("student-t", StudentTAnchor(), sample, surroundings)
    yield _elliptical("generalised normal", GeneralisedNormalAnchor(), sample, surroundings)
    if n < _LEAST_ROWS or d > MOST_COLUMNS:
        return
    columns = np.eye(d)
    if surroundings is not None and surroundings.columns is not None:
        columns = surroundings.columns
    kinds = KINDS if d > 1 else {"exponential": KINDS["exponential"]}
    yield from _warped("margins", "columns", columns, 0, kinds, sample)
    if d > 1 and not is_round(sample.rows):
        axes = source_axes(sample.rows)
        yield from _warped("sources", "independent", axes, d * (d - 1) // 2, kinds, sample)


def _elliptical(
    name: str, anchor: Any, sample: Sample, surroundings: Surroundings | None
) -> TailFamily:
    fit_anchor(anchor, sample, surroundings)
    density = replace(anchor.component_, rows=np.inf).log_density(sample.rows)
    return TailFamily(name, anchor, density, int(name != "gaussian"))


def _warped(
    what: str,
    axes: str,
    columns: Array,
    price: int,
    kinds: Mapping[str, Sequence[str]],
    sample: Sample,
) -> Iterator[TailFamily]:
    """Margins of every kind along the same axes, without those that say the same."""
    fits = [fit_margins(u, sample.share, sample.size, kinds) for u in (sample.rows @ columns).T]
    seen: set[tuple[Margin, ...]] = set()
    for kind in kinds:
        margins = tuple(one[kind] for one in fits)
        shapes = n_shapes(margins)
        if margins in seen or shapes == 0:
            continue
        seen.add(margins)
        # On other rows, the same laws.
        laws = tuple(sorted({margin.law for margin in margins}))
        anchor = CopulaAnchor(axes, laws).join(sample, columns, margins)
        base = replace(anchor.component_.base, rows=np.inf)
        density = replace(anchor.component_, base=base).log_density(sample.rows)
        yield TailFamily(f"{kind} {what}", anchor, density, shapes, price)


def is_round(X: Array) -> bool:
    """Whether the fourth moment of the distance from the centre is that of a normal."""
    n, d = X.shape
    Z = GaussianAnchor().fit(X).component_.standard(X)
    square = np.einsum("ij,ij->i", Z, Z)
    excess = float(np.mean(square**2)) - d * (d + 2.0) * (n - 1.0) / (n + 1.0)
    return bool(abs(excess) < 4.0 * np.sqrt(8.0 * d * (d + 2.0) / n))
