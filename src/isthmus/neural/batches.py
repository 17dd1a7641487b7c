"""Rows for networks: standardised, held out in part, and drawn in balanced batches.

Batches are drawn from the distinct rows of each class, in proportion to their weights
and in an order that their values decide. A row of weight two is therefore the row given
twice, to the bit, and the order in which rows are given changes nothing. A row and its
copies are held out together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.blocks import slices
from ..typing import Array, IntArray
from .lazy_torch import require_torch

# Standardised values beyond this are cut: no network overflows at any row.
FAR = 1e8


@dataclass(frozen=True)
class Standard:
    """An affine map of the columns, shared by all classes.

    Attributes
    ----------
    centre, scale : ndarray of shape (d,)
        Mean and standard deviation of the classes pooled with equal mass; constant
        columns have scale 1.
    """

    centre: Array
    scale: Array

    @classmethod
    def fit(cls, samples: Sequence[Array], weights: Sequence[Array | None] | None = None) -> Any:
        """Find centre and scale of classes that count the same, whatever their sizes."""
        low = np.min([rows.min(axis=0) for rows in samples], axis=0)
        high = np.max([rows.max(axis=0) for rows in samples], axis=0)
        # In units of the range no square overflows or vanishes.
        middle, half = low / 2 + high / 2, high / 2 - low / 2
        unit = np.where(half > 0, half, 1.0)
        weights = weights or [None] * len(samples)
        means, squares = [], []
        for rows, weight in zip(samples, weights, strict=True):
            u = (rows - middle) / unit
            means.append(np.average(u, axis=0, weights=weight))
            squares.append(np.average(u * u, axis=0, weights=weight))
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
    samples : sequence of ndarray of shape (n_c, d)
        Rows of each class.
    weights : sequence of (ndarray of shape (n_c,) or None), optional
        Their weights: rows are drawn in proportion to them.
    batch_size : int
        Rows of each class in a batch.
    validation : float
        Share of the distinct rows of each class to hold out. Nothing is held out
        where that is not at least one row of each class.
    rng : numpy Generator
        Chooses the rows held out.
    paired : bool
        Row i of every class belongs together, such as a mixture of row i of p and
        row i of q: the same row numbers are held out in all classes, and copies are
        not merged.
    standard : Standard, optional
        The map of the columns, in place of the one that is found from the rows.
    device : str
        Where the batches are.

    Attributes
    ----------
    standard : Standard
        The map of the columns, found from the rows that are not held out.
    n_classes, n_columns : int
    sizes : list of int
        Distinct rows of each class to draw from.
    held : list of (Tensor of shape (m_c, d), Tensor of shape (m_c,)) or None
        Rows held out, standardised, with weights that add up to one in each class.

    Examples
    --------
    >>> import numpy as np, torch
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(size=(50, 3)), rng.normal(size=(80, 3))
    >>> batches = ClassBatches([p, q], batch_size=16, validation=0.2, rng=rng)
    >>> batches.draw(torch.Generator().manual_seed(0)).shape
    torch.Size([2, 16, 3])
    >>> [len(rows) for rows, _ in batches.held]
    [10, 16]
    """

    def __init__(
        self,
        samples: Sequence[Array],
        weights: Sequence[Array | None] | None = None,
        *,
        batch_size: int,
        validation: float = 0.0,
        rng: np.random.Generator,
        paired: bool = False,
        standard: Standard | None = None,
        device: str = "cpu",
    ) -> None:
        torch = require_torch("training")
        weights = weights or [None] * len(samples)
        both = zip(samples, weights, strict=True)
        if paired:
            given = [(rows, np.ones(len(rows)) if w is None else w) for rows, w in both]
            out = [some(len(samples[0]), validation, rng)] * len(samples)
        else:
            given = [distinct(rows, weight) for rows, weight in both]
            out = [some(len(rows), validation, rng) for rows, _ in given]
        if not all(each.any() and not each.all() for each in out):
            out = [np.zeros(len(rows), dtype=bool) for rows, _ in given]
        kept = [(rows[~own], w[~own]) for (rows, w), own in zip(given, out, strict=True)]
        if standard is None:
            standard = Standard.fit([rows for rows, _ in kept], [w for _, w in kept])
        self.standard: Standard = standard
        self.batch_size, self.n_classes = batch_size, len(samples)
        self.n_columns = samples[0].shape[1]

        self._device = device
        self._rows = self._tensor(np.concatenate([self.standard(rows) for rows, _ in kept]))
        self.sizes = sizes = [len(rows) for rows, _ in kept]
        self._size = torch.tensor(sizes)[:, None]
        self._start = torch.tensor(np.cumsum([0, *sizes[:-1]]))[:, None]
        self.held: list[tuple[Any, Any]] | None = None
        # Drawing is by the inverse of the cumulated weights, or of none if they are equal.
        level = [None if np.ptp(w) == 0 else np.cumsum(w) / w.sum() for _, w in kept]
        self._level = [None if each is None else torch.as_tensor(each) for each in level]
        if out[0].any():
            apart = [(rows[own], w[own]) for (rows, w), own in zip(given, out, strict=True)]
            self.hold_out(*map(list, zip(*apart, strict=True)))

    def hold_out(self, samples: Sequence[Array], weights: Sequence[Array | None]) -> None:
        """Take these rows of every class as the ones held out."""
        torch = require_torch("training")
        self.held = []
        for rows, weight in zip(samples, weights, strict=True):
            share = np.ones(len(rows)) if weight is None else weight
            share = self._tensor(share / share.sum(), torch.float64)
            self.held.append((self._tensor(self.standard(rows)), share))

    def replace(self, c: int, rows: Array, turn: int = 0) -> None:
        """Put other rows in the place of rows of class c, of another part in every turn."""
        start, size = int(self._start[c]), self.sizes[c]
        rows = self.standard(rows[:size])
        at = (np.arange(len(rows)) + turn * len(rows)) % size + start
        self._rows[self._tensor(at, require_torch("training").long)] = self._tensor(rows)

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
        return self._rows.index_select(0, chosen).view(self.n_classes, n, self.n_columns)

    def held_out_mean(self, function: Callable[[int, Any], Any]) -> float:
        """Sum over the classes of the weighted mean of a function at rows held out.

        Parameters
        ----------
        function : callable
            ``function(c, rows)`` gives values of shape (m,) at rows of class c.
        """
        total = 0.0
        for c, (rows, share) in enumerate(self.held or []):
            for part in slices(len(rows)):
                total += float(function(c, rows[part]).double() @ share[part])
        return total


