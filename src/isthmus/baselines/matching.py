"""Kernel mean matching as a problem in as many numbers as there are centres."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..typing import Array
from .kernel import Sample, blocks, gaussian, squares

# Directions of the kernel at the centres with less than this of the largest are rounding.
_RANK = 1e-12
# Features of more values than these are computed anew in every step.
_MOST_VALUES = 2**24


def inverse_root(C: Array) -> Array:
    """The matrix R with R R' = C^-1 on the directions that rounding leaves, shape (b, k)."""
    values, axes = np.linalg.eigh(C)
    kept = values > _RANK * values[-1] * len(C)
    return np.asarray(axes[:, kept] / np.sqrt(values[kept]))


class Dual:
    """The dual problem: v of as many numbers as the kernel has directions, and nu.

    With z(x) = R'K(x, centres) it is to minimise, over v and nu,

        l2/2 |v|^2 - v'mean_p z + mean_q Psi(1 + z'v + nu) - target nu,

    Psi'(t) = min(max(t, 0), bound): a convex function of quadratic pieces, on which
    Newton's method ends after a few steps. nu is 0 while there is no target.

    Parameters
    ----------
    p, q : Sample
    centres : ndarray of shape (b, d)
    width, l2, bound : float
    """

    def __init__(
        self, p: Sample, q: Sample, centres: Array, *, width: float, l2: float, bound: float
    ) -> None:
        self.q, self.centres, self.width, self.l2, self.bound = q, centres, width, l2, bound
        self.root = inverse_root(gaussian(squares(centres, centres), width))
        self.h = np.zeros(self.root.shape[1])
        for part in blocks(len(p.rows), len(centres)):
            self.h += p.share[part] @ self._at(p.rows[part])
        self.kept: list[Array] | None = None
        if len(q.rows) * len(self.h) <= _MOST_VALUES:
            self.kept = [self._at(q.rows[part]) for part in self._parts()]
        self.steps, self.converged, self.gradient, self.mean = 0, True, 0.0, 1.0

    def _at(self, rows: Array) -> Array:
        """The features z of rows, shape (n, k)."""
        return np.asarray(gaussian(squares(rows, self.centres), self.width) @ self.root)

    def _parts(self) -> Iterator[slice]:
        return blocks(len(self.q.rows), len(self.centres))

    def _features(self) -> Iterable[Array]:
        if self.kept is not None:
            return self.kept
        return (self._at(self.q.rows[part]) for part in self._parts())

    def value(self, at: Array, target: float | None) -> tuple[float, Array, Array]:
        """Objective, gradient and Hessian at (v, nu)."""
        v, nu, k = at[:-1], float(at[-1]), len(self.h)
        # Sums over q: of Psi, of r z, of z z', z and 1 where r is strictly within its limits.
        psi, first, H, cross, inside = 0.0, np.zeros(k), np.zeros((k, k)), np.zeros(k), 0.0
        self.mean = 0.0
        for part, Z in zip(self._parts(), self._features(), strict=True):
            t, share = Z @ v + (1.0 + nu), self.q.share[part]
            r = np.clip(t, 0.0, self.bound)
            psi += float(share @ (r * (t - 0.5 * r)))
            first += (share * r) @ Z
            self.mean += float(share @ r)
            free = np.where((t > 0) & (t < self.bound), share, 0.0)
            weighted = Z * np.sqrt(free)[:, None]
            H += weighted.T @ weighted
            cross += free @ Z
            inside += float(free.sum())
        value = float(0.5 * self.l2 * v @ v - v @ self.h) + psi
        gradient, hessian = np.zeros(k + 1), np.eye(k + 1)
        gradient[:-1] = self.l2 * v - self.h + first
        hessian[:-1, :-1] = H + self.l2 * np.eye(k)
        if target is not None:
            value -= target * nu
            gradient[-1] = self.mean - target
            hessian[:-1, -1] = hessian[-1, :-1] = cross
            # Where no row is within its limits nothing depends on nu.
            hessian[-1, -1] = inside + 1e-12
        return value, gradient, hessian

    def solve(self, at: Array, target: float | None, tol: float, max_iter: int) -> Array:
        """Minimise from a start (v, nu)."""
        scale = max(float(np.abs(self.h).max()), 1e-300)
        value, gradient, hessian = self.value(at, target)
        while True:
            self.gradient = float(np.abs(gradient).max()) / scale
            self.converged = self.gradient <= tol
            if self.converged or self.steps >= max_iter:
                return at
            d = -np.linalg.solve(hessian, gradient)
            t, slope = 1.0, float(gradient @ d)
            if -slope <= 1e-15 * abs(value):  # rounding: no step improves any more
                self.converged = True
                return at
            self.steps += 1
            while True:
                new = self.value(at + t * d, target)
                if new[0] <= value + 1e-4 * t * slope + 1e-14 * abs(value) or t < 1e-8:
                    break
                t *= 0.5
            at = at + t * d
            value, gradient, hessian = new
