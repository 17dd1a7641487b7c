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

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..data.blocks import Block
from ..data.seeds import Seeds
from ..functionals.f_divergence import Linearisation
from ..model.objective import Objective, Point
from ..model.solvers import EXACT_LIMIT, solve_dense, solve_hessian
from ..typing import Array


class Influence:
    """What every row contributes to the gradient at the minimum of an objective.

    Where critics sit on normal anchors, the fit of these counts too. A sum over rows that goes
    along is given by its summands, an array for each of the first classes.
    """

    def __init__(self, point: Point, anchored: bool = True) -> None:
        self.point, objective = point, point.objective
        self.blocks, self.learned = objective.blocks, objective.learned
        pull = objective.l2 / self.blocks.mass[self.learned]
        self.pull = pull if anchored else np.zeros(len(self.learned))

    @cached_property
    def hessian(self) -> Array:
        """Dense Hessian of the objective."""
        return self.point.hessian()

    def solve(self, right: Array) -> Array:
        """Solve with the Hessian: exactly for few parameters, well enough for many."""
        if is_small(self.point.objective):
            return solve_dense(self.hessian, right)
        return solve_hessian(self.point, right, tol=1e-3, max_iter=100)

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

    def covariance_with(self, basis: Array, summands: Sequence[Array]) -> Array:
        """Covariance of the whitened parameters with a sum over rows, shape (size,)."""

        def means(block: Block) -> Array:
            value = float(at_rows(summands, block) @ self.share(block))
            return self.blocks.by_class(block, value)

        mean = self.blocks.sum(means)

        def product(block: Block) -> Array:
            if block.label >= len(summands):
                return np.zeros(basis.shape[1])
            # Deviations of both within classes; those of the parameters' part are moved over.
            own = at_rows(summands, block) - mean[block.label]
            return np.asarray(own @ self._contributions(block, basis))

        return self.blocks.sum(product)

    def draws(
        self, count: int, rng: np.random.Generator, summands: Sequence[Array] = ()
    ) -> Iterator[tuple[Array, float]]:
        """Parameters' deviations with the sampling covariance, each with that of a sum over rows.

        Every row is multiplied by a standard normal number; a solve with the
        Hessian turns the gradient that remains into parameters. For many
        parameters.
        """
        critic, classes = self.point.objective.critic, len(self.learned)
        for _ in range(count):
            noise = Noise(rng)

            def means(block: Block, noise: Noise = noise) -> Array:
                return self.blocks.by_class(block, float(self.share(block) @ noise(block)[0]))

            mean = self.blocks.sum(means)

            def gradient(
                block: Block, noise: Noise = noise, mean: Array = mean
            ) -> tuple[Any, Array, float]:
                # One class at a time: what all of its rows have in common does not count.
                z = noise(block)[0] - mean[block.label]
                own = (self.learned == block.label)[:, None]
                weight = block.weight * z
                pulled = own * self.pull[:, None] * weight
                R = (own - self.point.probability(block)) * weight + pulled
                total = critic.accumulator()
                critic.accumulate(total, R.T, block.X)
                return total, pulled.sum(axis=1), float(z @ at_rows(summands, block))

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


class Noise:
    """Standard normal numbers for the rows of a block, the same ones in every pass."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.seeds = Seeds(int(rng.integers(2**63)))

    def __call__(self, block: Block, count: int = 1) -> Array:
        """Numbers of shape (count, n)."""
        return self.seeds(f"block {block.index}").standard_normal((count, len(block)))


def at_rows(summands: Sequence[Array], block: Block) -> Array:
    """Summands at the rows of a block; zero where its class has none."""
    if block.label >= len(summands):
        return np.zeros(len(block))
    return summands[block.label][block.places]


def centred_terms(linear: Linearisation, weight_p: Array, weight_q: Array) -> tuple[Array, Array]:
    """Deviations of a functional's terms from their means, each times its share of the mean."""
    out = []
    for term, weight in ((linear.p, weight_p), (linear.q, weight_q)):
        share = weight / weight.sum()
        out.append(share * (term - share @ term))
    return out[0], out[1]


def is_small(objective: Objective) -> bool:
    """Whether the dense Hessian can be formed."""
    return objective.n_parameters <= EXACT_LIMIT and objective.has_features


def check_small(objective: Objective) -> None:
    """Refuse an objective whose dense Hessian cannot be formed."""
    if not is_small(objective):
        raise ValueError(
            f"critic must have at most {EXACT_LIMIT} parameters and features for this; "
            f"received {objective.n_parameters}. Use laplace with prior='fit', "
            "or a critic with fewer parameters, such as 'diagonal'."
        )
