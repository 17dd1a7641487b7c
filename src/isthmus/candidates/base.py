"""What a candidate is: a way to get log p/q from two samples, small enough to be written in a file.

A candidate is fitted to two samples and to the log-ratio that was there before it: that of
densities fitted to the same rows, or zero where these say of other rows something else. What it
found is asked for with rows and that log-ratio at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..data.sample import Sample, TwoSamples, bounded_rows
from ..data.seeds import Seeds
from ..typing import Array

MOST_NATS = 15.0
"""Largest log-ratio, up or down, that a candidate learns from or answers with: where p and q
overlap as far as can be told from rows, no more can be told."""


@dataclass(frozen=True)
class Rows:
    """Rows of both samples, and the log-ratio that was there before at each.

    Attributes
    ----------
    samples : TwoSamples
    before_p, before_q : ndarray
        The log-ratio before, at the rows of p and of q.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.candidates import Ridge, Rows
    >>> from isthmus.data.seeds import Seeds
    >>> from isthmus.data.validation import as_two_samples
    >>> rng = np.random.default_rng(0)
    >>> samples = as_two_samples(rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2)))
    >>> rows = Rows(samples, np.zeros(200), np.zeros(200))  # nothing was known before
    >>> len(rows.samples.p), rows.before_p.shape
    (200, (200,))
    """

    samples: TwoSamples
    before_p: Array
    before_q: Array

    @classmethod
    def of(cls, samples: TwoSamples) -> Rows:
        """Rows with nothing before them."""
        return cls(samples, np.zeros(len(samples.p)), np.zeros(len(samples.q)))

    @property
    def before(self) -> tuple[Array, Array]:
        """The log-ratio before, at the rows of p and of q."""
        return self.before_p, self.before_q

    def take(self, at_p: Any, at_q: Any) -> Rows:
        """Some rows of each."""
        return Rows(self.samples.take(at_p, at_q), self.before_p[at_p], self.before_q[at_q])

    def bounded(self, most: int) -> Rows:
        """At most so many rows of each sample, the same ones each time."""
        if max(map(len, self.samples)) <= most:
            return self
        return self.take(*(bounded_rows(len(sample), most) for sample in self.samples))


class FittedCandidate(Protocol):
    """What a candidate found.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.candidates import Ridge, Rows
    >>> from isthmus.data.seeds import Seeds
    >>> from isthmus.data.validation import as_two_samples
    >>> rng = np.random.default_rng(0)
    >>> samples = as_two_samples(rng.normal(0, 1, (200, 2)), rng.normal(1, 1, (200, 2)))
    >>> rows = Rows(samples, np.zeros(200), np.zeros(200))  # nothing was known before
    >>> ridge = Ridge().settled(rows, Seeds(0))
    >>> found = ridge.fit(rows, Seeds(0))  # a FittedCandidate
    >>> found.log_ratio(samples.p.rows[:3], np.zeros(3)).shape
    (3,)
    """

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows, at which the log-ratio before is given; shape (n,)."""
        ...


class Candidate(Protocol):
    """A way to get log p/q.

    Attributes
    ----------
    name : str
        What it is called in the record of a stack.
    takes_before : bool
        Whether it looks at the log-ratio before.

    Examples
    --------
    >>> from isthmus.candidates import LIBRARY, Candidate
    >>> all(isinstance(candidate.name, str) for candidate in LIBRARY)
    True
    >>> [name for name in ("suits", "settled", "fit") if hasattr(Candidate, name)]
    ['suits', 'settled', 'fit']
    """

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def takes_before(self) -> bool:
        """Whether it looks at the log-ratio before."""
        ...

    def suits(self, samples: TwoSamples) -> bool:
        """Whether there are rows and columns for it."""
        ...

    def settled(self, rows: Rows, seeds: Seeds) -> Candidate:
        """The same with what it chooses for itself chosen; folds take that over."""
        ...

    def fit(self, rows: Rows, seeds: Seeds) -> FittedCandidate:
        """Fit to rows."""
        ...


def balanced(samples: TwoSamples) -> tuple[Array, Array]:
    """Weights of the rows for which both samples count alike and a row counts one on average."""
    half = 0.5 * (len(samples.p) + len(samples.q))
    p, q = (half * sample.share for sample in samples)
    return p, q


def log_loss(log_ratio: tuple[Array, Array], samples: TwoSamples | tuple[Sample, Sample]) -> float:
    """Mean log-loss of the labels with both samples equally frequent.

    Examples
    --------
    >>> import numpy as np
    >>> nothing = np.zeros(2), np.zeros(3)
    >>> round(log_loss(nothing, TwoSamples.of(np.zeros((2, 1)), np.zeros((3, 1)))), 4)
    0.6931
    """
    p, q = samples
    return 0.5 * float(
        p.share @ np.logaddexp(0.0, -log_ratio[0]) + q.share @ np.logaddexp(0.0, log_ratio[1])
    )


def limited(log_ratio: Array) -> Array:
    """A log-ratio within what rows can tell."""
    return np.clip(np.nan_to_num(log_ratio), -MOST_NATS, MOST_NATS)
