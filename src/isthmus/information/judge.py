"""Cross-fitting: every pair is judged by a ratio that was fitted without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.special import logsumexp

from ..typing import Array, IntArray

# Shuffles of a fold's rows; each row of x meets so many rows of y that are not its own.
SHUFFLES = 8
# Above so many nats no shuffled pair looks like a joint one, and masses cannot be judged.
CHASM = 4.0


class PairRatio(Protocol):
    """A log-ratio of joint to product, at pairs of rows given by their numbers."""

    name: str

    def fit(self, rows: IntArray) -> Any:
        """Fit to the pairs of these rows."""

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        """Log-ratio at pairs of row i of x and row j of y."""


@dataclass(frozen=True)
class Folds:
    """Parts of the rows, and for each part pairs that do not belong together.

    Attributes
    ----------
    parts : list of ndarray of int
        Rows of each fold.
    n : int
        Number of rows in all.
    """

    parts: list[IntArray]
    n: int

    @classmethod
    def split(cls, n: int, n_folds: int, rng: np.random.Generator) -> Folds:
        """Cut a random order of the rows into folds."""
        return cls(np.array_split(rng.permutation(n), n_folds), n)

    def others(self, fold: int) -> IntArray:
        """Rows that are not in a fold."""
        return np.concatenate([part for k, part in enumerate(self.parts) if k != fold])


@dataclass
class Judged:
    """What a ratio says about pairs that it was not fitted to.

    Attributes
    ----------
    name : str
        Its name.
    joint : ndarray of shape (n,)
        Log-ratio at every row, from a fit without it; NaN in folds that were left out.
    shuffled : ndarray of shape (n,)
        Of every row of x the logarithm of the mean ratio over its shuffled pairs. For the
        true ratio that mean has expectation one at every x, so that rows are as good as
        independent.
    highest : float
        Largest log-ratio of a shuffled pair.
    log_mass : list of float
        Of each fold the logarithm of the mean ratio over shuffled pairs; 0 for a ratio that
        is normalised.
    mass_errors : list of float
        Their standard errors.
    inside : list of float
        Of each fold the estimate on the fitted rows themselves.
    settings : dict
        What was chosen on the way.
    """

    name: str
    joint: Array
    shuffled: Array
    highest: float = -np.inf
    log_mass: list[float] = field(default_factory=list)
    mass_errors: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def seen(self) -> IntArray:
        """Rows of the folds that were judged."""
        return np.flatnonzero(np.isfinite(self.joint))

    @property
    def plug_in(self) -> float:
        """Mean log-ratio over held-out rows."""
        return float(self.joint[self.seen].mean())

    @property
    def bound(self) -> float:
        """Donsker-Varadhan estimate on held-out rows."""
        return self.plug_in - float(np.mean(self.log_mass))

    @property
    def score(self) -> float:
        """What candidates are compared by.

        Too large a mass counts against a ratio, as far as it exceeds its error. Too small a
        one does not count for it: across a chasm no shuffled pair lies where the joint
        distribution has its mass.
        """
        return self.plug_in - self._excess

    @property
    def _excess(self) -> float:
        # A mean of ratios exceeds its expectation, one, twentyfold in one of twenty cases at most.
        slack = np.log(20.0) if self.plug_in > CHASM else 0.0
        excess = np.subtract(self.log_mass, self.mass_errors) - slack
        return float(np.mean(np.maximum(excess, 0.0)))

    @property
    def mass_error(self) -> float:
        """Standard error of the mean of the logarithms of the masses."""
        return float(np.sqrt(np.mean(np.square(self.mass_errors)) / len(self.mass_errors)))

    def beats(self, other: Judged, margin: float) -> bool:
        """Whether the gain exceeds so many standard errors of the paired difference."""
        both = np.intersect1d(self.seen, other.seen)
        gain = self.joint[both] - other.joint[both]
        error = gain.std() / np.sqrt(len(both))
        for each in (self, other):
            # A mass that does not count has no error that does.
            if each._excess > 0:
                error = np.hypot(error, each.mass_error)
        return self.score - other.score > margin * float(error)


def judge(
    ratio: PairRatio,
    folds: Folds,
    rng: np.random.Generator,
    *,
    which: Sequence[int] | None = None,
    inside: bool = True,
    shuffles: int = SHUFFLES,
) -> Judged:
    """Fit a ratio without each fold in turn and evaluate it there.

    Parameters
    ----------
    ratio : PairRatio
    folds : Folds
    rng : numpy Generator
        Draws the shuffles.
    which : sequence of int, optional
        Folds to look at; all by default.
    inside : bool
        Whether to evaluate it on the fitted rows, too.
    shuffles : int
        Number of shuffles.
    """
    out = Judged(ratio.name, np.full(folds.n, np.nan), np.full(folds.n, np.nan))
    for fold in range(len(folds.parts)) if which is None else which:
        rows, fitted = folds.parts[fold], folds.others(fold)
        ratio.fit(fitted)
        out.joint[rows] = ratio.log_ratio(rows, rows)
        values = evaluate_shuffled(ratio, rows, rng, shuffles)
        out.shuffled[rows] = logsumexp(values.reshape(-1, len(rows)), axis=0) - np.log(
            len(values) / len(rows)
        )
        out.highest = max(out.highest, float(values.max()))
        mass, error = log_mass(values)
        out.log_mass.append(mass)
        out.mass_errors.append(error)
        if inside:
            some = fitted[: max(len(rows), 4000)]
            values = evaluate_shuffled(ratio, some, rng, 2)
            out.inside.append(float(ratio.log_ratio(fitted, fitted).mean()) - log_mass(values)[0])
    return out


def evaluate_shuffled(
    ratio: PairRatio, rows: IntArray, rng: np.random.Generator, shuffles: int
) -> Array:
    """Log-ratios at rows of x with rows of y that are not their own."""
    # A rotation of a random order leaves no row with its own.
    order = rng.permutation(rows)
    turns = 1 + rng.permutation(max(len(rows) - 1, 1))[:shuffles]
    return np.concatenate([ratio.log_ratio(order, np.roll(order, turn)) for turn in turns])


def log_mass(values: Array) -> tuple[float, float]:
    """Logarithm of the mean of exp(values), and its standard error."""
    mean = float(logsumexp(values)) - float(np.log(len(values)))
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(np.minimum(values - mean, 300.0))
    return mean, float(weight.std() / np.sqrt(len(values)))
