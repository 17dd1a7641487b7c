r"""What every row did to the fitted parameters, and the covariance over samples that follows.

A posterior takes the objective at its word: a row of weight 2 is two rows, and
anchors are known. The sandwich :math:`H^{-1} M H^{-1}` adds up what each row did to
the fit, through its class, through its weight and through the anchor that was fitted to
it. All of it is sums over blocks.

With g the gradient of a functional in the parameters, H the Hessian of the objective
and s = H^-1 g, a row contributes ``-w_i grad_i' s``. An anchor is fitted to rows too; a change A
of it acts as a change of the parameters that the penalty pulls towards, so that
``l2 A' s`` is added. For a normal fit by moments, A is the row's features in
the frame of its class, divided by the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..data.blocks import Block
from ..data.seeds import Seeds
from ..functionals.f_divergence import Linearisation
from ..model.objective import Objective, Point
from ..model.solvers import EXACT_LIMIT, solve_dense, solve_hessian
from ..typing import Array


class Influence:
    """What every row contributes to the gradient.

    Parameters
    ----------
    point : Point
        The objective at its minimum.
    anchored : bool
        Whether the critics sit on normal anchors, whose own fit then counts.
    """

    def __init__(self, point: Point, anchored: bool = True) -> None:
        self.point, objective = point, point.objective
        self.blocks, self.learned = objective.blocks, objective.learned
        mass = self.blocks.mass
        pull = objective.l2 / mass[self.learned]
        self.pull = pull if anchored else np.zeros(len(self.learned))

    def share(self, block: Block) -> Array:
        """Shares of a block's rows in their class."""
        return np.asarray(block.weight / self.blocks.mass[block.label])

    def along(self, direction: Array) -> Callable[[Block], Array]:
        """Influence of the rows of a block on the fit along a direction, shape (n,)."""
        critic = self.point.objective.critic
        raw = critic.expand(direction)
        constant = direction.reshape(len(self.learned), -1)[:, 0]

        def effect(block: Block) -> Array:
            own = (self.learned == block.label)[:, None]
            along = critic.values(raw, block.X).T
            each = (own - self.point.probability(block)) * along
            each += own * self.pull[:, None] * (along - constant[:, None])
            return np.asarray(block.weight * each.sum(axis=0))

        return effect

    def variance(self, effect: Callable[[Block], Array]) -> float:
        """Variance of a sum over rows; the size of each class is given, not drawn."""

        def sums(block: Block) -> Array:
            e, s = effect(block), self.share(block)
            return self.blocks.by_class(block, np.array([e @ e, e.sum(), s @ e, s @ s]))

        squares, total, shared, spread = self.blocks.sum(sums).T
        each = squares - 2.0 * total * shared + total**2 * spread
        return max(float(each.sum()), 0.0)

    def std(self, slope: Array) -> float:
        """Standard deviation of ``slope @ theta``, by one solve and one pass over the rows."""
        direction = solve_hessian(self.point, slope, tol=1e-3)
        return float(np.sqrt(self.variance(self.along(direction))))

    def covariance(self, basis: Array) -> Array:
        """Covariance of the whitened parameters, shape (size, size), for ``theta = V z``."""

        def sums(block: Block) -> tuple[Array, ...]:
            U, s = self._contributions(block, basis), self.share(block)
            by_class = self.blocks.by_class
            return (
                U.T @ U,
                by_class(block, U.sum(axis=0)),
                by_class(block, s @ U),
                by_class(block, float(s @ s)),
            )

        second, total, shared, spread = self.blocks.sum(sums)
        # The size of each class is given, not drawn: only deviations within a class count.
        cross = total.T @ shared
        return np.asarray(second - cross - cross.T + (total.T * spread) @ total)

    def covariance_with(self, basis: Array, effects: tuple[Array, Array]) -> Array:
        """Covariance of the whitened parameters with a sum over rows of p and q, shape (size,).

        Parameters
        ----------
        basis : ndarray of shape (n_parameters, size)
        effects : pair of ndarray
            Summands at the rows of p and of q, the deviations from their classes' means.
        """

        def lean(block: Block) -> Array:
            value = 0.0
            if block.label < 2:
                value = float(effects[block.label][block.places] @ self.share(block))
            return self.blocks.by_class(block, value)

        centre = self.blocks.sum(lean)

        def product(block: Block) -> Array:
            # Deviations of both within classes; those of the parameters' part are moved over.
            own = -centre[block.label]
            if block.label < 2:
                own = effects[block.label][block.places] + own
            else:
                own = np.full(len(block), own)
            return np.asarray(own @ self._contributions(block, basis))

        return self.blocks.sum(product)

    def draws(
        self, count: int, effects: tuple[Array, Array], rng: np.random.Generator
    ) -> Iterator[tuple[Array, float]]:
        """Parameters' deviations with the sampling covariance, each with that of a sum over rows.

        Every row is multiplied by a standard normal number; a solve with the
        Hessian turns the gradient that remains into parameters. For many
        parameters.

        Parameters
        ----------
        count : int
        effects : pair of ndarray
            As in :meth:`covariance_with`; empty for none.
        rng : Generator
        """
        critic, classes = self.point.objective.critic, len(self.learned)
        for _ in range(count):
            noise = _Noise(int(rng.integers(2**63)))

            def means(block: Block, noise: _Noise = noise) -> Array:
                return self.blocks.by_class(block, float(self.share(block) @ noise(block)))

            mean = self.blocks.sum(means)

            def gradient(
                block: Block, noise: _Noise = noise, mean: Array = mean
            ) -> tuple[Any, Array, float]:
                # One class at a time: what all of its rows have in common does not count.
                z = noise(block) - mean[block.label]
                own = (self.learned == block.label)[:, None]
                weight = block.weight * z
                pulled = own * self.pull[:, None] * weight
                R = (own - self.point.probability(block)) * weight + pulled
                total = critic.accumulator()
                critic.accumulate(total, R.T, block.X)
                shift = 0.0
                if block.label < 2 and len(effects[block.label]):
                    shift = float(z @ effects[block.label][block.places])
                return total, pulled.sum(axis=1), shift

            total, constant, shift = self.blocks.sum(gradient)
            right = critic.contract(total)
            right.reshape(classes, -1)[:, 0] -= constant
            yield solve_hessian(self.point, right, tol=1e-3), shift

    def _contributions(self, block: Block, basis: Array) -> Array:
        """What the rows of a block contribute to whitened gradients, shape (n, size)."""
        objective = self.point.objective
        part = objective.n_parameters // len(self.learned)
        own = self.learned == block.label
        probability = self.point.probability(block)
        out = np.zeros((len(block), basis.shape[1]))
        for at in block.pieces(4 * objective.n_parameters):
            for c, phi in enumerate(objective.critic.features(block.X[at])):
                rows = basis[c * part : (c + 1) * part]
                pull = own[c] * self.pull[c]
                out[at] += (own[c] - probability[c, at] + pull)[:, None] * (phi @ rows)
                out[at] -= pull * rows[0]
        return np.asarray(out * block.weight[:, None])


class _Noise:
    """Standard normal numbers for the rows of a block, the same ones each time."""

    def __init__(self, seed: int) -> None:
        self.seeds = Seeds(seed)

    def __call__(self, block: Block) -> Array:
        return self.seeds(f"block {block.index}").standard_normal(len(block))


def solve(point: Point, right: Array) -> Array:
    """Solve with the Hessian: exactly for few parameters, well enough for many."""
    objective = point.objective
    if len(right) > EXACT_LIMIT or not objective.has_features:
        return solve_hessian(point, right, tol=1e-3, max_iter=100)
    return solve_dense(point.hessian(), right)


def is_small(objective: Objective) -> bool:
    """Whether the dense Hessian can be formed."""
    return objective.n_parameters <= EXACT_LIMIT and objective.has_features


def centred_effects(linear: Linearisation, weight_p: Array, weight_q: Array) -> tuple[Array, Array]:
    """Deviations of a functional's terms from their means, each times its share of the mean."""
    out = []
    for term, weight in ((linear.p, weight_p), (linear.q, weight_q)):
        share = weight / weight.sum()
        out.append(share * (term - share @ term))
    return out[0], out[1]
