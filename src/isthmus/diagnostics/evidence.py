"""What the checks look at: a comparison, and what is worked out from it once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..crossfit import CrossFit, own
from ..data.kept import KeptRows
from ..data.projection import Projection
from ..data.sample import Sample, TwoSamples
from ..estimator import FitFacts
from ..functionals import Estimate
from ..maps.affine import canonical_map
from ..model.rows import ClassRows
from ..tables.frames import TableEncoder
from ..tables.margins import Margin
from ..typing import Array, IntArray

_SOME_ROWS = 2000


class Compared(Protocol):
    """What checks and rankings of columns ask of a :class:`~isthmus.Comparison`."""

    @property
    def estimator(self) -> Any: ...
    @property
    def samples(self) -> TwoSamples: ...
    @property
    def crossfit(self) -> CrossFit: ...
    @property
    def level(self) -> float: ...
    @property
    def ratios(self) -> tuple[Array, Array, Array, Array]: ...
    @property
    def encoder(self) -> TableEncoder | None: ...
    @property
    def projection(self) -> Projection | None: ...
    @property
    def margins(self) -> tuple[Margin, ...]: ...
    def by_fit(self, spec: Any) -> Estimate: ...
    @property
    def kept(self) -> KeptRows: ...
    @property
    def class_rows(self) -> ClassRows | None: ...


@dataclass(frozen=True)
class Evidence:
    """A comparison, with what several checks ask for; each part is made when it is asked for."""

    comparison: Compared

    @cached_property
    def facts(self) -> FitFacts:
        """What the fit to all rows tells of itself."""
        facts: FitFacts = own(self.comparison.estimator).facts
        return facts

    @property
    def stacked(self) -> bool:
        """Whether the answer is that of a stack, and not of fitted densities alone."""
        return self.facts.selection.stacked

    @cached_property
    def kl(self) -> Estimate:
        """KL(p‖q) as the fit has it."""
        return self.comparison.by_fit("kl")

    @property
    def p(self) -> Sample:
        """Cross-fitted log-ratios at the rows of p, with their weights."""
        return Sample(self.comparison.crossfit.log_ratio_p, self.comparison.samples.p.weight)

    @property
    def q(self) -> Sample:
        """Cross-fitted log-ratios at the rows of q, with their weights."""
        return Sample(self.comparison.crossfit.log_ratio_q, self.comparison.samples.q.weight)

    @property
    def weighted(self) -> bool:
        """Whether some row counts other than once."""
        return self.comparison.samples.weighted

    @property
    def inside(self) -> tuple[Array, Array] | None:
        """Rows of p and of q in the coordinates of the fit, where it has some of its own."""
        if self.comparison.class_rows is None:
            return None
        p, q = self.comparison.class_rows.inside
        return p.rows, q.rows

    @cached_property
    def white(self) -> tuple[Array, Array] | None:
        """Rows of p and of q in coordinates in which the pooled sample is white."""
        kept = self.comparison.kept
        if self.inside is not None or not kept.finite:
            return self.inside
        white = canonical_map(TwoSamples.of(kept.p, kept.q), warn=False)
        return white(kept.p), white(kept.q)

    @cached_property
    def some(self) -> dict[str, Array]:
        """At most 2000 rows of "p" and of "q"."""
        both = {"p": self.comparison.kept.p, "q": self.comparison.kept.q}
        return {name: rows[spaced(len(rows), _SOME_ROWS)] for name, rows in both.items()}


def spaced(n: int, most: int) -> IntArray:
    """Places of at most so many of n rows, evenly spaced: a sorted file is seen from end to end."""
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))
