r"""The sampling covariance of fitted parameters: what another sample would have given.

A posterior takes the objective at its word: a row of weight 2 is two rows, and
anchors are known. The sandwich :math:`H^{-1} M H^{-1}` adds up what each row did to
the fit, through its class, through its weight and through the anchor that was fitted to
it; see :func:`isthmus.functionals.intervals.fit_influence`, of which this is the form with
vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import Array
from ..objective import Objective, Point
from ..solvers import solve_hessian


class Influence:
    """What every row of the labelled sample contributes to the gradient.

    Parameters
    ----------
    point : Point
        The objective at its minimum.
    anchored : bool
        Whether the critics sit on normal anchors, whose own fit then counts.
    """

    def __init__(self, point: Point, anchored: bool) -> None:
        self.point, objective = point, point.objective
        sample = objective.sample
        self.learned = np.flatnonzero(sample.learned)
        self.mass = np.bincount(sample.label, sample.weight)
        self.pull = (
            objective.l2 / self.mass[self.learned] if anchored else np.zeros(len(self.learned))
        )
        self.share = sample.weight / self.mass[sample.label]

    def covariance(self, basis: Array) -> Array:
        """Covariance of the whitened parameters, shape (size, size), for ``theta = V z``."""
        size, classes = basis.shape[1], len(self.mass)
        second, sums, shared = (
            np.zeros((size, size)),
            np.zeros((classes, size)),
            np.zeros((classes, size)),
        )
        for rows, U in self._rows(basis):
            second += U.T @ U
            label, share = self.point.objective.sample.label[rows], self.share[rows]
            for c in np.unique(label):
                own = label == c
                sums[c] += U[own].sum(axis=0)
                shared[c] += share[own] @ U[own]
        # The size of each class is given, not drawn: only deviations within a class count.
        spread = np.bincount(self.point.objective.sample.label, self.share**2)
        cross = sums.T @ shared
        return np.asarray(second - cross - cross.T + (sums.T * spread) @ sums)

    def covariance_with(self, basis: Array, effect: Array) -> Array:
        """Covariance of the whitened parameters with a sum over rows, shape (size,).

        Parameters
        ----------
        basis : ndarray of shape (n_parameters, size)
        effect : ndarray of shape (m,)
            Summands at the first m rows, the deviations from their classes' means.
        """
        sample = self.point.objective.sample
        full = np.zeros(len(sample))
        full[: len(effect)] = effect
        lean = np.bincount(sample.label, full * self.share)
        out = np.zeros(basis.shape[1])
        for rows, U in self._rows(basis):
            # Deviations of both within classes; those of the parameters' part are moved over.
            out += (full[rows] - lean[sample.label[rows]]) @ U
        return out

    def std(self, slope: Array) -> float:
        """Standard deviation of ``slope @ theta``, by one solve and one pass over the rows."""
        objective = self.point.objective
        sample, critic = objective.sample, objective.critic
        direction = solve_hessian(self.point, slope, tol=1e-3)
        raw = critic.expand(direction)
        constant = direction.reshape(len(self.learned), -1)[:, 0]
        effect = np.empty(len(sample))
        for rows in objective.chunks():
            own = sample.label[rows, None] == self.learned
            along = critic.values(raw, sample.X[rows])
            each = (own - self.point.probability[rows]) * along + own * self.pull * (
                along - constant
            )
            effect[rows] = sample.weight[rows] * each.sum(axis=1)
        effect -= self.share * np.bincount(sample.label, effect)[sample.label]
        return float(np.sqrt(effect @ effect))

    def draws(
        self, count: int, effect: Array, rng: np.random.Generator
    ) -> Iterator[tuple[Array, float]]:
        """Parameters' deviations with the sampling covariance, each with that of a sum over rows.

        Every row is multiplied by a standard normal number; a solve with the
        Hessian turns the gradient that remains into parameters. For many
        parameters.

        Parameters
        ----------
        count : int
        effect : ndarray of shape (m,)
            As in :meth:`covariance_with`.
        rng : Generator
        """
        objective = self.point.objective
        sample, critic = objective.sample, objective.critic
        own = [sample.label == c for c in range(len(self.mass))]
        for _ in range(count):
            noise = rng.standard_normal(len(sample))
            for rows in own:
                # One class at a time: what all of its rows have in common does not count.
                noise[rows] -= self.share[rows] @ noise[rows]
            total, constant = critic.accumulator(), np.zeros(len(self.learned))
            weight = sample.weight * noise
            for rows in objective.chunks():
                is_own = sample.label[rows, None] == self.learned
                pulled = is_own * self.pull * weight[rows, None]
                R = (is_own - self.point.probability[rows]) * weight[rows, None] + pulled
                critic.accumulate(total, R, sample.X[rows])
                constant += pulled.sum(axis=0)
            right = critic.contract(total)
            right.reshape(len(self.learned), -1)[:, 0] -= constant
            yield solve_hessian(self.point, right, tol=1e-3), float(noise[: len(effect)] @ effect)

    def _rows(self, basis: Array) -> Iterator[tuple[slice, Array]]:
        """Contributions of rows to whitened gradients, chunk by chunk, each (n, size)."""
        objective: Objective = self.point.objective
        sample, classes = objective.sample, len(self.learned)
        part = objective.n_parameters // classes
        for rows in objective.chunks(width=4 * objective.n_parameters):
            own = sample.label[rows, None] == self.learned
            out = np.zeros((rows.stop - rows.start, basis.shape[1]))
            for c, phi in enumerate(objective.critic.features(sample.X[rows])):
                block = basis[c * part : (c + 1) * part]
                pull = own[:, c] * self.pull[c]
                out += (own[:, c] - self.point.probability[rows, c] + pull)[:, None] * (phi @ block)
                out -= pull[:, None] * block[0]
            yield rows, out * sample.weight[rows, None]


def centred_effect(linear: Any, shares: tuple[Array, Array]) -> Array:
    """Deviations of a functional's terms from their means, each times its share of the mean."""
    return np.concatenate(
        [
            share * (term - share @ term)
            for share, term in zip(shares, (linear.p, linear.q), strict=True)
        ]
    )
