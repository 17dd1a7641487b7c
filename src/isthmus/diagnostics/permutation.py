"""Permutation importance of columns in a log-ratio, on rows that the ratio has not seen."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.blocks import CHUNK_ROWS
from ..data.kept import KeptRows
from ..data.seeds import Seeds
from ..estimator import own as as_ours
from ..estimator import refitted
from ..typing import Array, IntArray
from ..uncertainty.delta import jackknife_std_error

_FOLDS = 5
_GROUPS = 20
_MOST_ROWS = 1000
_LEAST_ROWS = 50
_WORK = 2_000_000_000
_FARTHEST = 700.0


def permutation_losses(
    comparison: Any, kept: KeptRows, blocks: list[slice], repeats: int, seeds: Seeds
) -> tuple[Array, Array]:
    """What the ratio loses when each of several blocks of columns is permuted.

    Parameters
    ----------
    comparison : Comparison
    kept : KeptRows
        Its rows.
    blocks : list of slice
        Which columns are permuted together.
    repeats : int
        Number of permutations.
    seeds : Seeds

    Returns
    -------
    losses, std_errors : ndarrays of shape (len(blocks),)
    """
    # Beyond what is kept, a model of all rows hardly leans on any one of them.
    folds = _FOLDS if _is_all(comparison, kept) else 1
    work = 2 * (repeats + folds) * len(blocks) * kept.p.shape[1] ** 2
    most = int(np.clip(_WORK // work, _LEAST_ROWS, _MOST_ROWS))
    judged = _Judged.of(comparison, kept, most, folds, repeats, seeds)
    held, without = [], []
    for fold in range(judged.folds):
        own = judged.fold_of_group[judged.group] == fold
        if folds == 1:
            held.append(judged.group_values(as_ours(comparison.estimator), blocks, own))
            break
        model = _refitted(comparison, kept, judged.fold_p != fold, judged.fold_q != fold)
        held.append(judged.group_values(model, blocks, own))
        # On all rows, by one permutation: what is wanted is how much the models differ.
        everywhere = judged.group_values(model, blocks, np.ones_like(own), swaps=1)
        without.append(everywhere.mean(axis=1))
    groups = np.concatenate(held, axis=1)
    error = groups.std(axis=1, ddof=1) / np.sqrt(groups.shape[1])
    if folds > 1:
        # The fit errs, too; how far it moves without a fold is what tells.
        moved = [jackknife_std_error(one, comparison.level) for one in np.array(without).T]
        error = np.hypot(error, moved)
    return groups.mean(axis=1), error


def _is_all(comparison: Any, kept: KeptRows) -> bool:
    """Whether a comparison keeps all rows that it was made of."""
    counts = [int((sample.weight > 0).sum()) for sample in comparison.samples]
    return counts == [len(kept.at_p), len(kept.at_q)]


@dataclass(frozen=True)
class _Judged:
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
    fold_p: IntArray
    fold_q: IntArray

    @classmethod
    def of(
        cls, comparison: Any, kept: KeptRows, most: int, folds: int, repeats: int, seeds: Seeds
    ) -> _Judged:
        least = min(len(kept.p), len(kept.q))
        if least < 4:
            raise ValueError(
                f"comparison must be of at least 4 rows of each sample; received {least}."
            )
        folds = min(folds, least // 2)
        places = [_spaced(len(r), most) for r in (kept.p, kept.q)]
        count = folds * max(min(-(-_GROUPS // folds), min(map(len, places)) // (2 * folds)), 1)
        groups = [seeds("groups").permutation(np.arange(len(at)) % count) for at in places]
        fold = [seeds("folds").permutation(np.arange(len(r)) % folds) for r in (kept.p, kept.q)]
        for own, at, number in zip(fold, places, groups, strict=True):
            own[at] = number % folds
        group = np.concatenate(groups)
        mass = np.concatenate([
            comparison.weight_p[kept.at_p[places[0]]],
            comparison.weight_q[kept.at_q[places[1]]],
        ])  # fmt: skip
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
            fold_p=fold[0],
            fold_q=fold[1],
        )

    def group_values(
        self, model: Any, blocks: list[slice], wanted: Any, swaps: int | None = None
    ) -> Array:
        """What the ratio loses without each column, shape (columns, groups).

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
            for changed in _changed(model, rows, blocks, among)
        ])  # fmt: skip


def _refitted(comparison: Any, kept: KeptRows, p: np.ndarray, q: np.ndarray) -> Any:
    """Fit the comparison's model to some of the rows, with the choices that were made for all."""
    samples = comparison.samples.take(kept.at_p[p], kept.at_q[q])
    with warnings.catch_warnings():
        # The comparison has said it already.
        warnings.simplefilter("ignore")
        return refitted(comparison.estimator, samples)


def _exchange(group: IntArray, sign: Array, mass: Array, rng: np.random.Generator) -> IntArray:
    """For every row a row of the other sample, of its own group."""
    out = np.empty(len(group), dtype=np.intp)
    equal = bool((mass == mass[0]).all())
    for g in range(int(group.max()) + 1):
        sides = [np.flatnonzero((group == g) & (sign == s)) for s in (1.0, -1.0)]
        for own, other in (sides, sides[::-1]):
            if equal:
                out[own] = np.resize(rng.permutation(other), len(own))
            else:
                out[own] = rng.choice(other, len(own), p=mass[other] / mass[other].sum())
    return out


def _changed(
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


def _spaced(n: int, most: int) -> IntArray:
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))
