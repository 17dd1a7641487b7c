"""KMM: weights of q's rows under which its kernel mean is that of p.

Huang, Smola, Gretton, Borgwardt & Schölkopf, "Correcting sample selection bias by
unlabeled data", Advances in Neural Information Processing Systems 19, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_number
from ..settings import is_auto
from ..typing import Array
from .kernel import InPieces, PenalisedKernelRatio, gaussian, pieces, squares
from .parameters import check_unless_auto

# Directions of the kernel at the centres with less than this of the largest are rounding.
_RANK = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class KMM(PenalisedKernelRatio):
    """Estimate log p/q by kernel mean matching.

    Weights beta of the n rows of q minimise the distance of two kernel means, the
    maximum mean discrepancy, in the space of a Gaussian kernel K with features phi::

        ½ |mean over p of phi(x) - 1/n sum_i beta_i phi(y_i)|^2 + l2 / (2 n) |beta - 1|^2
        subject to  0 <= beta_i <= bound,  |mean beta - 1| <= epsilon.

    With l2 = 0 it is the paper's problem, of which the solution is barely determined:
    the kernel matrix is singular to rounding. With a penalty it is unique, and its
    optimality conditions give a weight to any point, not only to rows of q::

        r(x) = min(max(1 + nu + f(x), 0), bound),
        f(x) = 1/l2 (mean over p of K(x, .) - 1/n sum_i beta_i K(x, y_i)),

    with nu the multiplier of the mean's limits, 0 if they do not bind. At q's rows r
    is beta. This function is the estimate. Without limits 1 + f is a least-squares fit
    with the penalty on f: Kanamori, Suzuki & Sugiyama, "Statistical analysis of
    kernel-based least-squares density-ratio estimation", Machine Learning 86, 2012.

    Parameters
    ----------
    centres : int or array-like of shape (b, d), default 100
        The kernel is replaced by its projection on these centres (Nyström), so that no
        n x n matrix is needed: largest number of centres, half of them rows of p and
        half of q, or the centres themselves in the units of the data. With all rows
        of q as centres the weights are exact.
    width, l2, standardise, random_state
        As in :class:`ULSIF`.
    bound : float, default 1000
        Largest weight.
    epsilon : float or "auto", default "auto"
        How far the mean of the weights may be from one; "auto" is the paper's
        1 - 1/sqrt(n).
    folds : int, default 5
        Number of folds in the choice of width and l2.
    floor : float or "auto", default "auto"
        As in :class:`ULSIF`; weights of zero are common. Far from all rows f is zero and the
        ratio 1 + nu: the method cannot see that far.
    tol : float, default 1e-9
        Largest component of the gradient of the dual problem, relative to its scale.
    max_iter : int, default 200
        Largest number of solver steps.

    Attributes
    ----------
    weights_ : ndarray of shape (n_q,)
        beta, in the order of q's rows.
    centres_, width_, l2_, widths_, l2s_, floor_
        As in :class:`ULSIF`.
    coef_, intercept_ : ndarray of shape (b,) and float
        Coefficients of f on the centres, and 1 + nu.
    scores_, score_errors_ : ndarray of shape (n_widths, n_l2s) or None
        ½ mean_q r^2 - mean_p r over rows left out, and its standard error; None if there
        was no choice.
    mmd_ : float
        Distance of the two kernel means that is left.
    n_iter_ : int
        Number of solver steps.

    Notes
    -----
    Discrepancies of different kernels cannot be compared. Width and penalty are
    therefore chosen by the squared error of r under q, but for a constant, over rows
    left out: the least of it plus two standard errors. In that choice the limits are
    applied to the solution without them.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import KMM
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 2000), rng.normal(0, 2, 2000))
    >>> kmm = KMM(random_state=0).fit(X, y)
    >>> kmm.log_ratio([[0.0], [2.0]]).round(1)  # truth: 0.69, -0.81
    array([ 0.7, -0.7])
    """

    bound: float = 1000.0
    epsilon: float | str = "auto"
    folds: int = 5
    tol: float = 1e-9
    max_iter: int = 200

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number(self.bound, "bound", low=1.0)
        check_unless_auto(self.epsilon, "epsilon", low=0.0)
        check_number(self.folds, "folds", low=2, integer=True)
        check_number(self.tol, "tol", low=0.0, open_low=True)
        check_number(self.max_iter, "max_iter", low=1, integer=True)

    def _draw_centres(self, p: Distinct, q: Distinct, n: int, rng: np.random.Generator) -> Array:
        of_p = p.thin(-(-n // 2), rng).rows
        of_q = q.thin(n - len(of_p), rng).rows if n > len(of_p) else of_p[:0]
        return np.unique(np.concatenate([of_p, of_q]), axis=0)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = self._prepare(samples, seeds)
        self._choose(lambda: self._left_out_scores(p, q, seeds))
        root = np.sqrt(self._sizes[1])
        slack = (root - 1.0) / root if is_auto(self.epsilon) else float(self.epsilon)

        dual = Dual(p, q, self._centres, width=self.width_, l2=self.l2_, bound=self.bound)
        found = dual.solve(np.zeros(len(dual.h) + 1), None, self.tol, self.max_iter)
        nearest = min(max(dual.mean, 1.0 - slack), 1.0 + slack)
        if nearest != dual.mean:
            found = dual.solve(found, nearest, self.tol, self.max_iter)
        self.coef_, self.intercept_ = dual.root @ found[:-1], 1.0 + float(found[-1])
        self.mmd_ = self.l2_ * float(np.linalg.norm(found[:-1]))
        self.n_iter_ = max(dual.steps, 1)
        self.weights_ = self._values(samples.q.rows)
        if not dual.converged:
            tell(
                f"KMM did not converge in {dual.steps} steps (gradient {dual.gradient:.1e}, tol "
                f"{self.tol:.1e}).",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _values(self, rows: Array) -> Array:
        return np.clip(super()._values(rows) + self.intercept_, 0.0, self.bound)

    def _left_out_scores(self, p: Distinct, q: Distinct, seeds: Seeds) -> tuple[Array, Array]:
        """Loss over rows left out and its standard error, shapes (n_widths, n_l2s)."""
        rng = seeds("judged")
        both = [self._judged(each, rng) for each in (p, q)]
        rng = seeds("folds")
        left_p, left_q = (each.folds(self.folds, rng) for each in both)
        p, q = both
        square_p, square_q = (squares(each.rows, self._centres) for each in both)
        between = squares(self._centres, self._centres)
        shape = len(self.widths_), len(self.l2s_)
        sums, sums_of_squares = np.zeros((2, *shape)), np.zeros((2, *shape))
        for i, width in enumerate(self.widths_):
            K_p, K_q = gaussian(square_p, width), gaussian(square_q, width)
            root = inverse_root(gaussian(between, width))
            # With fewer folds of one sample than of the other, the rest is not left out.
            for out_p, out_q in zip(left_p.T, left_q.T, strict=False):
                kept_p, kept_q = p.share - out_p, q.share - out_q
                kept_p, kept_q = kept_p / kept_p.sum(), kept_q / kept_q.sum()
                Z = K_q * np.sqrt(np.maximum(kept_q, 0.0))[:, None] @ root
                values, axes = np.linalg.eigh(Z.T @ Z)
                h = axes.T @ (root.T @ (kept_p @ K_p - kept_q @ K_q))
                v = axes @ (h[:, None] / (np.maximum(values, 0.0)[:, None] + self.l2s_))
                for s, (K, out) in enumerate(((K_p, out_p), (K_q, out_q))):
                    r = np.clip(1.0 + K[out > 0] @ (root @ v), 0.0, self.bound)
                    loss = 0.5 * r * r if s else -r
                    sums[s, i] += out[out > 0] @ loss
                    sums_of_squares[s, i] += out[out > 0] @ loss**2
        variance = np.maximum(sums_of_squares - sums**2, 0.0)
        return sums.sum(axis=0), np.sqrt(variance[0] / p.size + variance[1] / q.size)


def inverse_root(C: Array) -> Array:
    """The matrix R with R R' = C^-1 on the directions that rounding leaves, shape (b, k)."""
    values, axes = np.linalg.eigh(C)
    kept = values > _RANK * values[-1] * len(C)
    return np.asarray(axes[:, kept] / np.sqrt(values[kept]))


