"""Ratios of joint to shuffled pairs, and what each says about pairs that it was not fitted to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import logsumexp, ndtri

from ..data.holdout import PROVEN, Gain, Split, paired_gain
from ..functionals import lower_end
from ..functionals.bounds import REACHED
from ..typing import Array, IntArray
from .marginal import Variates

SHUFFLES = 8
"""Shuffles of a fold's rows; each row of x meets so many rows of y that are not its own."""

CHASM = 4.0
"""Above so many nats no shuffled pair looks like a joint one, and masses tell nothing."""


LACKING = 0.03
"""Share of the number that a fitted shape may lack: it errs low where the truth has another."""

_TOP = 0.99
# An error of the mass from which on it hangs on a few pairs.
_ROUGH = 0.1
_NOTHING = 1e-9


class PairRatio(ABC):
    """A log-ratio of joint to product, at pairs of rows given by their numbers.

    ``has_variates`` says whether it is the normal copula of what :meth:`variates` returns,
    ``normalised`` whether it is a ratio of densities: then its mass is one, whatever few shuffled
    pairs say of it; ``knows_inside`` whether what it says of fitted rows means anything;
    ``flexible`` whether it comes nearer to any truth with more rows; ``unfinished`` is what a
    larger one of its kind may add, in nats, and ``lacks`` the share of the number that it may lack
    even so.
    """

    name: str
    has_variates = False
    normalised = False
    knows_inside = True
    flexible = False
    unfinished = 0.0
    lacks = 0.0

    @abstractmethod
    def fit(self, rows: IntArray) -> Self:
        """Fit to the pairs of these rows."""

    @abstractmethod
    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        """Log-ratio at pairs of row i of x and row j of y."""

    def variates(self) -> Variates:
        """Normal variates of all rows, where there are any."""
        raise NotImplementedError

    def information(self, found: Evaluation) -> tuple[float, float]:
        """Mutual information by this ratio, and its standard error."""
        # On fitted rows a ratio is too good by as much as it is too bad on others.
        outside = found.score if self.normalised else found.bound
        inside = float(np.mean(found.inside))
        noise = float(np.nanstd(found.joint)) / np.sqrt(len(found.joint))
        # A ratio whose mass is not one is not the right one: what that changes is unsure, too.
        doubt = () if self.normalised else (found.mass_error, found.plug_in - outside)
        parts = (noise, 0.5 * (inside - outside), *doubt)
        return 0.5 * (outside + inside), float(np.sqrt(np.sum(np.square(parts))))


@dataclass(frozen=True)
class Evaluation:
    """What a ratio says about pairs that it was not fitted to."""

    ratio: PairRatio
    joint: Array
    """Log-ratio at every row, from a fit without it; NaN in folds that were left out."""
    shuffled: Array
    """Logarithm of the mean ratio over the shuffled pairs of each row of x. For the true ratio that
    mean has expectation one at every x, so that rows are as good as independent."""
    one_shuffled: Array
    """Log-ratio at one shuffled pair for every row of x."""
    highest: float
    """Largest log-ratio of a shuffled pair."""
    log_mass: Array
    """Logarithm of the mean ratio over the shuffled pairs of each fold: 0 if it is normalised."""
    mass_errors: Array
    """Its standard error."""
    inside: Array
    """The estimate on the fitted rows of each fold; NaN where it was not asked for."""

    @property
    def seen(self) -> IntArray:
        """Rows of the folds that were looked at."""
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
    def excess(self) -> float:
        """By how much the mass is too large, beyond its error.

        Too small a mass does not count: across a chasm no shuffled pair lies where the joint
        distribution has its mass.
        """
        # A mean of ratios exceeds its expectation, one, twentyfold in one of twenty cases at most.
        slack = np.log(20.0) if self.plug_in > CHASM else 0.0
        return float(np.mean(np.maximum(self.log_mass - self.mass_errors - slack, 0.0)))

    @property
    def score(self) -> float:
        """What candidates are compared by."""
        return self.plug_in - self.excess

    @property
    def mass_error(self) -> float:
        """Standard error of the mean of the logarithms of the masses."""
        return float(np.sqrt(np.mean(np.square(self.mass_errors)) / len(self.mass_errors)))

    def ahead(self, other: Evaluation) -> float:
        """The gain in standard errors of the paired difference."""
        both = np.intersect1d(self.seen, other.seen)
        error = row_gain(self.joint[both], other.joint[both]).std_error
        for each in (self, other):
            # A mass that does not count has no error that does.
            if each.excess > 0:
                error = float(np.hypot(error, each.mass_error))
        gain = self.score - other.score
        return gain / error if error > 0 else float(np.copysign(np.inf, gain)) if gain else 0.0

    def beats(self, other: Evaluation, margin: float) -> bool:
        """Whether the gain exceeds so many standard errors of the paired difference."""
        return self.ahead(other) > margin

    def clearly_above(self, other: Evaluation, rows: IntArray) -> bool:
        """Whether another is worse by more than chance at some rows that both have seen."""
        gain = row_gain(self.joint[rows], other.joint[rows])
        ahead = gain.mean - self.excess + other.excess
        return bool(ahead > PROVEN * max(gain.std_error, 1e-12))


