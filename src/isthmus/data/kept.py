"""Some rows of each sample, for pictures, columns and checks that need no more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..typing import Array, IntArray
from .sample import Sample, TwoSamples, bounded_rows

MOST_ROWS = 20_000
MOST_NUMBERS = 2_000_000


@dataclass(frozen=True)
class KeptRows:
    """Rows of p and of q, and where among all rows they stand.

    Attributes
    ----------
    p, q : ndarray of shape (k_p, d) and (k_q, d)
    at_p, at_q : ndarray of int
        Places of these rows in the samples that were compared.
    """

    p: Array
    q: Array
    at_p: IntArray
    at_q: IntArray

    @classmethod
    def of(cls, samples: TwoSamples) -> KeptRows:
        """At most 20,000 rows of each sample, and of wide ones at most two million numbers.

        Rows of weight zero are not there.
        """
        most = int(np.clip(MOST_NUMBERS // samples.n_columns, 100, MOST_ROWS))
        at_p, at_q = (_places(sample, most) for sample in samples)
        return cls(samples.p.rows[at_p], samples.q.rows[at_q], at_p, at_q)

    @property
    def finite(self) -> bool:
        """Whether no value is missing."""
        return bool(np.isfinite(self.p).all() and np.isfinite(self.q).all())


def _places(sample: Sample, most: int) -> IntArray:
    there = np.flatnonzero(sample.weight > 0)
    return np.asarray(there[bounded_rows(len(there), most)])
