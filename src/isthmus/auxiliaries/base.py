"""What the auxiliaries here have in common."""

from __future__ import annotations

from typing import Self

from sklearn.base import BaseEstimator

from ..data.sample import TwoSamples
from ..typing import Array


class FittedAuxiliary(BaseEstimator):
    """An auxiliary that is fitted to two weighted samples; a subclass gives :meth:`learn`."""

    def fit(
        self, p: Array, q: Array, weight_p: Array | None = None, weight_q: Array | None = None
    ) -> Self:
        """Fit to rows of p and of q, each of shape (n, d), and weights where they have any."""
        self.learn(TwoSamples.of(p, q, weight_p, weight_q))
        return self

    def learn(self, samples: TwoSamples) -> None:
        """Set the attributes that end in "_"."""
        raise NotImplementedError
