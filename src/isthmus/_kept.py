"""Some rows of each sample, which a comparison keeps for pictures and for columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._typing import Array, IntArray

_MOST_ROWS = 20_000
_MOST_NUMBERS = 2_000_000


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
    def of(cls, p: Array, q: Array, weight_p: Array | None, weight_q: Array | None) -> KeptRows:
        """Keep at most 20,000 rows of each sample, and of wide ones at most two million numbers.

        Rows are evenly spaced in number, so that a sorted sample is seen from end
        to end. Rows of weight zero are not there.
        """
        most = int(np.clip(_MOST_NUMBERS // p.shape[1], 100, _MOST_ROWS))
        at_p, at_q = _places(len(p), weight_p, most), _places(len(q), weight_q, most)
        # Indexing copies: what the caller does to the sample later is not seen here.
        return cls(p[at_p], q[at_q], at_p, at_q)


def _places(n: int, weight: Array | None, most: int) -> IntArray:
    there = np.arange(n) if weight is None else np.flatnonzero(weight > 0)
    return there[np.unique(np.linspace(0, len(there) - 1, most).astype(np.intp))]
