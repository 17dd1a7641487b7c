"""Boosted trees of few leaves, gone through by whole columns.

Every split rules out the leaves on its other side, so that the bits of one byte say which are left,
and the lowest of them is the leaf. scikit-learn goes from node to node for every row, which takes
ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..candidates.base import MOST_NATS, limited
from ..candidates.trees import TreesFit
from ..typing import Array, IntArray

_LEAVES = 8
"""Leaves of a tree that the bits of a byte stand for."""

_ROWS = 1 << 13
"""Rows that are worked on at a time."""


@dataclass(frozen=True)
class Tree:
    """A tree of few leaves.

    Attributes
    ----------
    columns : ndarray of int
        Column of every split.
    limits : ndarray
        Rows with a larger value, or none, go to the right.
    gone : ndarray of uint8
        Leaves that a row to the right cannot be in, as bits.
    values : ndarray of shape (256,)
        What the tree adds, by the bits of the leaves that are left.
    """

    columns: IntArray
    limits: Array
    gone: np.ndarray
    values: Array


@dataclass(frozen=True)
class QuickTrees:
    """Boosted trees of few leaves each, on the columns and on the log-ratio before."""

    trees: tuple[Tree, ...]
    constant: float

    @classmethod
    def of(cls, fit: TreesFit) -> QuickTrees | None:
        """The same trees; None for larger ones and for those that part levels."""
        nodes = _nodes(fit.trees)
        if nodes is None or len(fit.bins.categories) or any(len(one) > 15 for one in nodes):
            return None
        found = tuple(_tree(one, fit.bins.edges, fit.bins.columns) for one in nodes)
        start = getattr(fit.trees, "_baseline_prediction", None)
        constant = fit.trees.baseline if start is None else np.ravel(start)[0]
        return cls(found, float(constant))

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        out = np.empty(len(rows))
        for begin in range(0, len(rows), _ROWS):
            at = slice(begin, begin + _ROWS)
            out[at] = self._some(rows[at], before[at])
        return limited(out)

    def _some(self, rows: Array, before: Array) -> Array:
        n = len(rows)
        X = np.empty((rows.shape[1] + 1, n))
        X[:-1], X[-1] = rows.T, np.clip(before, -MOST_NATS, MOST_NATS)
        out, right = np.full(n, self.constant), np.empty(n, dtype=bool)
        as_number = right.view(np.uint8)
        left, gone, added = np.empty(n, dtype=np.uint8), np.empty(n, dtype=np.uint8), np.empty(n)
        for tree in self.trees:
            left.fill(255)
            for column, limit, bits in zip(tree.columns, tree.limits, tree.gone, strict=True):
                # Not "above": a value that is missing goes to the right.
                np.less_equal(X[column], limit, out=right)
                # Those to the left keep all leaves.
                np.multiply(as_number, bits, out=gone)
                np.bitwise_or(gone, ~bits, out=gone)
                np.bitwise_and(left, gone, out=left)
            np.take(tree.values, left, out=added, mode="clip")
            out += added
        return out


def _nodes(trees: Any) -> list[np.ndarray] | None:
    """The nodes of every tree, of scikit-learn's or as they were read from a file."""
    found = getattr(trees, "_predictors", None)
    if found is None:
        return None
    return [one[0].nodes if isinstance(one, list) else one.nodes for one in found]


def _tree(nodes: np.ndarray, edges: Sequence[Array], columns: IntArray) -> Tree:
    """A tree on numbers of bins as one on the values of columns."""
    where: list[int] = []
    limits: list[float] = []
    gone: list[int] = []
    values = np.zeros(256)
    leaves: list[float] = []

    def walk(k: int) -> int:
        """Go through the leaves below a node, from left to right; their bits."""
        node = nodes[k]
        if node["is_leaf"]:
            leaves.append(float(node["value"]))
            return 1 << (len(leaves) - 1)
        place = len(where)
        feature = int(node["feature_idx"])
        where.append(int(columns[feature]))
        limits.append(_limit(edges[feature], float(node["num_threshold"])))
        gone.append(0)
        lefts = walk(int(node["left"]))
        gone[place] = lefts
        return lefts | walk(int(node["right"]))

    walk(0)
    bits = np.arange(256)
    for leaf in reversed(range(len(leaves))):
        # The lowest bit is the leaf.
        values[(bits >> leaf) & 1 == 1] = leaves[leaf]
    return Tree(np.array(where, dtype=np.intp), np.array(limits), np.array(gone, np.uint8), values)


def _limit(edges: Array, threshold: float) -> float:
    """The largest value whose bin has at most this number."""
    most = int(np.floor(threshold))
    if most < 0:
        return -np.inf
    return float(edges[most]) if most < len(edges) else np.inf
