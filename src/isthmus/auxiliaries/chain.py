"""Automatic auxiliaries: the paper's accuracy band made into a procedure.

The classes should form a chain from p to q in which neighbours overlap but are
not alike. How well two classes can be told apart is measured on rows held out, by
the quadratic rule that two fitted normals give.

1. *Kind.* The fitted overlapping auxiliary (where columns have levels, one that draws levels) is
   taken if it joins p and q, as its density is known and nothing about it has to be learned; if
   not, whichever kind, overlapping, linear or dimension-wise mixing, is told apart least on its
   worse side.
2. *Insert.* Where two neighbours are still told apart in more than 95 % of the
   rows, whichever kind of mixing lies best between p and q there is put in. A class that can
   hardly be told from a neighbour, or brings them no closer, is dropped, and the chain ends.

What is inserted stays only if it raises the held-out likelihood; :mod:`isthmus.selection` sees
to that.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..anchors import GaussianAnchor
from ..data.levels import Layout
from ..data.sample import TwoSamples
from ..maps.affine import AffineMap, canonical_map
from ..typing import Array
from .bridge import Bridge
from .mixing import DimensionWiseMixing, LinearMixing
from .shuffled import ShuffledColumns

APART, ALIKE = 0.95, 0.55
_ROWS = 4000
_MOST = 5
_SOME_ROWS, _ON_SUBSPACE = 500, 1e-7


@dataclass(frozen=True)
class Link:
    """An unfitted auxiliary of the chain, and in one sentence why it is there."""

    auxiliary: Any
    reason: str


def separability(a: Array, b: Array) -> float:
    """Share of held-out rows of two classes that fitted normals put into the right one.

    One half for classes that are alike, one for classes that do not overlap.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(0, 1, (2000, 2)), rng.normal(0, 1, (2000, 2))
    >>> 0.45 < separability(a, b) < 0.55, separability(a, b + 9) > 0.99
    (True, True)
    """
    own, other = (GaussianAnchor().fit(rows[::2]) for rows in (a, b))
    right = [
        np.mean(sign * (own.score_samples(rows) - other.score_samples(rows)) > 0)
        for rows, sign in ((a[1::2], 1.0), (b[1::2], -1.0))
    ]
    return float(np.mean(right))


def _overlapping(p: Array, q: Array, where: AffineMap) -> Any:
    """An auxiliary on both samples, which draws levels where columns have levels."""
    if not Layout.of(np.concatenate([p, q])).has_levels:
        return Bridge()
    shuffled = ShuffledColumns()
    rows = shuffled.fit(p, q).sample(_SOME_ROWS, np.random.default_rng(0))
    # Columns may depend on each other in ways that shuffling does not keep.
    back, unit = where.inverse(where(rows)), np.abs(rows).max() + np.abs(where.centre).max()
    return shuffled if np.abs(back - rows).max() <= _ON_SUBSPACE * unit else Bridge()


def build_chain(p: Array, q: Array, rng: np.random.Generator) -> list[Link]:
    """Build the chain of auxiliaries from p to q, whose rows are in no particular order."""
    p, q = p[:_ROWS], q[:_ROWS]
    where = canonical_map(TwoSamples.of(p, q), warn=False)

    def drawn(auxiliary: Any) -> Array:
        return where(clone(auxiliary, safe=False).fit(p, q).sample(_ROWS, rng))

    begin, end = where(p), where(q)
    kinds: dict[str, Any] = {
        "overlapping": _overlapping(p, q, where),
        "linear mixing": LinearMixing([0.5]),
    }
    if p.shape[1] > 1:
        kinds["dimension-wise mixing"] = DimensionWiseMixing(2)
    worst = {
        name: max(separability(begin, rows), separability(rows, end))
        for name, rows in ((name, drawn(one)) for name, one in kinds.items())
    }
    best = "overlapping"
    if worst[best] > APART:
        best = min(worst, key=lambda name: (worst[name], name == "overlapping"))
    told = ", ".join(f"{name} {accuracy:.0%}" for name, accuracy in worst.items())
    first = kinds[best]
    why = "Joins p and q" if worst[best] <= APART else "Least far from p and q"
    chain = [Link(first, f"{why} (worse side told apart: {told}).")]
    rows, places = [begin, drawn(first), end], [0.0, 0.5, 1.0]
    while len(chain) < _MOST:
        apart = [separability(a, b) for a, b in itertools.pairwise(rows)]
        gap = int(np.argmax(apart))
        if apart[gap] <= APART:
            break
        place = 0.5 * (places[gap] + places[gap + 1])
        options = {f"linear mixing at {place:.2f}": LinearMixing([place])}
        if p.shape[1] > 1:
            blocks = min(p.shape[1], 8)
            count = int(np.clip(round(place * blocks), 1, blocks - 1))
            options[f"{count} of {blocks} blocks mixed"] = DimensionWiseMixing(
                blocks, merged=True, counts=[count]
            )
        sides = {
            name: (separability(rows[gap], new), separability(new, rows[gap + 1]), new)
            for name, new in ((name, drawn(one)) for name, one in options.items())
        }
        name = min(sides, key=lambda name: max(sides[name][:2]))
        left, right, new = sides[name]
        if max(left, right) >= apart[gap] - 0.005 or min(left, right) < ALIKE:
            # It bridges nothing, or cannot be told from a neighbour.
            break
        reason = (
            f"Inserted ({name}): its neighbours were told apart in {apart[gap]:.0%}, now "
            f"{left:.0%} and {right:.0%}."
        )
        chain.insert(gap, Link(options[name], reason))
        rows.insert(gap + 1, new)
        places.insert(gap + 1, place)
    return chain
