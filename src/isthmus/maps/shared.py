"""One increasing map for every column, the same for p and q."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..data.sample import TwoSamples
from ..data.validation import check_option
from ..typing import Array, ColumnMap
from .choice import choose
from .column import FITS, Columns

# A positive column of a smaller range is as straight as its logarithm.
_LOG_RANGE = 3.0


class SharedMaps(BaseEstimator):
    """Increasing maps of the columns that bring both samples closer to normal.

    A bijection applied to both samples leaves p/q unchanged. Each column may
    therefore be straightened by an increasing function, fitted to p and q
    together with equal weight, under which either of them is closer to a normal
    distribution of its own.

    Kinds of maps, with u = (x - median) / spread of the pooled sample:

    - "identity": x itself.
    - "log": log x for positive columns, -log(-x) for negative ones.
    - "signed-log": sign(u) log(1 + abs(u)).
    - "asinh": arsinh(u / s), s by maximum likelihood.
    - "yeo-johnson": the power transformation of u, by maximum likelihood.
    - "quantile": any increasing function, from a smooth estimate of the pooled
      distribution.

    Parameters
    ----------
    kinds : str, list of str or None
        One of the above for all columns, or a list of one for each; None is
        "identity". With "auto", rows are held out and a kind takes the place of
        a simpler one, in the order above, where it improves their likelihood
        by more than 0.005 nats a value and 2.5 standard errors. Columns of 50
        or fewer values, or in which one value has more than 5 % of the rows of
        a class, are left as they are.

    Attributes
    ----------
    kinds_ : list of str
        Kind of each column's map.
    maps_ : list of ColumnMap
        The maps.
    scores_ : list of dict
        Gain of each kind that was tried over "identity", in nats per held-out
        value. Empty for columns on which none was tried.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(size=(2, 1000, 2)) + np.array([0.5, 0.0])
    >>> p[:, 1], q[:, 1] = np.exp(p[:, 1]), np.exp(q[:, 1] + 0.5)
    >>> SharedMaps().fit(p, q).kinds_
    ['identity', 'log']
    """

    def __init__(self, kinds: str | Sequence[str | None] | None = "auto") -> None:
        self.kinds = kinds

    def fit(
        self,
        p: Array,
        q: Array,
        weight_p: Array | None = None,
        weight_q: Array | None = None,
        *,
        within: tuple[Array, Array] | None = None,
    ) -> SharedMaps:
        """Choose and fit the maps.

        Parameters
        ----------
        p, q : ndarray of shape (n_p, d) and (n_q, d)
        weight_p, weight_q : ndarray, optional
            Weights of the rows.
        within : pair of ndarrays of shape (d,), optional
            Smallest and largest value of each column, where p and q are only some of the rows that
            the maps will be fitted to: one zero among the others, and a column has no logarithm.
        """
        kinds = check_kinds(self.kinds, p.shape[1], "kinds")
        samples = TwoSamples.of(p, q, weight_p, weight_q).positive()
        columns = Columns.of(samples)
        lows = np.minimum(*(sample.rows.min(axis=0) for sample in samples))
        highs = np.maximum(*(sample.rows.max(axis=0) for sample in samples))
        if within is not None:
            lows, highs = np.minimum(lows, within[0]), np.maximum(highs, within[1])
        self.kinds_, self.maps_ = [], []
        self.scores_: list[dict[str, float]] = []
        for j, (kind, low, high) in enumerate(zip(kinds, lows, highs, strict=True)):
            scores: dict[str, float] = {}
            one_sign = low > 0.0 or high < 0.0
            if kind == "auto":
                least, most = sorted([abs(low), abs(high)])
                log = one_sign and most > _LOG_RANGE * least
                kind, scores = choose(columns, j, [k for k in FITS if k != "log" or log])
            if kind == "log" and not one_sign:
                raise ValueError(
                    "kinds must not be 'log' for columns that have zero or both signs; received "
                    f"values from {low:.3g} to {high:.3g} in column {j}."
                )
            self.kinds_.append(kind)
            self.scores_.append(scores)
            self.maps_.append(FITS[kind](columns.column(j)))
        return self

    def __call__(self, X: Array) -> Array:
        """Map the columns of X, shape (n, d)."""
        return self._each(X, lambda one, x: one(x))

    def inverse(self, Z: Array) -> Array:
        """Return from z to x, shape (n, d)."""
        return self._each(Z, lambda one, z: one.inverse(z))

    def log_derivative(self, X: Array) -> Array:
        """Log of the volume change ``|dz/dx|`` at every row, shape (n,)."""
        total = np.zeros(len(X))
        for j in self._mapped:
            total += self.maps_[j].log_derivative(X[:, j])
        return total

    @property
    def is_identity(self) -> bool:
        """Whether every column is left as it is."""
        return not self._mapped

    @property
    def _mapped(self) -> list[int]:
        return [j for j, kind in enumerate(self.kinds_) if kind != "identity"]

    def _each(self, X: Array, apply: Callable[[ColumnMap, Array], Array]) -> Array:
        out = np.array(X, dtype=np.float64)
        for j in self._mapped:
            out[:, j] = apply(self.maps_[j], X[:, j])
        return out


def check_kinds(kinds: Any, d: int, argument: str) -> list[str]:
    """Kind of each of d columns' maps, which may be "auto"; errors name the argument."""
    options = ["auto", None, *FITS]
    if kinds is None or isinstance(kinds, str):
        kinds = [kinds] * d
    elif not isinstance(kinds, (list, tuple, np.ndarray)):
        raise ValueError(
            f"{argument} must be one of {options} or a list with one of these for each column; "
            f"received {kinds!r}."
        )
    if len(kinds) != d:
        raise ValueError(
            f"{argument} must name one map for each of {d} columns; received {len(kinds)}."
        )
    for kind in kinds:
        check_option(kind, argument, options)
    return ["identity" if kind is None else kind for kind in kinds]
