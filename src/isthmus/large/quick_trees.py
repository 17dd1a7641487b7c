"""Boosted trees, gone through by whole columns.

Every split rules out the leaves on its other side, so that the bits of a number say which are left,
and the lowest of them is the leaf. Of few leaves every split is asked; of more, a table of a column
has what all of its splits rule out. scikit-learn goes from node to node for every row, which takes
several times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..candidates.base import MOST_NATS, limited
from ..candidates.trees import TreesFit
from ..typing import Array, IntArray

_LEAVES = 8
"""Leaves of a tree that the bits of a byte stand for."""

_ROWS = 1 << 13
"""Rows that are worked on at a time."""


_MOST_LEAVES = 64
"""Leaves that the bits of any number stand for."""


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
        nodes = _nodes(fit, _LEAVES)
        if nodes is None:
            return None
        found = tuple(_tree(one, fit.bins.edges, fit.bins.columns) for one in nodes)
        return cls(found, _start(fit))

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


@dataclass(frozen=True)
class LargeTree:
    """A tree of up to 64 leaves.

    Attributes
    ----------
    features : tuple of int
        Features that it has splits of.
    left : tuple of ndarray of uint64
        For each of them, by the number of the bin, the leaves that are left, as bits.
    values : ndarray
        What the tree adds, by the leaf.
    """

    features: tuple[int, ...]
    left: tuple[np.ndarray, ...]
    values: Array


@dataclass(frozen=True)
class QuickLargeTrees:
    """Boosted trees of up to 64 leaves each, on the columns and on the log-ratio before.

    Attributes
    ----------
    columns : ndarray of int
        Columns of the features; the last is the log-ratio before.
    edges : tuple of ndarray
        Edges of the bins of each.
    trees : tuple of LargeTree
    constant : float
    """

    columns: IntArray
    edges: tuple[Array, ...]
    trees: tuple[LargeTree, ...]
    constant: float

    @classmethod
    def of(cls, fit: TreesFit) -> QuickLargeTrees | None:
        """The same trees; None for larger ones and for those that part levels."""
        nodes = _nodes(fit, _MOST_LEAVES)
        if nodes is None:
            return None
        edges = fit.bins.edges
        trees = tuple(_large_tree(one, edges) for one in nodes)
        return cls(fit.bins.columns, edges, trees, _start(fit))

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        out = np.empty(len(rows))
        for begin in range(0, len(rows), _ROWS):
            at = slice(begin, begin + _ROWS)
            out[at] = self._some(rows[at], before[at])
        return limited(out)

    def _some(self, rows: Array, before: Array) -> Array:
        n, last = len(rows), rows.shape[1]
        used = {feature for tree in self.trees for feature in tree.features}
        bins = {}
        for feature in used:
            j = self.columns[feature]
            x = np.clip(before, -MOST_NATS, MOST_NATS) if j == last else rows[:, j]
            bins[feature] = below(self.edges[feature], np.ascontiguousarray(x))
        out, added = np.full(n, self.constant), np.empty(n)
        left, own = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
        for tree in self.trees:
            left.fill(2**64 - 1)
            for feature, table in zip(tree.features, tree.left, strict=True):
                np.take(table, bins[feature], out=own, mode="clip")
                np.bitwise_and(left, own, out=left)
            np.negative(left, out=own)
            np.bitwise_and(left, own, out=left)
            # The exponent of a power of two says which one it is.
            added[:] = left
            leaf = (added.view(np.int64) >> 52) - 1023
            np.take(tree.values, leaf, out=added, mode="clip")
            out += added
        return out


def below(limits: Array, x: Array) -> np.ndarray:
    """How many of some numbers, which are in order, are less than each of x; all of them than none.

    Examples
    --------
    >>> below(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 9.0, np.nan])).tolist()
    [0, 2, 3, 3]
    """
    step = 1 << max(len(limits).bit_length() - 1, 0)
    padded = np.full(2 * step - 1, np.inf)
    padded[: len(limits)] = limits
    where = np.zeros(len(x), dtype=np.min_scalar_type(2 * step))
    at, by, within = np.empty(len(x)), np.empty_like(where), np.empty(len(x), dtype=bool)
    while step:
        np.take(padded[step - 1 :], where, out=at, mode="clip")
        # Not "above": a value that is missing lies above all.
        np.less_equal(x, at, out=within)
        np.logical_not(within, out=within)
        np.multiply(within.view(np.uint8), where.dtype.type(step), out=by)
        np.add(where, by, out=where)
        step //= 2
    return np.minimum(where, len(limits))


def _nodes(fit: TreesFit, leaves: int) -> list[np.ndarray] | None:
    """The nodes of every tree, of scikit-learn's or as they were read from a file.

    None where trees part levels, or have more leaves.
    """
    found = getattr(fit.trees, "_predictors", None)
    if found is None or len(fit.bins.categories):
        return None
    nodes = [one[0].nodes if isinstance(one, list) else one.nodes for one in found]
    return None if any(len(one) >= 2 * leaves for one in nodes) else nodes


def _start(fit: TreesFit) -> float:
    """What the trees are added to."""
    start = getattr(fit.trees, "_baseline_prediction", None)
    return float(fit.trees.baseline if start is None else np.ravel(start)[0])


def _large_tree(nodes: np.ndarray, edges: Sequence[Array]) -> LargeTree:
    """A tree as tables of the leaves that are left in every bin of its features."""
    tables: dict[int, np.ndarray] = {}
    leaves: list[float] = []

    def walk(k: int) -> int:
        """Go through the leaves below a node, from left to right; their bits."""
        node = nodes[k]
        if node["is_leaf"]:
            leaves.append(float(node["value"]))
            return 1 << (len(leaves) - 1)
        feature = int(node["feature_idx"])
        every = np.full(len(edges[feature]) + 1, 2**64 - 1, dtype=np.uint64)
        table = tables.setdefault(feature, every)
        lefts = walk(int(node["left"]))
        table[np.arange(len(table)) > node["num_threshold"]] &= np.uint64(2**64 - 1 - lefts)
        return lefts | walk(int(node["right"]))

    walk(0)
    return LargeTree(tuple(tables), tuple(tables.values()), np.array(leaves))


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
