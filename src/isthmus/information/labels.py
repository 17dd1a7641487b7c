r"""Mutual information of a label and of columns of any kind.

.. math:: I = E\left[\log\frac{p(l \mid x)}{p(l)}\right]

The probabilities are those of :mod:`.classes`, at rows that no fit has seen. Whatever they are, the
mean is at most I in expectation; what is still to be learned is read off fits to fewer rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from ..crossfit import Smaller
from ..data.holdout import LEAST_NATS
from ..data.seeds import Seeds
from ..diagnostics.check import Check, advised, graded
from ..diagnostics.stacking import check_learning
from ..typing import Array, IntArray
from ..uncertainty.learning import FAST, SLOW
from ..words import count
from .classes import Classes, Judged, judge_classes
from .counts import check_repeats, entropy_limit
from .result import Answer
from .values import Values, numbered

# Rows that a class must have to be learned, and classes that are learned at most.
_LEAST_ROWS, _MOST_CLASSES = 10, 24
# Rows that a level of a column must have for a column of its own, and such columns at most.
_LEVEL_ROWS, _ROWS_PER_LEVEL, _MOST_LEVELS = 5, 20, 40
# Information that may be missing whatever the value is.
_LITTLE = 0.1
# Variance of log-ratios below which they do not vary, and steps of Newton's method.
_FLAT, _STEPS = 4e-4, 30


def label_information(x: Values, label: IntArray, seeds: Seeds, n_folds: int) -> Answer:
    """Mutual information of columns and a label 0, 1, ..., each of which occurs.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> label = rng.integers(2, size=400)
    >>> x = Values((label + 0.3 * rng.normal(size=400))[:, None], False)
    >>> found = label_information(x, label, Seeds(0), 5)
    >>> bool(0.4 < found.value < np.log(2))
    True
    """
    learned = Learned.of(label)
    rows, notes = as_features(x)
    limit = entropy_limit(np.bincount(label))
    if not rows.shape[1] or not label.any():
        return Answer(0.0, 0.0, "classifier", np.zeros(len(label)), most=0.0)
    notes = (*learned.notes, *notes)
    single = float((np.bincount(label) == 1).sum()) / len(label)
    checks = {"labels": check_repeats(single), "classes": learned.check()}
    if not learned.label.any():
        # There is no class but one with rows enough.
        nothing = np.zeros(len(label))
        further = (0.0, learned.left)
        return Answer(
            0.0, 0.0, "classifier", nothing, further=further, most=limit, checks=checks, notes=notes
        )
    classes = Classes(rows, learned.label)
    found = judge_classes(classes, min(n_folds, int(np.bincount(classes.label).min())), seeds)
    return _answer(classes, found, learned, limit, checks, notes)


def _answer(
    classes: Classes,
    found: Judged,
    learned: Learned,
    limit: float,
    checks: dict[str, Check],
    notes: tuple[str, ...],
) -> Answer:
    terms, fewer = (_terms(classes, log_p) for log_p in (found.log_p, found.fewer))
    spread = max(float(terms.var()), _expected_spread(classes, found.log_p))
    curve = Curve.of(terms, fewer, found.curve, spread)
    above = max(curve.above, curve.seen + hidden(classes) - curve.value)
    entropy = -float(classes.share @ np.log(classes.share))
    value = min(curve.value, entropy)
    checks = checks | {
        "calibration": check_probabilities(found.log_p, classes.label),
        "learning": check_learning(curve.seen, min(curve.seen + curve.half, limit)),
        "precision": check_error(value, curve.error, value + above),
    }
    return Answer(
        value,
        curve.error,
        "classifier",
        terms,
        trials=tuple(
            {"name": name, "score": gain.mean}
            for name, gain in zip(found.names, found.gains, strict=True)
        ),
        further=(max(value - curve.seen, 0.0), above + learned.left),
        most=limit,
        checks=checks,
        notes=notes,
        proven=(curve.seen, float(np.sqrt(spread / len(terms)))),
        unseen=above - max(curve.above, 0.0) + learned.left,
    )


@dataclass(frozen=True)
class Curve:
    """Where a mean of held-out terms leads as rows come.

    Attributes
    ----------
    seen : float
        The mean itself.
    value, error : float
        The mean with what learning fast would add, and its standard error.
    above : float
        What learning slowly would add to the value.
    half : float
        What learning as the root of the number of rows would add to the mean.
    """

    seen: float
    value: float
    error: float
    above: float
    half: float

    @classmethod
    def of(cls, terms: Array, fewer: Array, curve: Smaller, spread: float) -> Curve:
        """From the terms of all rows by fits to most rows and to fewer, and their variance."""
        n, seen = len(terms), float(terms.mean())
        gain = max(seen - float(fewer.mean()), 0.0)
        noise = float((terms - fewer).std() / np.sqrt(n))
        sure = gain**2 / (gain**2 + noise**2) if gain > 0 else 0.0
        below = sure * curve.ahead(FAST) * gain
        error = float(np.hypot(np.sqrt(spread / n), sure * curve.ahead(FAST) * noise))
        # No gain that was seen is no gain: half of its noise may have hidden one.
        above = curve.ahead(SLOW) * max(gain, 0.5 * noise) - below
        return cls(seen, seen + below, error, above, curve.ahead(0.5) * gain)


@dataclass(frozen=True)
class Learned:
    """The classes that are learned: labels with rows enough, and the others as one.

    Attributes
    ----------
    label : ndarray of int
        Class of each row, 0 for the most frequent.
    left : float
        Entropy of the label where the class is known.
    joined : int
        Number of labels that are one class.
    rows : int
        Number of rows that have these.
    """

    label: IntArray
    left: float
    joined: int
    rows: int

    @classmethod
    def of(cls, label: IntArray) -> Learned:
        """Join labels of few rows with each other, or, if that is not enough, with the largest."""
        label = numbered(label)
        rows = np.bincount(label)
        kept = int(min((rows >= _LEAST_ROWS).sum(), _MOST_CLASSES))
        rest = int(rows[kept:].sum())
        if rest and rest < _LEAST_ROWS:
            classes = np.where(label < kept, label, 0)
            joined, together = len(rows) - kept + min(kept, 1), rest + int(rows[:1].sum())
        else:
            classes = np.minimum(label, kept)
            joined, together = len(rows) - kept, rest
        if not kept:
            classes = np.zeros(len(label), dtype=np.intp)
        left = _entropy(rows) - _entropy(np.bincount(classes))
        return cls(numbered(classes), max(left, 0.0), joined if joined > 1 else 0, together)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was joined."""
        if not self.joined:
            return ()
        return (
            f"{count(self.joined, 'label')} with {count(self.rows, 'row')} were taken for one, for "
            f"want of rows. They could tell {self.left:.2g} nats more, which the interval allows.",
        )

    def check(self) -> Check:
        """Whether the classes have rows enough, and whether what was joined matters."""
        least = int(np.bincount(self.label).min())
        share = self.left / max(_entropy(np.bincount(self.label)) + self.left, _LITTLE)
        verdict = graded(share, 0.05, 0.25)
        if not self.label.any():
            verdict = "fail"
        elif least < 3 * _LEAST_ROWS and verdict == "ok":
            verdict = "warn"
        return advised(
            float(least),
            verdict,
            f"The smallest class has {count(least, 'row')}, and {share:.0%} of the entropy of the "
            "label is in labels that were joined",
            warn=": more rows of rare labels would tell.",
            fail=": there are too few rows for most labels. Only the lower end is known.",
        )


