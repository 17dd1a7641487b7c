r"""Mutual information of columns of which some are numbers and some are levels.

The chain rule takes it apart into terms that have numbers on both sides or a label on one: with
numbers a and levels c on one side, and b on the other,

.. math:: I(a, c; b) = I(a; b) + I(c; a, b) - I(c; a).

A number that is missing in some rows is taken apart by where it is missing, m:

.. math:: I(a, m; b) = I(m; b) + P(m = 0)\, I(a; b \mid m = 0).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..diagnostics.check import Check
from .combining import Pair, Part, strata, summed
from .labels import as_features
from .result import Answer
from .values import Values

# Levels of columns that are taken together, and groups of such columns at most.
_TOGETHER, _MOST_GROUPS = 10, 6


def mixed_information(x: Values, y: Values, pair: Pair) -> Answer:
    """Mutual information of x and y, of which one at least has columns of levels.

    Parameters
    ----------
    x, y : Values
        Neither is one label.
    pair : callable
        For arguments of any kind.
    """
    for one, other in ((x, y), (y, x)):
        if one.gaps:
            return _by_gaps(one, other, pair)
    groups = _groups(x), _groups(y)
    if len(groups[0]) + len(groups[1]) > _MOST_GROUPS:
        return _written(x, y, pair)
    parts: list[Part] = []
    known = [x.columns(x.numbers), y.columns(y.numbers)]
    if all(side.array.shape[1] for side in known):
        parts.append(Part("the numbers", pair(*known)))
    # What is known of either side grows by one group of columns at a time.
    for k, side in enumerate((x, y)):
        for group in groups[k]:
            label = Values(side.label(group), True, names=(" and ".join(_named(side, group)),))
            parts.extend(_added(label, known[k], known[1 - k], pair))
            known[k] = known[k].beside(label)
    return summed(parts, " and ".join(dict.fromkeys(part.answer.method for part in parts)))


def _added(label: Values, own: Values, other: Values, pair: Pair) -> list[Part]:
    """What a label adds to its own side: I(label; own, other) - I(label; own)."""
    if not other.array.shape[1]:
        return []
    name = label.names[0]
    if not own.array.shape[1]:
        return [Part(name, pair(label, other))]
    whole, part = pair(label, own.beside(other)), pair(label, own)
    return [Part(f"{name} and all others", whole), Part(f"{name} and its own side", part, -1.0)]


def _by_gaps(x: Values, y: Values, pair: Pair) -> Answer:
    """By where numbers of x are missing, and by their values where they are not."""
    gaps = Values(x.label(x.gaps), True, names=("where numbers are missing",))
    rest = x.columns(np.setdiff1d(np.arange(x.array.shape[1]), x.gaps))
    inside = strata(rest, y, gaps.array, pair, "where numbers are missing")
    parts = [Part("where numbers are missing", pair(gaps, y)), Part("the values", inside)]
    return summed(parts, inside.method)


def _groups(x: Values) -> list[list[int]]:
    """Columns of levels that are taken together, as long as few combinations of them occur."""
    out: list[list[int]] = []
    for j in x.categories:
        if out and x.label([*out[-1], j]).max() < _TOGETHER:
            out[-1].append(j)
        else:
            out.append([j])
    return out


def _written(x: Values, y: Values, pair: Pair) -> Answer:
    """With a column of 0 and 1 for every level, where columns of levels are many."""
    found = pair(*(Values(as_features(side)[0], False) for side in (x, y)))
    told = Check(
        float(len(x.categories) + len(y.categories)),
        "warn",
        f"Each level of {len(x.categories) + len(y.categories)} columns was taken for a number, 0 "
        "or 1: they are too many to be taken by themselves.",
    )
    return replace(found, checks={**found.checks, "levels": told})


def _named(x: Values, places: list[int]) -> list[str]:
    return [x.names[j] if x.names else f"column {j}" for j in places]
