"""The largest population, by rules on the columns, in which weights are worth enough rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from ..data.sample import Sample
from ..typing import Array, BoolArray, IntArray
from .quantities import Quantity, Unit
from .rules import Among, Population, Rule, Within, joined, merged

_LEAVES = (3, 6, 12)
"""Sizes of the trees that are tried, the simplest first."""

_PRICE = 0.02
"""Share of the target that one more condition in the rules must save."""

_LEAST_SHARE = 0.1
"""Share of the target below which what remains is not the target any more."""

_LEAST_ROWS = 20
_CUTS = 60


@dataclass(frozen=True)
class Trim:
    """A population, and which rows of target and source belong to it."""

    population: Population
    target: BoolArray
    source: BoolArray


def trimmed(
    every: Sequence[Quantity],
    target: Sample,
    source: Sample,
    log_ratios: tuple[Array, Array],
    enough: Callable[[BoolArray], bool],
) -> Trim | None:
    """The largest population in which there is enough of the source, or None.

    Shallow trees of the log-ratio over the columns give parts. Parts where weights are large are
    left out until the others are worth enough. Of several ways the one that keeps most of the
    target is taken; a condition more must save 2 % of it.

    Parameters
    ----------
    every : sequence of Quantity
    target, source : Sample
        Encoded rows with the weights that were given.
    log_ratios : pair of ndarray
        Log target/source at the rows of target and source.
    enough : callable
        Says of a part of the source's rows whether their weights are what was asked for.
    """
    goal = np.concatenate(log_ratios)
    low, high = np.quantile(goal, [0.005, 0.995])
    goals = [np.clip(goal, low, high)]
    cut = _cutoff(log_ratios[1], enough)
    if cut is not None:
        goals.append((goal > cut).astype(np.float64))
    trees = (_Tree.fit(k, every, target, source, each) for k in _LEAVES for each in goals)
    found = [_of_leaves(tree, target, source, log_ratios[1], enough) for tree in trees]
    return max((one for one in found if one is not None), key=_worth, default=None)


def _worth(trim: Trim) -> float:
    """How much of the target is left, less a price for every condition in the rules."""
    told = sum(len(rule.conditions) for rule in trim.population.rules)
    return trim.population.target_share - _PRICE * told


def _cutoff(log_ratio: Array, enough: Callable[[BoolArray], bool]) -> float | None:
    """The largest log-ratio such that the source's rows up to it are what was asked for."""
    for cut in np.quantile(log_ratio, 1.0 - np.geomspace(0.001, 0.6, _CUTS)):
        if enough(log_ratio <= cut):
            return float(cut)
    return None


def _of_leaves(
    tree: _Tree,
    target: Sample,
    source: Sample,
    log_ratio: Array,
    enough: Callable[[BoolArray], bool],
) -> Trim | None:
    """The leaves of a tree without those of the largest weights, as few as there must be."""
    at_target, at_source = tree.leaf_of(target.rows), tree.leaf_of(source.rows)
    k = len(tree.leaves)
    weight = source.weight * np.exp(log_ratio - log_ratio.max())
    mass = np.bincount(at_target, target.share, k)
    first, second = (np.bincount(at_source, w, k) for w in (weight, weight**2))
    # Leaves by the size of their weights, of which only the largest are left out; a leaf with
    # nobody of the source comes before all.
    size = np.where(first > 0, second / np.where(first > 0, first, 1.0), np.inf)
    order = np.argsort(-size, kind="stable")
    best: Trim | None = None
    for dropped in range(1, k):
        kept = np.ones(k, dtype=bool)
        kept[order[:dropped]] = False
        share, inside = float(mass[kept].sum()), kept[at_source]
        if share < _LEAST_SHARE or (best is not None and share - _PRICE <= _worth(best)):
            break
        if enough(inside):
            population = tree.population(kept, share, float(source.share @ inside))
            found = Trim(population, kept[at_target], inside)
            best = found if best is None else max(best, found, key=_worth)
    return best