def joined(first: Evaluation, rest: Evaluation) -> Evaluation:
    """What one ratio says in some folds and in others."""
    seen = np.isfinite(first.joint)
    return Evaluation(
        first.ratio,
        np.where(seen, first.joint, rest.joint),
        np.where(seen, first.shuffled, rest.shuffled),
        np.where(seen, first.one_shuffled, rest.one_shuffled),
        max(first.highest, rest.highest),
        np.concatenate([first.log_mass, rest.log_mass]),
        np.concatenate([first.mass_errors, rest.mass_errors]),
        np.concatenate([first.inside, rest.inside]),
    )


def row_gain(mine: Array, theirs: Array) -> Gain:
    """Gain of one log-ratio over another on the same rows, all of which count equally."""
    return paired_gain([mine], [theirs], [np.full(len(mine), 1.0 / len(mine))])


def evaluate(
    ratio: PairRatio,
    splits: Sequence[Split],
    rng: np.random.Generator,
    *,
    fit: bool = True,
    inside: bool = True,
) -> Evaluation:
    """Fit a ratio without each fold in turn, unless it is to keep its fit, and evaluate it there.

    With ``inside`` it is evaluated on the fitted rows, too.
    """
    n = 1 + max(int(rows.max()) for split in splits for rows in (split.train, split.held))
    joint, shuffled, one = np.full((3, n), np.nan)
    highest = -np.inf
    log_mass, mass_errors, within = np.full((3, len(splits)), np.nan)
    for k, split in enumerate(splits):
        rows, fitted = split.held, split.train
        if fit:
            ratio.fit(fitted)
        joint[rows] = ratio.log_ratio(rows, rows)
        values = _at_shuffled(ratio, rows, rng, SHUFFLES)
        each = values.reshape(-1, len(rows))
        one[rows] = each[0]
        shuffled[rows] = logsumexp(each, axis=0) - np.log(len(each))
        highest = max(highest, float(values.max()))
        # Beyond nearly all joint pairs a ratio at a shuffled pair is off, and means nothing.
        top = float(np.quantile(joint[rows], _TOP))
        log_mass[k], mass_errors[k] = _log_mass(np.minimum(values, top))
        if inside and ratio.knows_inside:
            own = ratio.log_ratio(fitted, fitted)
            within[k] = own.mean()
            if not ratio.normalised:
                values = _at_shuffled(ratio, fitted[: max(len(rows), 4000)], rng, 2)
                within[k] -= _log_mass(np.minimum(values, np.quantile(own, _TOP)))[0]
    return Evaluation(ratio, joint, shuffled, one, highest, log_mass, mass_errors, within)


def _at_shuffled(ratio: PairRatio, rows: IntArray, rng: np.random.Generator, count: int) -> Array:
    """Log-ratios at rows of x with rows of y that are not their own."""
    # A rotation of a random order leaves no row with its own.
    order = rng.permutation(rows)
    turns = 1 + rng.permutation(max(len(rows) - 1, 1))[:count]
    return np.concatenate([ratio.log_ratio(order, np.roll(order, turn)) for turn in turns])


def _log_mass(values: Array) -> tuple[float, float]:
    """Logarithm of the mean of exp(values), and its standard error."""
    mean = float(logsumexp(values)) - float(np.log(len(values)))
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(np.minimum(values - mean, 300.0))
    return mean, float(weight.std() / np.sqrt(len(values)))


def lower_bound(found: Evaluation | None, value: float, std_error: float, level: float) -> float:
    """One-sided bound by Donsker and Varadhan on held-out pairs, at least 0.

    It is never above that of the estimate's normal approximation, which takes the model at its
    word and serves where there are no such pairs.
    """
    normal = float(max(value - float(ndtri(level)) * std_error, 0.0))
    if found is None or not np.isfinite(found.shuffled).all():
        return normal
    joint, shuffled = found.joint, found.shuffled
    mass = np.exp(shuffled - shuffled.max())
    mass /= mass.mean()
    rough = mass.std() / np.sqrt(len(mass)) > _ROUGH
    if rough or np.mean(joint <= found.highest) < REACHED:
        # Too few shuffled pairs look like joint ones for the mean of their ratios: what is cut off
        # at the height of these pairs, and shares above thresholds, prove what can be proven.
        return min(normal, lower_end(joint, found.one_shuffled, level=level).low)
    error = np.sqrt((joint.var() + mass.var()) / len(mass))
    bound = joint.mean() - np.logaddexp.reduce(shuffled) + np.log(len(mass))
    low = float(bound - ndtri(level) * error)
    # What rounding leaves of a ratio of one everywhere is nothing.
    return min(normal, low) if low > _NOTHING else 0.0
