"""Auxiliaries made of the samples themselves: linear and dimension-wise mixing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from ..data.sample import Sample, TwoSamples
from ..data.validation import as_rows, check_flag, check_number, check_option
from ..typing import Array, IntArray
from .base import FittedAuxiliary
from .discrete import draw_rows


class _Mixing(FittedAuxiliary):
    """Holds the two samples; a row of each, paired at random, makes a new row."""

    def learn(self, samples: TwoSamples) -> None:
        """Keep the samples to draw from."""
        self.samples_ = samples

    def _pairs(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        p, q = (sample.rows[draw_rows(sample.weight, n, rng)] for sample in self.samples_)
        return p, q


class LinearMixing(_Mixing):
    """Rows on the way from p to q: one class for each alpha.

    Parameters
    ----------
    alphas : sequence of float
        Positions. 0 is p and 1 is q; values outside (0, 1) are allowed in the
        linear form and surround both samples.
    form : {"linear", "sqrt"}
        ``(1 - alpha) x_p + alpha x_q``, or ``sqrt(1 - alpha^2) x_p + alpha x_q``,
        which keeps the variance of standardised data and gave the paper's
        published numbers.
    merged : bool
        Make one class of all alphas (the paper's mixture of linear mixing).
    paired : bool
        Mix the same pairs of rows for every alpha, as many as the larger sample has rows, as
        the paper does. By default pairs are drawn anew for every alpha.

    Examples
    --------
    >>> import numpy as np
    >>> p, q = np.zeros((3, 2)), np.ones((3, 2))
    >>> half = LinearMixing([0.5]).fit(p, q)
    >>> half.sample(2, np.random.default_rng(0))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        alphas: Sequence[float] = (0.25, 0.5, 0.75),
        form: str = "linear",
        merged: bool = False,
        paired: bool = False,
    ) -> None:
        self.alphas = alphas
        self.form = form
        self.merged = merged
        self.paired = paired

    def learn(self, samples: TwoSamples) -> None:
        """Keep the samples to draw from, and the pairs where they are fixed."""
        check_flag(self.paired, "paired")
        self.samples_ = samples
        if self.paired:
            # The same for every alpha, whose auxiliary is another object, and not by the order
            # of rows, which may be sorted.
            rng, size = np.random.default_rng(0), max(map(len, samples))
            self.pairs_ = [_each_about_once(sample, size, rng) for sample in samples]

    def _pairs(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        if not self.paired:
            return super()._pairs(n, rng)
        size = len(self.pairs_[0])
        at = np.arange(n) if n == size else rng.integers(size, size=n)
        p, q = (
            sample.rows[pairs[at]] for sample, pairs in zip(self.samples_, self.pairs_, strict=True)
        )
        return p, q

    def split(self, n_columns: int) -> list[LinearMixing]:
        """One auxiliary for each class that this one stands for."""
        if self.merged:
            return [self]
        return [
            LinearMixing([float(alpha)], self.form, paired=self.paired) for alpha in self._check()
        ]

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows, with every alpha equally likely."""
        return self.mix(*self._pairs(n, rng), rng)

    def mix(self, x_p: Array, x_q: Array, rng: np.random.Generator) -> Array:
        """Mix given pairs of rows."""
        alphas = self._check()
        alpha = alphas[rng.integers(len(alphas), size=len(x_p))][:, None]
        return np.asarray(self._keep(alpha) * x_p + alpha * x_q)

    def laws(
        self, mean_p: Array, cov_p: Array, mean_q: Array, cov_q: Array
    ) -> list[tuple[Array, Array]]:
        """Mean and covariance at every alpha, from those of p and q."""
        alphas = self._check()
        return [
            (keep * mean_p + alpha * mean_q, keep**2 * cov_p + alpha**2 * cov_q)
            for alpha, keep in zip(alphas, self._keep(alphas), strict=True)
        ]

    def _keep(self, alpha: Array) -> Array:
        """How much of the row of p remains."""
        return 1.0 - alpha if self.form == "linear" else np.sqrt(1.0 - alpha**2)

    def _check(self) -> Array:
        check_option(self.form, "form", ["linear", "sqrt"])
        try:
            alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        except (TypeError, ValueError):
            alphas = np.array([np.nan])
        if alphas.ndim != 1 or len(alphas) == 0 or not np.isfinite(alphas).all():
            raise ValueError(
                f"alphas must be a non-empty list of finite numbers; received {self.alphas!r}."
            )
        if self.form == "sqrt" and (np.abs(alphas) > 1).any():
            raise ValueError(
                f"alphas must lie in [-1, 1] in the 'sqrt' form; received {self.alphas!r}."
            )
        return alphas


def _each_about_once(sample: Sample, size: int, rng: np.random.Generator) -> IntArray:
    """Row numbers in a random order, each about as often as the others, or by its weight."""
    if np.ptp(sample.weight) > 0.0:
        return draw_rows(sample.weight, size, rng)
    return rng.permutation(np.arange(size) % len(sample))


class DimensionWiseMixing(_Mixing):
    """Rows with some blocks of columns from q and the others from p.

    Class j has j of the blocks from q, for j = 1 to ``n_blocks`` - 1.

    Parameters
    ----------
    n_blocks : int, optional
        Number of blocks of neighbouring columns; by default four, or fewer where
        there are fewer columns.
    order : {"fixed", "random"} or sequence of int
        Which blocks come from q: the first j, j others for every row, or the
        first j of the given order of blocks.
    merged : bool
        Make one class of all j.
    counts : sequence of int, optional
        The numbers j of blocks to mix, by default all from 1 to ``n_blocks`` - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import DimensionWiseMixing
    >>> rng = np.random.default_rng(0)
    >>> m = DimensionWiseMixing(2, counts=[1]).fit(np.zeros((10, 4)), np.ones((10, 4)))
    >>> m.sample(3, rng).sum(axis=1).tolist()  # two columns of q, two of p
    [2.0, 2.0, 2.0]
    """

    def __init__(
        self,
        n_blocks: int | None = None,
        order: str | Sequence[int] = "fixed",
        merged: bool = False,
        counts: Sequence[int] | None = None,
    ) -> None:
        self.n_blocks = n_blocks
        self.order = order
        self.merged = merged
        self.counts = counts

    def learn(self, samples: TwoSamples) -> None:
        """Keep the samples to draw from, and cut the columns into blocks."""
        d = samples.n_columns
        self.blocks_ = np.array_split(np.arange(d), self._n_blocks(d))
        self.samples_ = samples

    def split(self, n_columns: int) -> list[DimensionWiseMixing]:
        """One auxiliary for each class that this one stands for."""
        blocks = self._n_blocks(n_columns)
        if self.merged:
            return [self]
        return [DimensionWiseMixing(blocks, self.order, True, [j]) for j in self._counts(blocks)]

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows, with every number of mixed blocks equally likely."""
        return self.mix(*self._pairs(n, rng), rng)

    def mix(self, x_p: Array, x_q: Array, rng: np.random.Generator) -> Array:
        """Mix given pairs of rows."""
        counts = np.array(self._counts(len(self.blocks_)))
        x, n = x_p.copy(), len(x_p)
        j = counts[rng.integers(len(counts), size=n)]
        rank = self._rank(n, rng)
        for b, columns in enumerate(self.blocks_):
            from_q = rank[:, b] < j
            x[np.ix_(from_q, columns)] = x_q[np.ix_(from_q, columns)]
        return x

    def laws(
        self, mean_p: Array, cov_p: Array, mean_q: Array, cov_q: Array
    ) -> list[tuple[Array, Array]]:
        """Mean and covariance, from those of p and q; none where blocks vary from row to row."""
        counts = self._counts(len(self.blocks_))
        if len(counts) > 1 or (isinstance(self.order, str) and self.order == "random"):
            return []
        chosen = np.flatnonzero(self._rank(1, np.random.default_rng(0))[0] < counts[0])
        from_q = np.isin(np.arange(len(mean_p)), np.concatenate([self.blocks_[b] for b in chosen]))
        # Columns of p and of q come from different rows: nothing is shared between them.
        covariance = np.where(np.outer(from_q, from_q), cov_q, 0.0)
        covariance += np.where(np.outer(~from_q, ~from_q), cov_p, 0.0)
        return [(np.where(from_q, mean_q, mean_p), covariance)]

    def _rank(self, n: int, rng: np.random.Generator) -> IntArray:
        """Place of every block in the order of mixing, shape (n, blocks)."""
        size = len(self.blocks_)
        if isinstance(self.order, str):
            check_option(self.order, "order", ["fixed", "random"])
            rank = np.tile(np.arange(size), (n, 1))
            return rng.permuted(rank, axis=1) if self.order == "random" else rank
        if sorted(self.order) != list(range(size)):
            raise ValueError(
                f"order must be 'fixed', 'random' or a permutation of the {size} blocks; received "
                f"{self.order!r}."
            )
        return np.tile(np.argsort(self.order), (n, 1))

    def _n_blocks(self, n_columns: int) -> int:
        if n_columns < 2:
            raise ValueError(
                "DimensionWiseMixing must have at least two columns to mix; received 1. Use "
                "linear mixing or an overlapping auxiliary."
            )
        if self.n_blocks is None:
            return min(4, n_columns)
        return int(check_number(self.n_blocks, "n_blocks", low=2, high=n_columns, integer=True))

    def _counts(self, n_blocks: int) -> list[int]:
        if self.counts is None:
            return list(range(1, n_blocks))
        if len(self.counts) == 0:
            raise ValueError("counts must hold a number of blocks; received an empty list.")
        return [
            int(check_number(j, "counts", low=1, high=n_blocks - 1, integer=True))
            for j in self.counts
        ]


class Samples(BaseEstimator):
    """An auxiliary given as an array of its samples.

    Parameters
    ----------
    rows : array-like of shape (n, d) or (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import Samples
    >>> m = Samples(np.zeros((50, 2)))
    >>> m.fit(np.ones((9, 2)), np.ones((9, 2))).sample(4, np.random.default_rng(0)).shape
    (4, 2)
    """

    def __init__(self, rows: Array) -> None:
        self.rows = rows

    def fit(self, p: Array, q: Array) -> Samples:
        """Check the rows."""
        self.rows_ = as_rows(self.rows, "an auxiliary given as an array", min_rows=2)
        if self.rows_.shape[1] != p.shape[1]:
            raise ValueError(
                f"An auxiliary given as an array must have the {p.shape[1]} columns of p and q; "
                f"received {self.rows_.shape[1]}."
            )
        self.n_samples = len(self.rows_)
        return self

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Return all rows, or n of them where there are more."""
        if n >= len(self.rows_):
            return self.rows_
        return self.rows_[rng.permutation(len(self.rows_))[:n]]
