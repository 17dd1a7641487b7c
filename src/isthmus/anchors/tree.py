"""Levels of several columns as a tree of pairs (Chow & Liu 1968)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.sample import bounded_rows
from ..typing import Array, IntArray

_PAIR_ROWS = 10_000
_MOST_LEVELS = 600
_PRIOR = 1.0
_PAIR_PRIOR = 2.0


@dataclass(frozen=True)
class LevelTree:
    """Probabilities of codes: each set of levels given one other, or by itself.

    A code that no row had has a probability too, as one more level of every set.

    Attributes
    ----------
    order : tuple of int
        Sets of levels, each after its parent.
    parent : tuple of int
        The set that each depends on, in their own order; -1 for none.
    tables : tuple of ndarray
        Log-probabilities in their own order, of shape (k + 1,), or (parent's k + 1, k + 1).
    """

    order: tuple[int, ...]
    parent: tuple[int, ...]
    tables: tuple[Array, ...]

    @classmethod
    def fit(
        cls,
        codes: IntArray,
        weight: Array,
        sizes: list[int],
        others: IntArray | None = None,
        pairs: bool = True,
        unseen: float = 0.5,
    ) -> LevelTree:
        """Fit to codes of rows, whose weights count rows.

        Parameters
        ----------
        codes : ndarray of int, shape (n, m)
        weight : ndarray of shape (n,)
        sizes : list of int
            Number of levels of each set.
        others : ndarray of int, shape (n', m), optional
            Codes of the other sample. Shares are drawn a little towards those of both, so that
            no level of either is impossible.
        pairs : bool
            Whether sets may depend on each other.
        unseen : float
            Rows that all levels share in the prior, those that nobody has seen among them.
        """
        whole = float(weight.sum())
        shares = []
        for k, size in enumerate(sizes):
            count = np.bincount(codes[:, k], weight, size + 1)
            both = count / whole
            if others is not None:
                both = 0.5 * both + 0.5 * np.bincount(others[:, k], minlength=size + 1) / len(
                    others
                )
            both += unseen / (whole * (size + 1))
            prior = both / both.sum()
            shares.append((count + _PRIOR * prior) / (whole + _PRIOR))
        parent = [-1] * len(sizes)
        if pairs and len(sizes) > 1 and sum(sizes) <= _MOST_LEVELS:
            parent = _parents(codes, weight, sizes)
        tables = []
        for k, up in enumerate(parent):
            if up < 0:
                tables.append(_log(shares[k]))
                continue
            a, b = sizes[up] + 1, sizes[k] + 1
            count = np.bincount(codes[:, up] * b + codes[:, k], weight, a * b).reshape(a, b)
            smooth = count + _PAIR_PRIOR * shares[k]
            tables.append(_log(smooth / smooth.sum(axis=1, keepdims=True)))
        return cls(tuple(_ordered(parent)), tuple(parent), tuple(tables))

    def log_probability(self, codes: IntArray) -> Array:
        """Log-probability of every row of codes, shape (n,)."""
        out = np.zeros(len(codes))
        for k, (up, table) in enumerate(zip(self.parent, self.tables, strict=True)):
            out += table[codes[:, k]] if up < 0 else table[codes[:, up], codes[:, k]]
        return out

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """Draw n rows of codes."""
        out = np.zeros((n, len(self.tables)), dtype=np.intp)
        for k in self.order:
            up, table = self.parent[k], np.exp(self.tables[k])
            chance = table[None, :] if up < 0 else table[out[:, up]]
            edges = np.cumsum(chance, axis=1)
            place = rng.random(n)[:, None] * edges[:, -1:]
            out[:, k] = np.minimum((place > edges).sum(axis=1), table.shape[-1] - 1)
        return out


def _log(share: Array) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(share))


def _parents(codes: IntArray, weight: Array, sizes: list[int]) -> list[int]:
    """For each set the one that it depends on: the tree with most information in its pairs.

    A pair counts if its information exceeds what Schwarz's criterion asks of its parameters.
    """
    some = bounded_rows(len(codes), _PAIR_ROWS)
    mass = weight[some] / weight[some].sum()
    begin = np.cumsum([0, *(size + 1 for size in sizes)])
    ones = np.zeros((len(some), begin[-1]))
    for k in range(len(sizes)):
        ones[np.arange(len(some)), begin[k] + codes[some, k]] = 1.0
    share = mass @ ones
    joint = ones.T @ (ones * mass[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0.0, joint * np.log(joint / np.outer(share, share)), 0.0)
    gain = np.add.reduceat(np.add.reduceat(terms, begin[:-1], axis=0), begin[:-1], axis=1)
    free = np.add.reduceat(share > 0.0, begin[:-1]) - 1.0
    gain = 2.0 * len(some) * gain - np.outer(free, free) * np.log(len(some))
    parent, inside = [-1] * len(sizes), np.zeros(len(sizes), dtype=bool)
    best, via = np.full(len(sizes), -np.inf), np.full(len(sizes), -1)
    for _ in range(len(sizes)):
        k = int(np.argmax(np.where(inside, -np.inf, best)))
        if inside[k]:
            k = int(np.flatnonzero(~inside)[0])
        inside[k] = True
        parent[k] = int(via[k]) if best[k] > 0.0 else -1
        closer = ~inside & (gain[k] > best) & (gain[k] > 0.0)
        best[closer], via[closer] = gain[k][closer], k
    return parent


def _ordered(parent: list[int]) -> list[int]:
    """Every set after the one that it depends on."""
    out: list[int] = []
    while len(out) < len(parent):
        out += [k for k, up in enumerate(parent) if k not in out and (up < 0 or up in out)]
    return out
