"""Permutation importance of columns in a log-ratio, on rows that the ratio has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..crossfit import own, refitted
from ..data.blocks import CHUNK_ROWS
from ..data.seeds import Seeds
from ..data.telling import quiet
from ..typing import Array, BoolArray, IntArray
from ..uncertainty.delta import jackknife_std_error
from .evidence import Compared, spaced

_FOLDS = 5
_GROUPS = 20
_MOST_ROWS = 1000
_LEAST_ROWS = 50
_WORK = 2_000_000_000
_FARTHEST = 700.0


def permutation_losses(
    comparison: Compared, blocks: list[slice], repeats: int, seeds: Seeds
) -> list[tuple[float, float]]:
    """What the ratio loses when each of several blocks of columns is permuted, with its error."""
    kept, samples = comparison.kept, comparison.samples
    counts = [int((sample.weight > 0).sum()) for sample in samples]
    # Beyond what is kept, a model of all rows hardly leans on any one of them.
    folds = _FOLDS if counts == [len(kept.at_p), len(kept.at_q)] else 1
    work = 2 * (repeats + folds) * len(blocks) * samples.n_columns**2
    most = int(np.clip(_WORK // work, _LEAST_ROWS, _MOST_ROWS))
    judged = JudgedRows.of(comparison, most, folds, repeats, seeds)
    held, without = [], []
    for fold in range(judged.folds):
        mine = judged.fold_of_group[judged.group] == fold
        if folds == 1:
            held.append(judged.losses(own(comparison.estimator), blocks, mine))
            break
        others = [place[number != fold] for place, number in judged.folds_of_rows]
        # The comparison has said it already.
        with quiet():
            model = refitted(comparison.estimator, samples.take(*others))
        held.append(judged.losses(model, blocks, mine))
        # On all rows, by one permutation: what is wanted is how much the models differ.
        everywhere = judged.losses(model, blocks, np.ones_like(mine), swaps=1)
        without.append(everywhere.mean(axis=1))
    groups = np.concatenate(held, axis=1)
    error = groups.std(axis=1, ddof=1) / np.sqrt(groups.shape[1])
    if folds > 1:
        # The fit errs, too; how far it moves without a fold is what tells.
        moved = [jackknife_std_error(one, comparison.level) for one in np.array(without).T]
        error = np.hypot(error, moved)
    return list(zip(groups.mean(axis=1).tolist(), error.tolist(), strict=True))


@dataclass(frozen=True)
class JudgedRows:
    """Rows that are judged, p's before q's, in groups within which values are exchanged.

    A permutation over both samples leaves half of the values on their own side.
    Exchanging all of them loses twice as much, with less noise.
    """

    rows: Array
    sign: Array
    share: Array
    group: IntArray
    swaps: list[IntArray]
    fold_of_group: IntArray
    folds: int
    folds_of_rows: list[tuple[IntArray, IntArray]]

    @classmethod
    def of(
        cls, comparison: Compared, most: int, folds: int, repeats: int, seeds: Seeds
    ) -> JudgedRows:
        """Rows of a comparison, at most so many of each sample; and a fold for all of its rows."""
        kept, (p, q) = comparison.kept, comparison.samples
        least = min(len(kept.p), len(kept.q))
        if least < 4:
            raise ValueError(
                f"comparison must be of at least 4 rows of each sample; received {least}."
            )
        folds = min(folds, least // 2)
        places = [spaced(len(r), most) for r in (kept.p, kept.q)]
        count = folds * max(min(-(-_GROUPS // folds), min(map(len, places)) // (2 * folds)), 1)
        groups = [seeds("groups").permutation(np.arange(len(at)) % count) for at in places]
        fold = [seeds("folds").permutation(np.arange(len(r)) % folds) for r in (kept.p, kept.q)]
        for numbers, at, number in zip(fold, places, groups, strict=True):
            numbers[at] = number % folds
        group = np.concatenate(groups)
        mass = np.concatenate([p.weight[kept.at_p[places[0]]], q.weight[kept.at_q[places[1]]]])
        sign = np.repeat([1.0, -1.0], [len(at) for at in places])
        side = 2 * group + (sign > 0)
        return cls(
            rows=np.concatenate([kept.p[places[0]], kept.q[places[1]]]),
            sign=sign,
            share=mass / np.bincount(side, mass)[side],
            group=group,
            swaps=[_exchange(group, sign, mass, seeds(f"repeat {k}")) for k in range(repeats)],
            fold_of_group=np.arange(count) % folds,
            folds=folds,
            folds_of_rows=list(zip((kept.at_p, kept.at_q), fold, strict=True)),
        )

    def losses(
        self, model: Any, blocks: list[slice], wanted: BoolArray, swaps: int | None = None
    ) -> Array:
        """What the ratio loses without each block, in every group, shape (blocks, groups).

        Groups are those of the rows that are ``wanted``, in their order.
        """
        here, place = np.flatnonzero(wanted), np.cumsum(wanted) - 1
        # Values are exchanged within groups, so that the rows wanted exchange with each other.
        among = [place[swap[here]] for swap in self.swaps[:swaps]]
        rows, sign, share = self.rows[here], self.sign[here], self.share[here]
        found, group = np.unique(self.group[here], return_inverse=True)
        base = _log_ratio(model, rows)
        return np.array([
            0.25 * np.bincount(group, share * sign * (base - changed), len(found))
            for changed in _exchanged(model, rows, blocks, among)
        ])  # fmt: skip


def _exchange(group: IntArray, sign: Array, mass: Array, rng: np.random.Generator) -> IntArray:
    """For every row a row of the other sample, of its own group."""
    out, equal = np.empty(len(group), dtype=np.intp), bool((mass == mass[0]).all())
    for g in range(int(group.max()) + 1):
        sides = [np.flatnonzero((group == g) & (sign == s)) for s in (1.0, -1.0)]
        for here, there in (sides, sides[::-1]):
            if equal:
                out[here] = np.resize(rng.permutation(there), len(here))
            else:
                out[here] = rng.choice(there, len(here), p=mass[there] / mass[there].sum())
    return out


def _exchanged(
    model: Any, rows: Array, blocks: list[slice], swaps: list[IntArray]
) -> Iterator[Array]:
    """For every column the mean, over swaps, of the log-ratio with that column swapped."""
    # Several columns at a time: a model is quicker with many rows than in many calls.
    size = max(CHUNK_ROWS // (len(rows) * len(swaps)), 1)
    for begin in range(0, len(blocks), size):
        part = blocks[begin : begin + size]
        stacked = np.tile(rows, (len(part), len(swaps), 1, 1))
        for changed, block in zip(stacked, part, strict=True):
            for one, swap in zip(changed, swaps, strict=True):
                one[:, block] = rows[swap, block]
        found = _log_ratio(model, stacked.reshape(-1, rows.shape[1]))
        yield from found.reshape(len(part), len(swaps), len(rows)).mean(axis=1)


def _log_ratio(model: Any, rows: Array) -> Array:
    # An infinite ratio has no difference to another; it counts as a very large one.
    ratio: Array = model.log_ratio_at(rows)
    return np.nan_to_num(ratio, posinf=_FARTHEST, neginf=-_FARTHEST)
