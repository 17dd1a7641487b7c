"""Which rows are new, in words: a rule of a few conditions on the columns as they were given."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from ..typing import Array, BoolArray
from ..words import number
from .pooled import Features, Pool

_DEPTH = 3
_LEAVES = 8
_LEAST_ROWS = 20
_LEAST_SHARE = 0.01
_SURE = 3.5
_MOST = 2
_ENOUGH = 0.9
_MOVED = 0.005


@dataclass(frozen=True)
class Segment:
    """Rows of one kind that the window has more, or fewer, of.

    Attributes
    ----------
    rule : str
        Which rows, such as ``carrier = F9 and dep_delay > 90``.
    share, reference : float
        Share of them among the rows of the window and of the reference, counted at rows that
        the rule was not made from.
    new : bool
        Whether the window has more of them than the reference.
    """

    rule: str
    share: float
    reference: float
    new: bool

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        return asdict(self)


@dataclass(frozen=True)
class _Condition:
    """Whether a feature is above a value, or is not; ``words`` are of a 0/1 feature."""

    feature: int
    value: float
    above: bool
    words: str | tuple[str, str]

    def holds(self, values: Array) -> BoolArray:
        over = values[:, self.feature] > self.value
        return over if self.above else ~over

    def __str__(self) -> str:
        if isinstance(self.words, tuple):
            return self.words[0 if self.above else 1]
        return f"{self.words} {'>' if self.above else '≤'} {number(self.value)}"


def find_segments(pool: Pool, log_ratio: Array, rng: np.random.Generator) -> tuple[Segment, ...]:
    """Rules for rows with the largest log-ratios, and for those with the smallest.

    A small tree on the log-ratio of half of the rows proposes them; conditions without which
    a rule is nearly as telling are dropped; the other half of the rows counts.
    """
    made = pool.features
    is_window = np.arange(len(pool)) < pool.size
    half = rng.random(len(pool)) < 0.5
    if not made.values.shape[1] or min((half & is_window).sum(), (half & ~is_window).sum()) < 40:
        return ()
    rules = _rules(made, log_ratio, is_window, half)
    found: list[Segment] = []
    told: list[BoolArray] = []
    taken = np.zeros(len(pool), dtype=bool)
    scored = []
    for rule in rules:
        for new in (True, False):
            kept = _shortened(rule, made.values[half], is_window[half], new)
            here = _together(kept, made.values)
            scored.append((_telling(here[half], is_window[half], new), new, kept, here))
    for _, new, kept, here in sorted(scored, key=lambda one: -one[0]):
        share, reference, z = _shares(here[~half], is_window[~half])
        if (z if new else -z) < _SURE or sum(one.new is new for one in found) >= (
            _MOST if new else 1
        ):
            continue
        # What is said already, or is the rest of it, is not said again.
        if (here & taken).sum() > 0.5 * here.sum() or any((here != one).all() for one in told):
            continue
        taken |= here
        told.append(here)
        found.append(Segment(" and ".join(map(str, kept)), share, reference, new))
    return tuple(sorted(found, key=lambda one: not one.new))


def _rules(
    made: Features, log_ratio: Array, is_window: BoolArray, half: BoolArray
) -> list[list[_Condition]]:
    """Conditions on the way to every leaf of a tree."""
    from sklearn.tree import DecisionTreeRegressor

    weight = np.where(is_window, 0.5 / is_window[half].sum(), 0.5 / (~is_window)[half].sum())
    least = int(max(_LEAST_ROWS, _LEAST_SHARE * half.sum()))
    tree = DecisionTreeRegressor(
        max_depth=_DEPTH, max_leaf_nodes=_LEAVES, min_samples_leaf=least, random_state=0
    )
    values = made.values
    tree.fit(values[half], expit(log_ratio[half]), weight[half])
    nodes = tree.tree_
    out: list[list[_Condition]] = []

    def walk(node: int, path: list[_Condition]) -> None:
        feature = int(nodes.feature[node])
        if feature < 0:
            if path:
                out.append(path)
            return
        cut = _plain_cut(values[half, feature], float(nodes.threshold[node]))
        for above, child in ((False, nodes.children_left), (True, nodes.children_right)):
            one = _Condition(feature, cut, above, made.words[feature])
            # A later condition on the same side of a feature is the narrower one.
            rest = [c for c in path if (c.feature, c.above) != (feature, above)]
            walk(int(child[node]), [*rest, one])

    walk(0, [])
    return out


def _plain_cut(values: Array, cut: float) -> float:
    """A number with few digits that puts nearly all values on the side where the cut has them."""
    for digits in range(1, 17):
        plain = float(f"{cut:.{digits}g}")
        if np.mean((values > plain) != (values > cut)) <= _MOVED:
            return plain
    return cut


def _together(rule: list[_Condition], values: Array) -> BoolArray:
    out = np.ones(len(values), dtype=bool)
    for one in rule:
        out &= one.holds(values)
    return out


def _shortened(
    rule: list[_Condition], values: Array, is_window: BoolArray, new: bool
) -> list[_Condition]:
    """The rule without conditions that it is nearly as telling without."""
    while len(rule) > 1:
        whole = _telling(_together(rule, values), is_window, new)
        fewer = [[c for c in rule if c is not one] for one in rule]
        told = [_telling(_together(one, values), is_window, new) for one in fewer]
        best = int(np.argmax(told))
        if told[best] < _ENOUGH * whole:
            break
        rule = fewer[best]
    return rule


def _shares(here: BoolArray, is_window: BoolArray) -> tuple[float, float, float]:
    """Shares of the window and of the reference, and their difference in standard errors."""
    n, m = int(is_window.sum()), int((~is_window).sum())
    a, b = int((here & is_window).sum()), int((here & ~is_window).sum())
    p, q, both = a / n, b / m, (a + b) / (n + m)
    error = np.sqrt(both * (1.0 - both) * (1.0 / n + 1.0 / m))
    return p, q, float((p - q) / error) if error > 0 else 0.0


def _telling(here: BoolArray, is_window: BoolArray, new: bool) -> float:
    """What the rule contributes to the divergence: its share times the log of the ratio."""
    n, m = is_window.sum(), (~is_window).sum()
    p = ((here & is_window).sum() + 0.5) / (n + 1.0)
    q = ((here & ~is_window).sum() + 0.5) / (m + 1.0)
    return float(p * np.log(p / q) if new else q * np.log(q / p))
