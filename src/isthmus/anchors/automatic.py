"""An anchor chosen by held-out likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._typing import Array
from .elliptical import mixture_log_density
from .gaussian import GaussianAnchor
from .mixture import MixtureAnchor
from .student_t import StudentTAnchor

_ROWS = 20_000
_SIZES = (2, 3, 4, 6, 8, 12)
_ROWS_PER_PARAMETER = 10
_MOST_GAIN = 10.0


class AutoAnchor(BaseEstimator):
    """The simplest of normal, Student-t and mixtures of normals that is good enough.

    Candidates come in the order of their complexity. One replaces a simpler one
    only if it gives rows that neither has seen a higher log-density, by more
    than two standard errors. Mixtures grow until three sizes in a row bring
    nothing.

    Attributes
    ----------
    anchor_ : anchor
        The chosen one, fitted to all rows.
    scores_ : dict of str to float
        Mean held-out log-density of every candidate.
    choice_ : str
        Name of the chosen candidate.
    """

    def fit(self, X: Array) -> AutoAnchor:
        """Choose a family and fit it to the rows of X."""
        order = np.random.default_rng(0).permutation(len(X))[:_ROWS]
        held, rows = X[order[: len(order) // 4]], X[order[len(order) // 4 :]]
        self.scores_: dict[str, float] = {}
        best: Any = None
        misses = 0
        for name, candidate in self._candidates(*rows.shape):
            density = candidate.fit(rows).score_samples(held)
            self.scores_[name] = float(density.mean())
            # One far outlier may cost a normal density a million nats; it counts as one row.
            gain = np.clip(density - (0.0 if best is None else best[1]), -_MOST_GAIN, _MOST_GAIN)
            if best is None or gain.mean() > 2.0 * gain.std() / np.sqrt(len(held)):
                best, misses = (candidate, density, name), 0
            elif isinstance(candidate, MixtureAnchor):
                misses += 1
                if misses == 3:
                    break
        self.anchor_, _, self.choice_ = best
        self.anchor_.fit(X)
        self.components_ = self.anchor_.components_
        return self

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return mixture_log_density(self.components_, X)

    def _candidates(self, n: int, d: int) -> list[tuple[str, Any]]:
        out: list[tuple[str, Any]] = [("gaussian", GaussianAnchor())]
        if n > 4 * d:
            out.append(("student-t", StudentTAnchor()))
        out += [
            (f"mixture of {k}", MixtureAnchor(k))
            for k in _SIZES
            if n > _ROWS_PER_PARAMETER * k * (1 + 2 * d)
        ]
        return out
