"""What a comparison of very many rows knows of all of them, beside the sample that it keeps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..functionals import Divergence
from ..functionals.binned import BinnedRatios
from ..typing import Array
from .delta import jackknife_std_error


@dataclass(frozen=True)
class AllRows:
    """Log-ratios of all rows in bins, and how far a fit to all of them is uncertain.

    Attributes
    ----------
    binned : BinnedRatios
        Log p/q at every row, by fits that have not seen it.
    passes : int
        How often all rows were read.
    refitted : tuple of str
        What was fitted to all rows; the rest was fitted to the sample.
    without : tuple of (ndarray, ndarray)
        Log p/q at the rows of the sample by fits to all rows but those of a group, for each of
        some groups. Empty where the ratio was fitted to the sample.
    """

    binned: BinnedRatios
    passes: int
    refitted: tuple[str, ...] = ()
    without: tuple[tuple[Array, Array], ...] = ()

    @property
    def rows(self) -> tuple[int, int]:
        """Numbers of rows of p and of q."""
        return self.binned.p.rows, self.binned.q.rows

    def std_error(
        self, divergence: Divergence, weights: tuple[Array, Array], level: float
    ) -> float:
        """Standard error of a divergence by a fit to all rows: a jackknife over the groups.

        ``weights`` are those of the rows of the sample, and ``level`` is that of the interval.
        """
        moved = [float(divergence.value(p, q, *weights)) for p, q in self.without]
        of_fit = jackknife_std_error(np.array(moved), level)
        error = float(np.hypot(self.binned.std_error(divergence), of_fit))
        return error if np.isfinite(error) else np.inf

    def told(self, sample: tuple[int, int]) -> str:
        """What was fitted to how many rows, in a line."""
        some, every = (" and ".join(f"{n:,}" for n in counts) for counts in (sample, self.rows))
        fitted = (
            f"{', '.join(self.refitted)} fitted to all" if self.refitted else "evaluated at all"
        )
        return f"chosen on {some} of {every} rows, {fitted}"
