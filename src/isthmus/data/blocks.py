"""Rows in blocks: the one place that runs over rows.

A :class:`Block` holds some rows of one class. :meth:`Blocks.sum` maps a pure function over
all blocks and adds the results up, whether they lie in memory or are read
again for every pass. Objective, moments, standard errors and functionals are such sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..typing import Array, BoolArray
from .sample import Sample

BLOCK_BYTES = 2_000_000
"""Bytes that are worked on at a time: few enough to stay in the cache."""

CHUNK_ROWS = 16_384
"""Rows that a model is evaluated at in one go."""

T = TypeVar("T")


@dataclass(frozen=True)
class Block:
    """Some rows of one class.

    Attributes
    ----------
    label : int
        Their class: 0 is p, 1 is q, then the auxiliaries.
    X : ndarray of shape (n, r)
        Rows in the estimator's coordinates.
    weight : ndarray of shape (n,)
    offset : ndarray of shape (n, C)
        The part of every class's critic that is not learned: the log-density of
        a known auxiliary, the anchor of a learned class.
    index : int
        Place among all blocks.
    start : int
        Place of the first row among the rows of its class.
    """

    label: int
    X: Array
    weight: Array
    offset: Array
    index: int = 0
    start: int = 0

    def __len__(self) -> int:
        return len(self.X)

    @property
    def places(self) -> slice:
        """Where the rows stand among those of their class."""
        return slice(self.start, self.start + len(self))

    def pieces(self, width: int) -> Iterator[slice]:
        """Slices of rows, so few that ``width`` numbers a row stay in the cache."""
        return slices(len(self), rows_at_a_time(width))


class Blocks(ABC):
    """Rows of all classes, in blocks.

    Attributes
    ----------
    log_prior : ndarray of shape (C,)
        Log of the class priors; class c holds the share ``exp(log_prior[c])`` of the weight.
    learned : ndarray of shape (C,), bool
        Which classes have a critic to learn.
    keeps : bool
        Whether what was worked out at a block may be kept for the next pass.
    """

    log_prior: Array
    learned: BoolArray
    keeps: bool = False

    @abstractmethod
    def _each(self) -> Iterator[Block]:
        """The blocks, in order."""

    def sum(self, f: Callable[[Block], T]) -> T:
        """Map a pure function over the blocks and add up.

        Parameters
        ----------
        f : callable
            From a block to a number, an array, or a tuple or list of these.
        """
        total: Any = None
        for block in self._each():
            part = f(block)
            total = part if total is None else add(total, part)
        if total is None:
            raise ValueError("Blocks must hold at least one row; received none.")
        found: T = total
        return found

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.log_prior)

    @cached_property
    def mass(self) -> Array:
        """Total weight of each class, shape (C,)."""
        return self.sum(lambda block: self.by_class(block, float(block.weight.sum())))

    @property
    def total_weight(self) -> float:
        """Weight of all rows."""
        return float(self.mass.sum())

    def by_class(self, block: Block, value: float | Array) -> Array:
        """An array with a row for each class, zero but for that of the block."""
        out = np.zeros((self.n_classes, *np.shape(value)))
        out[block.label] = value
        return out


@dataclass(frozen=True)
class MemoryBlocks(Blocks):
    """Blocks of rows that lie in memory, class by class; nothing is stacked or copied.

    Attributes
    ----------
    classes : sequence of Sample
        Rows of every class in coordinates, with their weights.
    offsets : sequence of ndarray of shape (n_c, C)
    log_prior, learned
        As in :class:`Blocks`.
    block_rows : int, optional
        Rows of a block; by default a few megabytes of them. No result depends on it.
    """

    classes: Sequence[Sample]
    offsets: Sequence[Array]
    log_prior: Array
    learned: BoolArray
    block_rows: int | None = None
    keeps = True

    def _each(self) -> Iterator[Block]:
        # Logits, probabilities and their copies are several numbers a class.
        width = max(self.classes[0].rows.shape[1], 4 * len(self.classes))
        index = 0
        for label, (sample, offset) in enumerate(zip(self.classes, self.offsets, strict=True)):
            for at in slices(len(sample), self.block_rows or rows_at_a_time(width)):
                yield Block(label, sample.rows[at], sample.weight[at], offset[at], index, at.start)
                index += 1


@dataclass(frozen=True)
class StreamedBlocks(Blocks):
    """Blocks that are made anew in every pass: read from files, or drawn.

    Attributes
    ----------
    make : callable
        ``make()`` returns an iterator over the blocks, the same ones each time.
    log_prior, learned
        As in :class:`Blocks`.
    """

    make: Callable[[], Iterator[Block]]
    log_prior: Array
    learned: BoolArray

    def _each(self) -> Iterator[Block]:
        return self.make()


@dataclass(frozen=True)
class _Gathered:
    """Arrays of rows, which are added up by laying them one after the other."""

    parts: tuple[Array, ...]

    def __add__(self, other: _Gathered) -> _Gathered:
        return _Gathered(self.parts + other.parts)


def gather(blocks: Blocks, f: Callable[[Block], Array]) -> Array:
    """Rows that a function picks from every block, in order; for few of them."""
    return np.concatenate(blocks.sum(lambda block: _Gathered((f(block),))).parts)


def add(a: Any, b: Any) -> Any:
    """Add numbers, arrays, and tuples or lists of these; None is nothing.

    Examples
    --------
    >>> add((1, [2.0]), (3, [4.0]))
    (4, [6.0])
    """
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, tuple | list):
        parts = [add(x, y) for x, y in zip(a, b, strict=True)]
        if isinstance(a, list):
            return parts
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    return a + b


def rows_at_a_time(width: int) -> int:
    """How many rows to take where ``width`` numbers of each are worked on."""
    return max(512, BLOCK_BYTES // (8 * width))


def slices(n: int, rows: int = CHUNK_ROWS) -> Iterator[slice]:
    """Slices that cover n rows, some at a time."""
    return (slice(begin, min(begin + rows, n)) for begin in range(0, n, rows))
