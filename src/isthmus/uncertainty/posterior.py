"""Draws of a critic's parameters, and what they say about ratios and divergences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.blocks import CHUNK_ROWS, slices
from ..data.validation import as_weight, check_number
from ..functionals import Estimate, get_divergence
from ..mdre import MDRE
from ..model.offsets import Offsets
from ..typing import Array
from .fit import Fit

CHUNK_NUMBERS = 4_000_000
"""Log-ratios of draws that are worked out in one go."""


class Posterior:
    """Draws of the parameters of a fitted :class:`~isthmus.MDRE`.

    Made by :func:`isthmus.uncertainty.laplace`, :func:`isthmus.uncertainty.nuts` and
    :func:`isthmus.uncertainty.bootstrap`. Draws are in the critic's own parametrisation; the
    softmax's shift, on which no ratio depends, is not in them.

    Attributes
    ----------
    fit : Fit
        The fitted model, with its rows.
    method : str
        "laplace", "nuts" or "bootstrap".

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus import uncertainty
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(-1, 0.1, 1000), rng.normal(1, 0.2, 1000)
    >>> settings = dict(critic="quadratic", anchor=None, prior="counts", l2=1.0, random_state=0)
    >>> model = isthmus.MDRE("cauchy", **settings).fit(*isthmus.stack(p, q))
    >>> posterior = uncertainty.laplace(model, random_state=0)
    >>> posterior.log_ratio_draws([-1.0, 0.0, 1.0]).shape
    (1000, 3)
    >>> posterior.divergence("kl", p, q).method
    'laplace'
    """

    def __init__(self, fit: Fit, draws: Array, method: str) -> None:
        self.fit, self.method = fit, method
        self._draws = draws

    @property
    def model(self) -> MDRE:
        """The fitted model."""
        return self.fit.mdre

    @property
    def draws(self) -> Array:
        """Parameters of every draw, shape (S, n_parameters)."""
        return self._draws

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.method}, {len(self.draws)} draws of "
            f"{self.draws.shape[1]} parameters)"
        )

    def log_ratio_draws(self, X: Any, numerator: str = "p", denominator: str = "q") -> Array:
        """Log of the ratio of two classes' densities for every draw, shape (S, n).

        Parameters are those of :meth:`isthmus.MDRE.log_ratio`. The result is what
        :mod:`isthmus.functionals` takes in place of one set of log-ratios.
        """
        rows, pair = self._read(X, numerator, denominator)
        out = np.empty((len(self.draws), len(rows)))
        for at, part in self._blocks(rows, pair, self.draws):
            out[:, at] = part
        return out

    def log_ratio(
        self, X: Any, return_std: bool = False, numerator: str = "p", denominator: str = "q"
    ) -> Any:
        """Mean of the log-ratio at the rows of X, and its standard deviation.

        Parameters
        ----------
        X, numerator, denominator
            As in :meth:`isthmus.MDRE.log_ratio`.
        return_std : bool
            Whether to return the standard deviation too.

        Returns
        -------
        mean, std : ndarrays of shape (n,)
            Or the mean alone.
        """
        rows, pair = self._read(X, numerator, denominator)
        mean, std = self._moments(rows, pair, return_std)
        return (mean, std) if return_std else mean

    def divergence(
        self,
        spec: Any,
        p: Any,
        q: Any,
        *,
        level: float = 0.95,
        weight_p: Any = None,
        weight_q: Any = None,
    ) -> Estimate:
        """A divergence of p from q with the posterior of the log-ratio.

        The means run over the rows given, which are taken as they are: the interval is
        that of the parameters alone. :meth:`isthmus.Comparison.divergence` with
        ``interval=`` counts the error of the rows as well.

        Parameters
        ----------
        spec : str, callable or Divergence
            As in :func:`isthmus.functionals.get_divergence`.
        p, q : array-like or frame
            Rows of the two samples.
        level : float
            Share of the posterior in the interval, which has equal tails.
        weight_p, weight_q : array-like, optional
            Weights of the rows.

        Returns
        -------
        Estimate
            Mean, standard deviation and quantiles of the posterior.
        """
        check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
        values = self.divergence_draws(spec, p, q, weight_p=weight_p, weight_q=weight_q)
        low, high = np.quantile(values, [0.5 - 0.5 * level, 0.5 + 0.5 * level])
        reason = "" if np.isfinite(high) else "draws of the posterior have no finite value"
        return Estimate.within(
            values.mean(),
            values.std(ddof=1),
            low,
            high,
            level=level,
            lower=0.0,
            upper=get_divergence(spec).upper,
            method=self.method,
            reason=reason,
        )

    def divergence_draws(
        self, spec: Any, p: Any, q: Any, *, weight_p: Any = None, weight_q: Any = None
    ) -> Array:
        """The divergence for every draw, shape (S,); parameters as in :meth:`divergence`."""
        divergence = get_divergence(spec)
        rows = [self.model.as_rows(p), self.model.as_rows(q)]
        weight_p = as_weight(weight_p, len(rows[0]), "weight_p")
        weight_q = as_weight(weight_q, len(rows[1]), "weight_q")
        out = np.empty(len(self.draws))
        step = max(1, CHUNK_NUMBERS // (len(rows[0]) + len(rows[1])))
        for begin in range(0, len(out), step):
            some = self.some(slice(begin, begin + step))
            out[begin : begin + step] = divergence.value(
                some.log_ratio_draws(rows[0]), some.log_ratio_draws(rows[1]), weight_p, weight_q
            )
        return out

    def some(self, which: slice) -> Posterior:
        """The same with some of the draws."""
        return Posterior(self.fit, self.draws[which], self.method)

    def _read(self, X: Any, numerator: str, denominator: str) -> tuple[Array, tuple[int, int]]:
        place = self.fit.model.place
        pair = place(numerator, "numerator"), place(denominator, "denominator")
        return self.model.as_rows(X), pair

    def _moments(
        self, rows: Array, pair: tuple[int, int], with_std: bool = True
    ) -> tuple[Array, Array]:
        """Mean and standard deviation at rows, which may be left out; here, over the draws."""
        mean, std = np.empty(len(rows)), np.empty(len(rows))
        for at, part in self._blocks(rows, pair, self.draws):
            mean[at], std[at] = part.mean(axis=0), part.std(axis=0, ddof=1)
        return mean, std

    def _at(self, theta: Array, rows: Array, pair: tuple[int, int]) -> Array:
        """Log-ratio at one set of parameters."""
        return np.concatenate([part[0] for _, part in self._blocks(rows, pair, theta[None])])

    def _blocks(
        self, rows: Array, pair: tuple[int, int], draws: Array
    ) -> Iterator[tuple[slice, Array]]:
        """Log-ratios of draws at some rows at a time, each of shape (S, n)."""
        step = int(np.clip(CHUNK_NUMBERS // max(*draws.shape, 1), 1, CHUNK_ROWS))
        for at in slices(len(rows), step):
            Z = self.fit.model.offsets.where(rows[at])
            yield at, self._known(rows[at], Z, pair) + self._learned(Z, pair, draws)

    def _known(self, X: Array, Z: Array, pair: tuple[int, int]) -> Array:
        """The part that does not depend on the parameters, shape (n,)."""
        offsets = self.fit.model.offsets
        known = offsets(X, Z) - offsets.bias
        return np.asarray(known[:, pair[0]] - known[:, pair[1]])

    def _learned(self, Z: Array, pair: tuple[int, int], draws: Array) -> Array:
        """The part that does, for every draw, shape (S, n)."""
        critic = self.fit.objective.critic
        out = np.zeros((len(draws), len(Z)))
        places = learned_pair(self.fit.model.offsets, pair)
        if self.fit.objective.has_features and len(draws) > 1:
            parts = draws.reshape(len(draws), -1, critic.n_features)
            features = critic.features(Z) if places else []
            for place, sign in places:
                out += sign * (parts[:, place] @ features[place].T)
            return out
        for own, theta in zip(out, draws, strict=True):
            values = critic.values(critic.expand(theta), Z)
            for place, sign in places:
                own += sign * values[:, place]
        return out


def learned_pair(offsets: Offsets, pair: tuple[int, int]) -> list[tuple[int, float]]:
    """Places among the learned classes of a numerator and a denominator, each with its sign."""
    learned = list(offsets.learned)
    if pair[0] == pair[1]:
        return []
    signed = zip(pair, (1.0, -1.0), strict=True)
    return [(learned.index(c), sign) for c, sign in signed if c in learned]


def ratio_gradients(fit: Fit, Z: Array, pair: tuple[int, int]) -> Array:
    """Derivative of the log-ratio in the parameters at rows, shape (n, n_parameters)."""
    features = fit.objective.critic.features(Z)
    out = np.zeros((len(Z), len(features), features[0].shape[1]))
    for place, sign in learned_pair(fit.model.offsets, pair):
        out[:, place] = sign * features[place]
    return out.reshape(len(Z), -1)
