"""What is read off the summaries of a column in two tables: values, levels, the median."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..typing import Array
from .columns import Kind
from .parts import coerced
from .summary import Summary
from .tallies import MOST_LEVELS, Levels, Values


def as_kind(one: Summary, kind: Kind) -> Summary | None:
    """The summary of the column as one of another kind; None where its values do not read so."""
    if one.kind == kind:
        return one
    sample = coerced(one.sample, kind)
    if sample is None:
        return None
    if kind == "category" and one.kind == "number":
        levels = None
        if one.values is not None:
            # As text, 1.0 and 1 are one and the same.
            names = tuple(repr(float(x)).removesuffix(".0") for x in one.values.value)
            levels = Levels(names, one.values.rows)
        return replace(one, kind=kind, values=None, levels=levels, sample=sample)
    if kind == "number" and one.kind == "category" and one.levels is not None:
        try:
            numbers = np.array([float(name) for name in one.levels.names])
        except ValueError:
            return None
        return _of_numbers(replace(one, sample=sample), numbers, one.levels.rows)
    return None


def _of_numbers(one: Summary, numbers: Array, rows: Array) -> Summary:
    """Levels that read as numbers, of which one may be written in several ways, or be "nan"."""
    there = ~np.isnan(numbers)
    value, place = np.unique(numbers[there], return_inverse=True)
    counts = np.zeros((len(value), 3))
    np.add.at(counts, place.reshape(-1), rows[there])
    every = one.sample.numbers if len(one.sample) == one.rows else np.empty(0)
    return replace(
        one,
        kind="number",
        steps=int((every[1:] == every[:-1] + 1.0).sum()),
        missing=one.missing + int(rows[~there, 0].sum()),
        lacking=(
            one.lacking[0] + float(rows[~there, 1].sum()),
            one.lacking[1] + float(rows[~there, 2].sum()),
        ),
        infinite=int(counts[np.isinf(value), 0].sum()),
        low=float(value.min(initial=np.inf)),
        high=float(value.max(initial=-np.inf)),
        whole=bool((value == np.floor(value)).all()),
        values=Values(value, counts),
        levels=None,
    )


def union(p: Summary, q: Summary) -> Values | None:
    """Numbers of both tables with their rows; None where they are too many to be counted."""
    return None if p.values is None or q.values is None else p.values + q.values


def median(p: Summary, q: Summary) -> float:
    """The median of the numbers of both tables, or of their samples where these are very many."""
    value, weight = [], []
    for one in (p, q):
        if one.values is not None:
            value.append(one.values.value)
            weight.append(one.values.rows[:, 0])
        else:
            sample = one.sample.numbers[~one.sample.missing]
            value.append(sample)
            weight.append(np.full(len(sample), (one.rows - one.missing) / max(len(sample), 1)))
    values, weights = np.concatenate(value), np.concatenate(weight)
    order = np.argsort(values, kind="stable")
    values, mass = values[order], np.cumsum(weights[order])
    middle = 0.5 * mass[-1]
    at = int(np.searchsorted(mass, middle))
    # Halves are added, since the sum of the two middle numbers may overflow.
    other = min(at + 1, len(values) - 1) if mass[at] == middle else at
    return float(values[at] / 2 + values[other] / 2)


@dataclass(frozen=True)
class CountedLevels:
    """Levels of two tables in alphabetical order, with rows of each, shape (2, k).

    ``number`` is how many there are; where they are too many to be counted, an estimate of that,
    and levels and rows are those of the samples, to scale.
    """

    names: list[str]
    rows: Array
    number: int


def counted_levels(p: Summary, q: Summary) -> CountedLevels:
    """Levels that occur in either table."""
    both = (_levels_of(p), _levels_of(q))
    names = sorted({*both[0], *both[1]})
    rows = np.array([[side.get(name, 0.0) for name in names] for side in both])
    if p.levels is not None and q.levels is not None:
        return CountedLevels(names, rows, len(names))
    number = max(_number(one) for one in (p, q))
    return CountedLevels(names, rows, max(number, len(names), MOST_LEVELS + 1))


def _levels_of(one: Summary) -> dict[str, float]:
    if one.levels is not None:
        return dict(zip(one.levels.names, one.levels.rows[:, 0].tolist(), strict=True))
    sample = one.sample
    rows = np.bincount(sample.codes[sample.codes >= 0], minlength=len(sample.levels))
    scale = (one.rows - one.missing) / max(int(rows.sum()), 1)
    pairs = zip(sample.levels, (rows * scale).tolist(), strict=True)
    return {name: k for name, k in pairs if k}


def _number(one: Summary) -> int:
    r"""How many levels there are, from those that a sample has once and twice (Chao, 1984).

    With :math:`f_1` and :math:`f_2` of these, about :math:`f_1 (f_1 - 1) / 2 (f_2 + 1)` are not in
    the sample.
    """
    if one.levels is not None:
        return len(one.levels.names)
    rows = np.bincount(one.sample.codes[one.sample.codes >= 0])
    once, twice = int((rows == 1).sum()), int((rows == 2).sum())
    present = one.rows - one.missing
    unseen = once * (once - 1) / (2 * (twice + 1))
    return int(min((rows > 0).sum() + unseen, present))


def tally(one: Summary, weight: Array) -> dict[str | None, tuple[float, float]]:
    """Rows of positive weight, and their weight, by level; None is a missing value.

    Of numbers it is only told whether there is a value. ``weight`` is that of the sample's rows,
    which stand for all where levels are very many.
    """
    if one.kind != "category":
        return {"a value": one.there, None: one.lacking}
    levels = one.levels
    if levels is None:
        levels = Levels.of(one.sample.codes, one.sample.levels, weight)
    assert levels is not None, "a sample has fewer rows than levels may be"
    found: dict[str | None, tuple[float, float]] = {
        name: (float(rows), float(mass))
        for name, (_, rows, mass) in zip(levels.names, levels.rows, strict=True)
    }
    gone = one.sample.missing
    sampled = float((weight[gone] > 0).sum()), float(weight[gone].sum())
    return {**found, None: one.lacking if one.levels is not None else sampled}