def distinct(rows: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Different rows in an order that depends on their values alone, with their weights.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    weight : ndarray of shape (n,), optional

    Returns
    -------
    rows : ndarray of shape (m, d)
    weight : ndarray of shape (m,)
        Weights of equal rows, added up.

    Examples
    --------
    >>> import numpy as np
    >>> rows, weight = distinct(np.array([[1.0], [2.0], [1.0]]))
    >>> dict(zip(rows[:, 0].tolist(), weight.tolist())) == {1.0: 2.0, 2.0: 1.0}
    True
    """
    # Zero has two signs, and they are equal.
    rows = np.asarray(rows, dtype=np.float64) + 0.0
    mass = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
    code = _codes(rows)
    order = np.argsort(code, kind="stable")
    rows, mass, code = rows[order], mass[order], code[order]
    new = np.ones(len(rows), dtype=bool)
    near = np.flatnonzero(code[1:] == code[:-1]) + 1
    new[near] = (rows[near] != rows[near - 1]).any(axis=1)
    first = np.flatnonzero(new)
    return rows[first], np.add.reduceat(mass, first)


def _codes(rows: Array) -> np.ndarray:
    """A number of 64 bits for each row, made of the bits of its values."""
    bits = rows.view(np.uint64)
    code = np.zeros(len(rows), dtype=np.uint64)
    for column in bits.T:
        mixed = column ^ (column >> np.uint64(33))
        mixed = mixed * np.uint64(0xFF51AFD7ED558CCD)
        code = (code ^ mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(code)


def some(n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """A mask of a share of n rows, drawn at random."""
    mask = np.zeros(n, dtype=bool)
    mask[rng.permutation(n)[: round(share * n)]] = True
    return mask
