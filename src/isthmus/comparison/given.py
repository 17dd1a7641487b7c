"""The rows of a comparison as they were given, to show some of them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..data.sample import TwoSamples
from ..typing import Array, IntArray

_KEPT = 100


class TopRows(NamedTuple):
    """Rows that are most of p, and rows that are most of q, the clearest first."""

    p: Any
    q: Any


@dataclass(frozen=True)
class GivenRows:
    """Two samples as they were given, and which of their rows were used.

    Frames are not copied: they are those of the caller. A pickle keeps the clearest rows only.

    Attributes
    ----------
    p, q : frame, Series, dict of columns or array, or None
        What was given, where the comparison's own rows are others.
    kept_p, kept_q : ndarray of int, or None
        Places of the rows that were used; None for all.
    flat : bool
        Whether arrays of one dimension were given.
    """

    p: Any = None
    q: Any = None
    kept_p: IntArray | None = None
    kept_q: IntArray | None = None
    flat: bool = False

    @classmethod
    def of(cls, p: Any, q: Any) -> GivenRows:
        """Two samples as a caller gives them."""
        if _is_frame(p) and _is_frame(q):
            return cls(p, q)
        return cls(flat=_is_flat(p) and _is_flat(q))

    def used(self, kept_p: Any, kept_q: Any) -> GivenRows:
        """The same where some rows only were used, by their places or by a mask."""
        p, q = (
            np.arange(len(kept))[kept] if np.asarray(kept).dtype == bool else np.asarray(kept)
            for kept in (kept_p, kept_q)
        )
        return replace(self, kept_p=p, kept_q=q)

    def take(self, samples: TwoSamples, at_p: IntArray, at_q: IntArray) -> TopRows:
        """Rows at these places, as they were given."""
        if self.p is None:
            p, q = samples.p.rows[at_p], samples.q.rows[at_q]
            return TopRows(p[:, 0], q[:, 0]) if self.flat else TopRows(p, q)
        at_p = at_p if self.kept_p is None else self.kept_p[at_p]
        at_q = at_q if self.kept_q is None else self.kept_q[at_q]
        if min(at_p.min(initial=0), at_q.min(initial=0)) < 0:
            raise ValueError(
                f"n must be at most {_KEPT} after a pickle, which keeps no more rows of a frame; "
                f"received {len(at_p)}."
            )
        return TopRows(_taken(self.p, at_p), _taken(self.q, at_q))

    def shortened(self, at_p: IntArray, at_q: IntArray, sizes: tuple[int, int]) -> GivenRows:
        """The same with some rows only, for a pickle: other places are gone."""
        if self.p is None:
            return self
        made = []
        for rows, kept, at, size in (
            (self.p, self.kept_p, at_p, sizes[0]),
            (self.q, self.kept_q, at_q, sizes[1]),
        ):
            places = np.full(size, -1, dtype=np.intp)
            places[at] = np.arange(len(at))
            made.append((_taken(rows, at if kept is None else kept[at]), places))
        (p, kept_p), (q, kept_q) = made
        return replace(self, p=p, q=q, kept_p=kept_p, kept_q=kept_q)


def clearest(log_ratio_p: Array, log_ratio_q: Array, n: int = _KEPT) -> tuple[IntArray, IntArray]:
    """Places of the rows of p with the largest log-ratio, and of q with the smallest."""
    p = np.argsort(-log_ratio_p, kind="stable")[:n]
    return p, np.argsort(log_ratio_q, kind="stable")[:n]


def _is_flat(rows: Any) -> bool:
    try:
        return np.ndim(rows) < 2
    except ValueError:
        # Rows of several lengths, which the door refuses in words.
        return False


def _is_frame(rows: Any) -> bool:
    import narwhals as nw

    if isinstance(rows, Mapping):
        return True
    return nw.from_native(rows, eager_only=True, allow_series=True, pass_through=True) is not rows


def _taken(rows: Any, at: IntArray) -> Any:
    """Some rows of a frame, a Series or a dict of columns."""
    import narwhals as nw

    if isinstance(rows, np.ndarray):
        return rows[at]
    if isinstance(rows, Mapping):
        return {name: np.asarray(column)[at] for name, column in rows.items()}
    return nw.from_native(rows, eager_only=True, allow_series=True)[at.tolist()].to_native()
