"""Rows for networks: standardised, held out in part, and drawn in balanced batches.

Batches are drawn from the distinct rows of each class, in proportion to their weights
and in an order that their values decide. A row of weight two is therefore the row given
twice, to the bit, and the order in which rows are given changes nothing. A row and its
copies are held out together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.blocks import slices
from ..data.holdout import split_rows
from ..data.sample import Sample
from ..typing import Array, IntArray
from .lazy_torch import require_torch

# Standardised values beyond this are cut: no network overflows at any row.
FAR = 1e8


@dataclass(frozen=True)
class Standard:
    """An affine map of the columns, shared by all classes.

    Centre and scale are mean and standard deviation of the classes pooled with equal mass;
    constant columns have scale 1.
    """

    centre: Array
    scale: Array

    @classmethod
    def fit(cls, samples: Sequence[Sample]) -> Standard:
        """Find centre and scale of classes that count the same, whatever their sizes."""
        low = np.min([sample.rows.min(axis=0) for sample in samples], axis=0)
        high = np.max([sample.rows.max(axis=0) for sample in samples], axis=0)
        # In units of the range no square overflows or vanishes.
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        unit = np.where(half > 0, half, 1.0)
        means, squares = [], []
        for sample in samples:
            u = (sample.rows - middle) / unit
            means.append(sample.mean(u))
            squares.append(sample.mean(u * u))
        mean = np.mean(means, axis=0)
        deviation = np.sqrt(np.maximum(np.mean(squares, axis=0) - mean**2, 0.0))
        scale = unit * deviation
        return cls(middle + unit * mean, np.where((half > 0) & (scale > 0), scale, 1.0))

    def __call__(self, rows: Array) -> Array:
        """Standardised rows, finite everywhere."""
        with np.errstate(over="ignore"):
            return np.clip((rows - self.centre) / self.scale, -FAR, FAR)


class ClassBatches:
    """Batches with equally many rows of every class, and rows held out.

    Parameters
    ----------
    samples : sequence of Sample
        Rows of each class; they are drawn in proportion to their weights.
    batch_size : int
        Rows of each class in a batch.
    validation : float
        Share of the distinct rows of each class to hold out, chosen by ``rng``. Nothing is
        held out where that is not at least one row of each class.
    paired : bool
        Row i of every class belongs together, such as a mixture of row i of p and
        row i of q: the same row numbers are held out in all classes, and copies are
        not merged.
    standard : Standard, optional
        The map of the columns, in place of the one that is found from the rows.

    Attributes
    ----------
    standard : Standard
        The map of the columns, found from the rows that are not held out.
    rows : Tensor of shape (n, d)
        Standardised rows to draw from, class after class; ``sizes`` of them.
    held : list of (Tensor of shape (m_c, d), Tensor of shape (m_c,)) or None
        Rows held out, standardised, with weights that add up to one in each class.

    Examples
    --------
    >>> import numpy as np, torch
    >>> rng = np.random.default_rng(0)
    >>> samples = [Sample.of(rng.normal(size=(n, 3))) for n in (50, 80)]
    >>> batches = ClassBatches(samples, batch_size=16, validation=0.2, rng=rng)
    >>> batches.draw(torch.Generator().manual_seed(0)).shape
    torch.Size([2, 16, 3])
    >>> [len(rows) for rows, _ in batches.held]
    [10, 16]
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        *,
        batch_size: int,
        validation: float = 0.0,
        rng: np.random.Generator,
        paired: bool = False,
        standard: Standard | None = None,
        device: str = "cpu",
    ) -> None:
        torch = require_torch("training")
        train = list(samples) if paired else [distinct(sample) for sample in samples]
        alone = train[:1] if paired else train
        splits = [split_rows(len(each), rng, validation, None, 0) for each in alone]
        held: list[Sample] = []
        if all(len(split.train) and len(split.held) for split in splits):
            every = splits * len(train) if paired else splits
            parts = [split.parts(each) for split, each in zip(every, train, strict=True)]
            train, held = [part for part, _ in parts], [part for _, part in parts]
        self.standard = Standard.fit(train) if standard is None else standard
        self.batch_size, self.n_classes = batch_size, len(train)
        self.n_columns = train[0].rows.shape[1]

        self._device = device
        self.rows = self._tensor(np.concatenate([self.standard(each.rows) for each in train]))
        self.sizes = [len(each) for each in train]
        self._size = torch.tensor(self.sizes)[:, None]
        self._start = torch.tensor(np.cumsum([0, *self.sizes[:-1]]))[:, None]
        # Drawing is by the inverse of the cumulated weights, or of none if they are equal.
        weights = [each.weight for each in train]
        level = [None if np.ptp(w) == 0 else np.cumsum(w) / w.sum() for w in weights]
        self._level = [None if each is None else torch.as_tensor(each) for each in level]
        self.held: list[tuple[Any, Any]] | None = None
        if held:
            self.hold_out(held)

    def hold_out(self, samples: Sequence[Sample]) -> None:
        """Take these rows of every class as the ones held out."""
        double = require_torch("training").float64
        self.held = [
            (self._tensor(self.standard(each.rows)), self._tensor(each.share, double))
            for each in samples
        ]

    def replace(self, c: int, rows: Array, turn: int = 0) -> None:
        """Put other rows in the place of rows of class c, of another part in every turn."""
        start, size = int(self._start[c]), self.sizes[c]
        rows = self.standard(rows[:size])
        at = (np.arange(len(rows)) + turn * len(rows)) % size + start
        self.rows[self._tensor(at, require_torch("training").long)] = self._tensor(rows)

    def _tensor(self, values: Array | IntArray, dtype: Any = None) -> Any:
        torch = require_torch("training")
        return torch.as_tensor(values, dtype=dtype or torch.float32, device=self._device)

    def draw(self, generator: Any, n: int | None = None) -> Any:
        """Rows of a batch, shape (classes, n, d), n being ``batch_size`` if not given.

        Draws are stratified: each is from its own n-th of the class's weight. A row
        comes up as often as its weight says, and seldom twice in a batch.
        """
        torch = require_torch("training")
        n = n or self.batch_size
        u = torch.rand(self.n_classes, n + 1, generator=generator, dtype=torch.float64)
        # The last number turns all strata of a class by the same angle.
        u = ((u[:, :-1] + torch.arange(n)) / n + u[:, -1:]) % 1.0
        place = (u * self._size).long()
        for c, level in enumerate(self._level):
            if level is not None:
                place[c] = torch.searchsorted(level, u[c], right=True)
        # Rounding may bring the largest u to the end.
        place = torch.minimum(place, self._size - 1) + self._start
        chosen = place.reshape(-1).to(self._device)
        return self.rows.index_select(0, chosen).view(self.n_classes, n, self.n_columns)

    def held_parts(self) -> Iterator[tuple[int, Any, Any]]:
        """Class, rows and weights of rows held out, some at a time."""
        for c, (rows, share) in enumerate(self.held or []):
            for part in slices(len(rows)):
                yield c, rows[part], share[part]

    def held_out_mean(self, function: Callable[[int, Any], Any]) -> float:
        """Sum over the classes of the weighted mean of a function at rows held out.

        ``function(c, rows)`` gives values of shape (m,) at rows of class c.
        """
        parts = self.held_parts()
        return sum(float(function(c, rows).double() @ share) for c, rows, share in parts)


def distinct(sample: Sample) -> Sample:
    """Different rows in an order that depends on their values alone, weights of copies added up."""
    # Zero has two signs, and they are equal.
    rows = sample.rows + 0.0
    code = _codes(rows)
    order = np.argsort(code, kind="stable")
    rows, weight, code = rows[order], sample.weight[order], code[order]
    new = np.ones(len(rows), dtype=bool)
    near = np.flatnonzero(code[1:] == code[:-1]) + 1
    new[near] = (rows[near] != rows[near - 1]).any(axis=1)
    first = np.flatnonzero(new)
    return Sample(rows[first], np.add.reduceat(weight, first))


def _codes(rows: Array) -> np.ndarray:
    """A number of 64 bits for each row, made of the bits of its values."""
    code = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.view(np.uint64).T:
        mixed = column ^ (column >> np.uint64(33))
        mixed = mixed * np.uint64(0xFF51AFD7ED558CCD)
        code = (code ^ mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    return code
