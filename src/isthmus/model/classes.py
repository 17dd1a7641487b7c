"""The fitted model: a critic for every class, and no rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import log_softmax

from ..auxiliaries import is_known
from ..data.blocks import slices
from ..data.validation import check_option
from ..typing import Array, LinearCritic
from .folded import Folded
from .offsets import Offsets

_BLOCK_ROWS = 4096
"""Rows whose log-ratio is worked out at a time: few enough for all of it to stay in the cache."""


class CriticModel(ABC):
    """Critics h_c of p, q and K auxiliaries, with log p/q = h_p - h_q.

    Attributes
    ----------
    class_names : list of str
        "p", "q", "m1", ..., "mK".
    log_prior : ndarray of shape (K + 2,)
        Log of the class priors.
    auxiliaries : sequence
        The auxiliaries; those that mix rows of the samples are unfitted.
    """

    log_prior: Array

    @property
    @abstractmethod
    def class_names(self) -> list[str]:
        """Names of the classes."""

    @property
    @abstractmethod
    def auxiliaries(self) -> Sequence[Any]:
        """One for each class beyond p and q."""

    @abstractmethod
    def critics(self, X: Array) -> Array:
        """h_c at the rows of X for all classes, shape (n, K + 2)."""

    @property
    def bias(self) -> Array:
        """What was taken off every class's log-density to make log-ratios unbiased."""
        return np.zeros(len(self.class_names))

    @property
    def anchored(self) -> bool:
        """Whether what is learned departs from anchors."""
        return False

    @property
    def has_influence(self) -> bool:
        """Whether every row's influence on the fit is known in closed form."""
        return False

    def place(self, name: str, argument: str) -> int:
        """Which class a name stands for."""
        check_option(name, argument, self.class_names)
        return self.class_names.index(name)

    def log_ratio(self, X: Array, numerator: str = "p", denominator: str = "q") -> Array:
        """Log of the ratio of two classes' densities at the rows of X, shape (n,)."""
        top = self.place(numerator, "numerator")
        bottom = self.place(denominator, "denominator")
        if top == bottom:
            return np.zeros(len(X))
        h = self.critics(X)
        return np.asarray(h[:, top] - h[:, bottom])

    def log_proba(self, X: Array) -> Array:
        """Log-probabilities of the classes, shape (n, K + 2)."""
        return np.asarray(log_softmax(self.critics(X) + self.log_prior, axis=1))

    def log_density(self, X: Array, name: str) -> Array | None:
        """Log-density of a class at the rows of X, by way of an auxiliary that is known.

        None where no density is known.
        """
        for k, auxiliary in enumerate(self.auxiliaries):
            if is_known(auxiliary):
                known = np.asarray(auxiliary.log_density(X))
                return known + self.log_ratio(X, name, f"m{k + 1}")
        return None


@dataclass(frozen=True)
class ClassModel(CriticModel):
    """Coordinates, anchors, known densities, and what was learned on top of them.

    Attributes
    ----------
    offsets : Offsets
        Coordinates, anchors and auxiliaries.
    log_prior : ndarray of shape (K + 2,)
    critic : LinearCritic or None
        The convex critic; None where critics stay at their anchors.
    theta : ndarray of shape (n_parameters,)
        Its parameters.
    network : NetworkFit or None
        A network on top of it.
    """

    offsets: Offsets
    log_prior: Array
    critic: LinearCritic | None = None
    theta: Array = field(default_factory=lambda: np.zeros(0))
    network: Any = None

    @property
    def class_names(self) -> list[str]:
        """Names of the classes."""
        return self.offsets.class_names

    @property
    def auxiliaries(self) -> Sequence[Any]:
        """One for each class beyond p and q."""
        return self.offsets.auxiliaries

    @property
    def bias(self) -> Array:
        """What was taken off every class's log-density to make log-ratios unbiased."""
        return self.offsets.bias

    @property
    def anchored(self) -> bool:
        """Whether what is learned departs from anchors."""
        return bool(self.offsets.anchors)

    @property
    def has_influence(self) -> bool:
        """Whether every row's influence on the fit is known in closed form."""
        return self.network is None and self.offsets.has_influence

    def log_ratio(self, X: Array, numerator: str = "p", denominator: str = "q") -> Array:
        """Log of the ratio of two classes' densities at the rows of X, shape (n,)."""
        at = self.place(numerator, "numerator"), self.place(denominator, "denominator")
        if at[0] == at[1]:
            return np.zeros(len(X))
        folded = Folded.of(self, *at)
        out = np.empty(len(X))
        for some in slices(len(X), _BLOCK_ROWS):
            if folded is not None:
                # The order of rows in memory does not decide how sums are rounded.
                out[some] = folded(np.ascontiguousarray(X[some]))
            else:
                h = self._of_pair(X[some], at)
                np.subtract(h[:, at[0]], h[:, at[1]], out=out[some])
        return out

    def _of_pair(self, X: Array, at: tuple[int, int]) -> Array:
        """h_c at rows of X for two classes; for the others something else."""
        Z = self.offsets.where(X)
        h = self.offsets(X, Z, at)
        learned = self.offsets.learned
        if self.critic is not None:
            h[:, learned] += self.critic.values(self.critic.expand(self.theta), Z)
        if self.network is not None:
            h[:, learned] += self.network.values(X, Z)
        return np.asarray(h - self.bias)

    def critics(self, X: Array) -> Array:
        """h_c at the rows of X for all classes, shape (n, K + 2), some rows at a time."""
        out, bias = np.empty((len(X), len(self.class_names))), self.bias
        raw = None if self.critic is None else self.critic.expand(self.theta)
        for at in slices(len(X)):
            Z = self.offsets.where(X[at])
            h = self._convex(X[at], Z, raw)
            if self.network is not None:
                h[:, self.offsets.learned] += self.network.values(X[at], Z)
            out[at] = h - bias
        return out

    def convex(self, X: Array, Z: Array) -> Array:
        """Anchors, known densities and the convex critic at rows X with coordinates Z."""
        return self._convex(X, Z, None if self.critic is None else self.critic.expand(self.theta))

    def _convex(self, X: Array, Z: Array, raw: Any) -> Array:
        h = self.offsets(X, Z)
        if self.critic is not None:
            h[:, self.offsets.learned] += self.critic.values(raw, Z)
        return h
