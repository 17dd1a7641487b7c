"""Boosted trees as arrays of their nodes.

skops would keep all of scikit-learn's estimator, private parts included, and trusts the nodes: one
that points outside its tree would be read from beyond the array. Here a file holds the few columns
of the nodes that a prediction needs, and they are checked before they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..typing import Array, BoolArray, IntArray
from .container import ModelFileError

_WORDS = 8
"""Numbers of 32 bits in a set of categories, of which there are at most 256."""

_MOST_COLUMNS = 2**31


@dataclass(frozen=True)
class TreeSum:
    """A sum of regression trees, with the columns of their nodes one after the other.

    Attributes
    ----------
    baseline : float
        What the trees add to.
    sizes : ndarray of shape (trees,)
        Number of nodes of each tree.
    value, threshold, feature, left, right : ndarrays of shape (nodes,)
        Value of a leaf; otherwise the column and the number up to which a row goes to the left,
        and the two nodes below, counted within the tree.
    leaf, missing_left, categorical : ndarrays of bool of shape (nodes,)
        Whether it is a leaf, where a missing value goes, whether the column holds categories.
    bitset : ndarray of shape (nodes,)
        For categories: which of the tree's sets goes to the left.
    bitset_sizes : ndarray of shape (trees,)
    bitsets : ndarray of shape (sets, 8)
        Sets of categories, a bit for each.
    categories : tuple of ndarray
        Values that the first columns may take, each of which is a category; others are missing.
    columns : int
        Number of columns of a row.
    """

    baseline: float
    sizes: IntArray
    value: Array
    threshold: Array
    feature: IntArray
    left: IntArray
    right: IntArray
    leaf: BoolArray
    missing_left: BoolArray
    categorical: BoolArray
    bitset: IntArray
    bitset_sizes: IntArray
    bitsets: np.ndarray
    categories: tuple[Array, ...]
    columns: int

    @classmethod
    def of(cls, fitted: Any) -> TreeSum:
        """From a fitted ``HistGradientBoostingClassifier`` of two classes, categories first."""
        if isinstance(fitted, TreeSum):
            return fitted
        state = vars(fitted)
        trees = [trees[0] for trees in state["_predictors"]]
        nodes = np.concatenate([tree.nodes for tree in trees])
        sets = [tree.raw_left_cat_bitsets for tree in trees]
        categories: tuple[Array, ...] = ()
        if state["_preprocessor"] is not None:
            encoder = state["_preprocessor"].named_transformers_["encoder"]
            categories = tuple(np.asarray(one, dtype=np.float64) for one in encoder.categories_)
        return cls(
            baseline=float(np.ravel(state["_baseline_prediction"])[0]),
            sizes=np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
            value=nodes["value"].copy(),
            threshold=nodes["num_threshold"].copy(),
            feature=nodes["feature_idx"].astype(np.int64),
            left=nodes["left"].astype(np.int64),
            right=nodes["right"].astype(np.int64),
            leaf=nodes["is_leaf"].astype(bool),
            missing_left=nodes["missing_go_to_left"].astype(bool),
            categorical=nodes["is_categorical"].astype(bool),
            bitset=nodes["bitset_idx"].astype(np.int64),
            bitset_sizes=np.array([len(one) for one in sets], dtype=np.int64),
            bitsets=np.concatenate(sets).astype(np.uint32).reshape(-1, _WORDS),
            categories=categories,
            columns=int(fitted.n_features_in_),
        )

    def decision_function(self, X: Array) -> Array:
        """The sum at every row, shape (n,), the same to the bit as scikit-learn's."""
        from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

        X = np.array(X, dtype=np.float64, order="C")
        if X.ndim != 2 or X.shape[1] != self.columns:
            raise ValueError(f"X must have {self.columns} columns; received shape {X.shape}.")
        known = np.zeros((len(self.categories), _WORDS), dtype=np.uint32)
        for k, values in enumerate(self.categories):
            at = np.minimum(np.searchsorted(values, X[:, k]), len(values) - 1)
            X[:, k] = np.where(values[at] == X[:, k], at, np.nan)
            for code in range(np.isfinite(values).sum()):
                known[k, code // 32] |= np.uint32(1 << code % 32)
        places = np.zeros(self.columns, dtype=np.uint32)
        places[: len(self.categories)] = np.arange(len(self.categories))
        out, threads = np.zeros(len(X)), _openmp_effective_n_threads(None)
        out += self.baseline
        for tree in self._predictors:
            out += tree.predict(X, known, places, threads)
        return out

    @cached_property
    def _predictors(self) -> list[Any]:
        """Trees of scikit-learn, whose nodes have been checked."""
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        self._check()
        nodes = np.zeros(len(self.value), dtype=PREDICTOR_RECORD_DTYPE)
        for name, values in (
            ("value", self.value),
            ("num_threshold", self.threshold),
            ("feature_idx", self.feature),
            ("left", self.left),
            ("right", self.right),
            ("is_leaf", self.leaf),
            ("missing_go_to_left", self.missing_left),
            ("is_categorical", self.categorical),
            ("bitset_idx", self.bitset),
        ):
            nodes[name] = values
        none = np.zeros((0, _WORDS), dtype=np.uint32)
        ends, set_ends = np.cumsum(self.sizes)[:-1], np.cumsum(self.bitset_sizes)[:-1]
        parts = np.split(nodes, ends)
        sets = np.split(np.ascontiguousarray(self.bitsets), set_ends)
        return [TreePredictor(one, none, own) for one, own in zip(parts, sets, strict=True)]

    def _check(self) -> None:
        """Refuse nodes that point anywhere but down their own tree."""
        if not _is_sound(self):
            raise ModelFileError("its trees have nodes that point outside of them.")


def _is_sound(trees: TreeSum) -> bool:
    sizes, count = trees.sizes, len(trees.value)
    nodes = ("value", "threshold", "feature", "left", "right", "leaf", "missing_left",
             "categorical", "bitset")  # fmt: skip
    if (
        any(np.shape(getattr(trees, name)) != (count,) for name in nodes)
        or sizes.ndim != 1
        or np.shape(trees.bitset_sizes) != sizes.shape
        or (sizes < 1).any()
        or (trees.bitset_sizes < 0).any()
        or sizes.sum() != count
        or np.shape(trees.bitsets) != (trees.bitset_sizes.sum(), _WORDS)
        or trees.bitsets.dtype != np.uint32
        or not 0 < len(trees.categories) + 1 <= trees.columns + 1 <= _MOST_COLUMNS
        or any(one.ndim != 1 or not 0 < len(one) <= 32 * _WORDS for one in trees.categories)
    ):
        return False
    inner = ~trees.leaf
    place = np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    size, sets = np.repeat(sizes, sizes), np.repeat(trees.bitset_sizes, sizes)
    down = [(place < child) & (child < size) for child in (trees.left, trees.right)]
    column = (trees.feature >= 0) & (trees.feature < trees.columns)
    own_set = (trees.bitset >= 0) & (trees.bitset < sets)
    category = ~trees.categorical | (own_set & (trees.feature < len(trees.categories)))
    return bool((down[0] & down[1] & column & category)[inner].all())
