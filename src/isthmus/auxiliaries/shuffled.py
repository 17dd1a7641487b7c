"""An auxiliary for tables with levels: what it draws are rows that a table can have."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..anchors.mixed import Footing, MixedDensity
from ..data.sample import Sample, TwoSamples
from ..data.validation import check_number
from ..typing import Array
from .base import FittedAuxiliary

_MOST_DF = 50.0


class ShuffledColumns(FittedAuxiliary):
    """Columns shuffled within and between the samples; its density is known.

    A row's levels and numbers come from p, from q, or, with probability ``between``, each column
    for itself from both. Levels stay levels: 0/1 columns are 0 or 1, counts are counts, and
    exactly one of the 0/1 columns of a category is 1. Within a sample, levels are those of a
    tree of pairs, and numbers, given the levels, have heavier tails than the sample's.

    Parameters
    ----------
    between : float in (0, 1)
        Share of the rows in which columns are shuffled between the samples; p and q have equal
        parts of the rest.
    maps : str or None, default "auto"
        Maps of the numbers, as in :class:`~isthmus.maps.SharedMaps`.

    Attributes
    ----------
    parts_ : list of MixedDensity
        What is drawn within p, within q and between them.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = np.column_stack([rng.normal(4, 1, 500), rng.random(500) < 0.9])
    >>> q = np.column_stack([rng.normal(0, 1, 500), rng.random(500) < 0.1])
    >>> m = ShuffledColumns().fit(p, q)
    >>> np.unique(m.sample(100, rng)[:, 1])
    array([0., 1.])
    """

    def __init__(self, between: float = 0.2, maps: Any = "auto") -> None:
        self.between = between
        self.maps = maps

    def learn(self, samples: TwoSamples) -> None:
        """Fit what is drawn within the samples and between them."""
        check_number(self.between, "between", low=0, high=1, open_low=True, open_high=True)
        samples = samples.positive()
        p, q = samples
        footing = Footing.of(samples, self.maps)
        within = [
            MixedDensity.fit(pair, footing, unseen=0.0).heavier(pair.p)
            for pair in (samples, TwoSamples(q, p))
        ]
        rows = np.concatenate([p.rows, q.rows])
        both = Sample(rows, 0.5 * len(rows) * np.concatenate([p.share, q.share]))
        wide = MixedDensity.fit(TwoSamples(both, both), footing, related=False, unseen=0.0)
        d = len(footing.layout.numbers)
        self.parts_ = [*within, wide.with_df(min(max(0.5 * d, 3.0), _MOST_DF))]
        rest = 0.5 * (1.0 - self.between)
        self.share_ = np.array([rest, rest, self.between])

    @property
    def footing(self) -> Footing:
        """What the samples have in common."""
        return self.parts_[0].footing

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n rows, every part with its exact share."""
        counts = np.floor(n * self.share_).astype(int)
        counts[2] += n - counts.sum()
        # p and q share their draws, so that swapping the samples swaps these rows.
        shared, own = rng.integers(2**63, size=2)
        return np.concatenate(
            [
                part.sample(int(count), np.random.default_rng(seed))
                for part, count, seed in zip(
                    self.parts_, counts, (shared, shared, own), strict=True
                )
            ]
        )

    def log_density(self, x: Array) -> Array:
        """Log-density at the rows of x, against counting and Lebesgue measure, shape (n,)."""
        parts = [part.log_density(x) for part in self.parts_]
        return np.asarray(logsumexp(parts, axis=0, b=self.share_[:, None]))