@dataclass(frozen=True)
class _Tree:
    """Leaves of a tree as paths of conditions."""

    leaves: tuple[tuple[Within | Among, ...], ...]

    @classmethod
    def fit(
        cls,
        leaves: int,
        every: Sequence[Quantity],
        target: Sample,
        source: Sample,
        goal: Array,
    ) -> _Tree:
        """Fit to a goal at the rows of target and source, in this order."""
        rows = np.concatenate([target.rows, source.rows])
        weight = np.concatenate([target.share, source.share])
        columns = _ordered(every, rows, goal, weight)
        X = np.column_stack([column.codes(rows) for column in columns])
        tree = DecisionTreeRegressor(
            max_leaf_nodes=leaves, min_samples_leaf=_LEAST_ROWS, random_state=0
        ).fit(X, goal, sample_weight=weight * len(weight))
        found: list[tuple[Within | Among, ...]] = []
        nodes = tree.tree_

        def walk(node: int, path: tuple[Within | Among, ...]) -> None:
            if nodes.children_left[node] < 0:
                found.append(path)
                return
            column = columns[nodes.feature[node]]
            left, right = column.split(float(nodes.threshold[node]), X[:, nodes.feature[node]])
            walk(nodes.children_left[node], (*path, left))
            walk(nodes.children_right[node], (*path, right))

        walk(0, ())
        return cls(tuple(found))

    def leaf_of(self, rows: Array) -> IntArray:
        """In which leaf each row is."""
        out = np.zeros(len(rows), dtype=np.intp)
        for k, path in enumerate(self.leaves):
            out[Rule(path).holds(rows)] = k
        return out

    def population(self, kept: BoolArray, target_share: float, source_share: float) -> Population:
        """The leaves that are kept, told by the shorter of two lists of rules."""
        inside = joined([merged(p) for p, k in zip(self.leaves, kept, strict=True) if k])
        outside = joined([merged(p) for p, k in zip(self.leaves, kept, strict=True) if not k])
        without = _length(outside) < _length(inside)
        return Population(outside if without else inside, without, target_share, source_share)


def _length(rules: Sequence[Rule]) -> int:
    return sum(len(rule.conditions) for rule in rules) + len(rules)


@dataclass(frozen=True)
class _Ordered:
    """A column as a tree sees it: its number, or its levels in the order of their log-ratio."""

    name: str
    features: tuple[int, ...]
    levels: tuple[str, ...] = ()
    unit: Unit = ""
    fill: float = np.nan

    def codes(self, rows: Array) -> Array:
        if not self.levels:
            return np.asarray(rows[:, self.features[0]])
        has = rows[:, list(self.features)] > 0.5
        return np.where(has.any(axis=1), has.argmax(axis=1) + 1.0, 0.0)

    def split(self, threshold: float, values: Array) -> tuple[Within | Among, Within | Among]:
        """Conditions of the left and of the right part."""
        if not self.levels:
            low, high = values[values <= threshold].max(), values[values > threshold].min()
            cut = (_rounded_date if self.unit == "date" else _rounded)(float(low), float(high))
            whole = Within(self.name, self.features[0], unit=self.unit, fill=self.fill)
            return replace(whole, high=cut), replace(whole, low=cut)
        above = [k for k in range(len(self.levels)) if k + 1.0 > threshold]
        below = [k for k in range(len(self.levels)) if k + 1.0 <= threshold]
        # The shorter list is told; rows with none of the levels are with those not in it.
        at_left = bool(below) and len(below) < len(above)
        chosen = below if at_left else above
        levels = tuple(self.levels[k] for k in chosen)
        features = tuple(self.features[k] for k in chosen)
        first = Among(self.name, levels, features, within=at_left)
        second = Among(self.name, levels, features, within=not at_left)
        return first, second


def _ordered(every: Sequence[Quantity], rows: Array, goal: Array, weight: Array) -> list[_Ordered]:
    """Columns of the encoded rows, levels ordered by the mean of the goal."""
    levels: dict[str, list[int]] = {}
    found = []
    for j, one in enumerate(every):
        if one.level is None:
            found.append(_Ordered(one.name, (j,), unit=one.unit, fill=one.fill))
        else:
            levels.setdefault(one.name, []).append(j)
    for name, places in levels.items():
        means = []
        for j in places:
            share = weight * (rows[:, j] > 0.5)
            means.append(float(share @ goal / share.sum()) if share.sum() > 0 else 0.0)
        order = sorted(range(len(places)), key=means.__getitem__)
        found.append(
            _Ordered(
                name,
                tuple(places[k] for k in order),
                tuple(str(every[places[k]].level) for k in order),
            )
        )
    return found


def _rounded_date(low: float, high: float) -> float:
    """A day, hour, minute or second from low on and below high; else low itself."""
    for parts in (1, 24, 24 * 60, 24 * 3600):
        cut = np.ceil(low * parts - 1e-9) / parts
        if low <= cut < high:
            return float(cut)
    return low


def _rounded(low: float, high: float) -> float:
    """A number of few digits from low on and below high, so that rules are what they say."""
    middle = low + (high - low) / 2.0
    for digits in range(1, 16):
        cut = float(f"{middle:.{digits}g}")
        if low <= cut < high:
            return cut
    return low