def hidden(classes: Classes) -> float:
    """Information that so many rows may have without showing it, nats.

    A line in d columns that is not there gains d / 2 nats over all rows by chance, and one of m
    features, here the columns with their squares and products, log m. As much, and what is no
    evidence in any case, goes unseen, with what its own noise hides.

    Examples
    --------
    >>> rows, label = np.zeros((100, 1)), np.repeat([0, 1], 50)
    >>> round(hidden(Classes(rows, label)), 2)
    0.1
    """
    n, d = classes.rows.shape
    total = (len(classes.share) - 1) * (LEAST_NATS + np.log(0.5 * d * (d + 3)) + 0.5 * d)
    return float(total / n + 1.96 * np.sqrt(2.0 * total) / n)


def as_features(x: Values) -> tuple[Array, tuple[str, ...]]:
    """Columns as numbers for candidates, 0/1 for levels, without those that do not vary.

    Examples
    --------
    >>> x = Values(np.column_stack([[0.5] * 40, [0.0, 1.0] * 20]), False, (1,), (), ("a", "b"))
    >>> as_features(x)[0].shape
    (40, 1)
    """
    if x.discrete:
        x = Values(x.array[:, None].astype(np.float64), False, (0,), (), ("label",))
    n, made, notes = len(x), [], []
    most = int(np.clip(n // _ROWS_PER_LEVEL, 8, _MOST_LEVELS))
    for j in range(x.array.shape[1]):
        column = x.array[:, j]
        if j not in x.categories:
            made.append(column)
            continue
        rows = np.bincount(column.astype(np.intp))
        kept = int(min((rows >= min(_LEVEL_ROWS, n // 10)).sum(), most))
        if kept == len(rows) == 2:
            made.append(column)
            continue
        made.extend(column == k for k in range(kept))
        if kept < len(rows):
            made.append(column >= kept)
            name = x.names[j] if x.names else f"column {j}"
            rest = count(int(rows[kept:].sum()), "row")
            notes.append(f"{len(rows) - kept} rare levels of {name!r}, in {rest}, count as one.")
    features = np.column_stack([np.zeros(n), *made])
    return features[:, (features != features[:1]).any(axis=0)], tuple(notes)


def check_probabilities(log_p: Array, label: IntArray) -> Check:
    """Whether labels are as likely as probabilities say.

    Their log-ratios to the shares of the labels are multiplied by a slope, which should be 1.

    Parameters
    ----------
    log_p : ndarray of shape (n, K)
        Log-probabilities at rows that were not fitted to.
    label : ndarray of int, shape (n,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.1, 0.9, 4000)
    >>> label = (rng.uniform(size=4000) < p).astype(int)
    >>> check_probabilities(np.log(np.column_stack([1 - p, p])), label).verdict
    'ok'
    """
    at, base = np.arange(len(label)), np.log(np.bincount(label) / len(label))
    ratio, slope = log_p - base, 1.0
    for _ in range(_STEPS):
        p = softmax(base + slope * ratio, axis=1)
        mean = (p * ratio).sum(axis=1)
        score = ratio[at, label] - mean
        curvature = float(((p * ratio**2).sum(axis=1) - mean**2).sum())
        if curvature < _FLAT * len(label):
            told = "The probabilities hardly vary, so that calibration cannot be judged."
            return Check(1.0, "ok", told, details={"std_error": np.inf})
        step = float(score.sum()) / curvature
        slope += float(np.clip(step, -0.5, 0.5))
        if abs(step) < 1e-6:
            break
    error = float(np.sqrt((score**2).sum())) / curvature
    gap = abs(slope - 1.0)
    fails, warns = (gap > max(3.0 * error, least) for least in (0.4, 0.1))
    told = "too extreme" if slope < 1.0 else "too timid"
    return advised(
        slope,
        "fail" if fails else "warn" if warns else "ok",
        f"Labels follow their probabilities with slope {slope:.2f} ± {error:.2g}, should be 1",
        warn=f": the probabilities are {told}.",
        details={"std_error": error},
    )


def check_error(value: float, error: float, high: float) -> Check:
    """Whether there are rows enough for the value to mean something.

    Parameters
    ----------
    value, error : float
        The information and its standard error.
    high : float
        Where the interval would end without that error.

    Examples
    --------
    >>> check_error(0.5, 0.01, 0.52).verdict, check_error(0.01, 0.01, 0.5).verdict
    ('ok', 'warn')
    """
    least = max(value, _LITTLE)
    share = error / least
    return advised(
        share,
        "warn" if share > 0.2 or high > 3.0 * least else "ok",
        f"The standard error is {error:.2g} nats, and up to {max(high, 0.0):.2g} may go unseen",
        warn=": read the interval, not the value; more rows would help.",
    )


def _terms(classes: Classes, log_p: Array) -> Array:
    """Log P(l | x) / P(l) at the rows."""
    label = classes.label
    return np.asarray(log_p[np.arange(len(label)), label] - np.log(classes.share)[label])


def _expected_spread(classes: Classes, log_p: Array) -> float:
    """Variance of the terms by the probabilities themselves.

    Where hardly a row is of an unlikely class, the terms that there are vary too little.
    """
    ratio, p = log_p - np.log(classes.share), np.exp(log_p)
    mean = float((p * ratio).sum(axis=1).mean())
    return float((p * (ratio - mean) ** 2).sum(axis=1).mean())


def _entropy(rows: IntArray) -> float:
    share = rows[rows > 0] / rows.sum()
    return -float(share @ np.log(share))
