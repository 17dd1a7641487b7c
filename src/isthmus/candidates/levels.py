"""Two densities of levels and numbers: shares of levels by themselves and in pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..anchors.mixed import Footing, MixedDensity
from ..data.levels import Layout
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array
from .base import Rows, limited

_MOST_COLUMNS, _MOST_LEVELS = 300, 600
_LEAST_ROWS = 60
_LOOK_ROWS = 5000


@dataclass(frozen=True)
class LevelDensities:
    """The log-ratio of two fitted densities that count levels.

    Attributes
    ----------
    footing : Footing or None
        Which columns have levels, and maps of the others; None leaves it to the rows.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.candidates import LevelDensities
    >>> rng = np.random.default_rng(0)
    >>> p = {"town": rng.choice(["Bonn", "Kiel"], 300, p=[0.8, 0.2]), "age": rng.normal(40, 9, 300)}
    >>> q = {"town": rng.choice(["Bonn", "Kiel"], 300, p=[0.3, 0.7]), "age": rng.normal(40, 9, 300)}
    >>> stack = isthmus.StackedMDRE([LevelDensities()])
    >>> c = isthmus.compare(p, q, estimator=stack, random_state=0)
    >>> low, high = sorted(c.log_ratio({"town": ["Kiel", "Bonn"], "age": [40.0, 40.0]}))
    >>> bool(low < 0 < high)
    True
    """

    footing: Footing | None = None
    name = "densities of levels"
    takes_before = False

    def suits(self, samples: TwoSamples) -> bool:
        """Whether columns have levels, not too many of them."""
        if samples.n_columns > _MOST_COLUMNS or samples.least < _LEAST_ROWS:
            return False
        few = samples.bounded(_LOOK_ROWS)
        layout = Layout.of(np.concatenate([sample.rows for sample in few]))
        return layout.has_levels and sum(layout.sizes) <= _MOST_LEVELS

    def settled(self, rows: Rows, seeds: Seeds) -> LevelDensities:
        """Look which columns have levels, and choose the maps of the others."""
        return replace(self, footing=Footing.of(rows.samples.relative()))

    def fit(self, rows: Rows, seeds: Seeds) -> LevelDensitiesFit:
        """Fit both densities."""
        samples = rows.samples.relative()
        footing = self.footing or Footing.of(samples)
        other = TwoSamples(samples.q, samples.p)
        return LevelDensitiesFit(
            MixedDensity.fit(samples, footing), MixedDensity.fit(other, footing)
        )


@dataclass(frozen=True)
class LevelDensitiesFit:
    """Two fitted densities."""

    p: MixedDensity
    q: MixedDensity

    def log_ratio(self, rows: Array, before: Array) -> Array:
        """Log p/q at rows."""
        return limited(self.p.log_density(rows) - self.q.log_density(rows))