class Dual:
    """The dual problem: v of as many numbers as the kernel has directions, and nu.

    With z(x) = R'K(x, centres) it is to minimise, over v and nu, ::

        l2/2 |v|^2 - v'mean_p z + mean_q Psi(1 + z'v + nu) - target nu,

    Psi'(t) = min(max(t, 0), bound): a convex function of quadratic pieces, on which
    Newton's method ends after a few steps. nu is 0 while there is no target.
    """

    def __init__(
        self, p: Distinct, q: Distinct, centres: Array, *, width: float, l2: float, bound: float
    ) -> None:
        self.q, self.l2, self.bound = q, l2, bound
        self.root = inverse_root(gaussian(squares(centres, centres), width))

        def z(rows: Array) -> Array:
            """z(x), and a one that nu is multiplied by."""
            K = gaussian(squares(rows, centres), width)
            return np.column_stack([K @ self.root, np.ones(len(rows))])

        n, b = len(p.rows), len(centres)
        mean = sum(p.share[part] @ z(p.rows[part]) for part in pieces(n, b))
        self.h = np.asarray(mean)[:-1]
        self.features = InPieces(len(q.rows), b, lambda part: z(q.rows[part]))
        self.steps, self.converged, self.gradient, self.mean = 0, True, 0.0, 1.0

    def value(self, at: Array, target: float | None) -> tuple[float, Array, Array]:
        """Objective, gradient and Hessian at (v, nu)."""
        v, nu = at[:-1], float(at[-1])
        value = float(0.5 * self.l2 * v @ v - v @ self.h)
        gradient = np.append(self.l2 * v - self.h, 0.0)
        hessian = np.diag(np.append(np.full(len(v), self.l2), 1e-12))
        for part, Z in self.features:
            t, share = Z @ at + 1.0, self.q.share[part]
            r = np.clip(t, 0.0, self.bound)
            value += float(share @ (r * (t - 0.5 * r)))
            gradient += (share * r) @ Z
            # Rows whose r is within its limits; where there are none nothing depends on nu.
            weighted = Z * np.sqrt(np.where((t > 0) & (t < self.bound), share, 0.0))[:, None]
            hessian += weighted.T @ weighted
        self.mean = float(gradient[-1])
        if target is None:
            gradient[-1], hessian[-1], hessian[:, -1], hessian[-1, -1] = 0.0, 0.0, 0.0, 1.0
            return value, gradient, hessian
        gradient[-1] -= target
        return value - target * nu, gradient, hessian

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
