"""Time scores that are quadratic in x, found by linear algebra.

At every time the best function s(x) of a linear family f(x)' theta minimises ::

    E[s(x_t)^2] - 2 E[grad s(x_t)' dx_t/dt]:

time score matching, integrated by parts along the line from x_q to x_p. What is
solved for is the difference from the time score of the normal path. With Hermite
features in the frame of x_t the matrix E[f f'] is nearly the identity, so that a few
steps of Lanczos suffice, and give the solutions for all penalties at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..critics.quadratic import Coefficients, Quadratic
from ..data.distinct import Distinct
from ..data.seeds import Seeds
from ..maps.affine import Frame
from ..settings import is_auto
from ..typing import Array
from .time_score import MovingRows, Path, panels, split_off

# Penalties that are tried, in units of the number of rows.
_RATIOS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4)
_MOST_STEPS = 60
_MOST_VALUES = 8_000_000
_PATIENCE = 3
# Penalised solutions must gain that many standard errors on the rows held out.
_MARGIN = 2.0
_ROWS_FOR_TIMES = 1000
# The part that is solved for is small and smooth: its integral needs no more.
_TIMES_TOL = 1e-3


@dataclass(frozen=True)
class QuadraticScore:
    """The quadratic part of a time score: coefficients, in the frame of x_t, at the nodes in t."""

    path: Path
    critic: Quadratic
    times: Array
    weights: Array
    coefficients: list[Coefficients]

    def integral(self, Y: Array) -> Array:
        """Integral over t, shape (n,)."""
        total = np.zeros(len(Y))
        for t, weight, raw in zip(self.times, self.weights, self.coefficients, strict=True):
            mean, variance, *_ = self.path.moments(float(t))
            total += weight * self.critic.values(raw, (Y - mean) / np.sqrt(variance))[:, 0]
        return total


def fit_quadratic(
    path: Path,
    p: Distinct,
    q: Distinct,
    *,
    l2: float | str,
    validation: float,
    tol: float,
    seeds: Seeds,
    report: Callable[[str], None],
    anchored: bool = True,
) -> tuple[QuadraticScore | None, float]:
    """Fit the difference from the normal path's time score; with it, the penalty.

    If it is not ``anchored``, the whole time score is fitted, its difference from zero.

    The penalty is judged by a share ``validation`` of the rows; None and infinity are returned
    where the normal path is not improved on. ``tol`` is the relative residual at which a system
    counts as solved; ``report`` takes lines on the progress.
    """
    some = [x.rows[:: max(1, len(x.rows) // _ROWS_FOR_TIMES)] for x in (p, q)]
    times, weights = panels(path, np.vstack(some), max(tol, _TIMES_TOL) if anchored else tol)
    d = len(path.mean_p)
    critic = Quadratic().bind([Frame(np.zeros(d), np.eye(d))])
    if is_auto(l2):
        l2 = _choose(path, critic, p, q, times, weights, validation, seeds, report, anchored)
    if np.isinf(float(l2)):
        return None, np.inf
    count, ratio = _count(p, q), float(l2) / max(p.size, q.size)
    found = []
    for j, t in enumerate(times):
        rows = draw_rows(path, float(t), p, q, count, seeds(f"pairs {j}"))
        basis = Krylov(critic, rows if anchored else without_normal(rows))
        while basis.extend() and basis.residual(ratio) > tol:
            pass
        found.append(critic.expand(basis.solution(ratio)))
        report(f"time {j + 1} of {len(times)}: {basis.size} steps")
    return QuadraticScore(path, critic, times, weights, found), float(l2)


def _choose(
    path: Path,
    critic: Quadratic,
    p: Distinct,
    q: Distinct,
    times: Array,
    weights: Array,
    validation: float,
    seeds: Seeds,
    report: Callable[[str], None],
    anchored: bool,
) -> float:
    """Choose the penalty by the objective on rows that are held out."""
    (fit_p, held_p), (fit_q, held_q) = (
        split_off(x, validation, seeds(f"held out {name}")) for name, x in (("p", p), ("q", q))
    )
    if held_p is None or held_q is None:
        # As many rows as a prior has coefficients: nothing can be judged.
        return float(critic.n_features)
    count, held = _count(fit_p, fit_q), _count(held_p, held_q)
    loss = np.zeros((len(_RATIOS), held))
    judges = held_p.stratified(held, seeds("judges p")), held_q.stratified(held, seeds("judges q"))
    shares = weights / path.scale(times)
    for j, t in enumerate(times):
        rows = draw_rows(path, float(t), fit_p, fit_q, count, seeds(f"fitting pairs {j}"))
        judge = path.rows(float(t), *judges)
        if not anchored:
            rows, judge = without_normal(rows), without_normal(judge)
        basis = Krylov(critic, rows, judge)
        best, since = np.inf, 0
        while since < _PATIENCE and basis.extend():
            low = basis.judged(_RATIOS).mean(axis=1).min()
            best, since = (low, 0) if low < best else (best, since + 1)
        loss += shares[j] * basis.judged(_RATIOS)
        report(f"penalty at time {j + 1} of {len(times)}: {basis.size} steps")
    mean = loss.mean(axis=1)
    best = int(mean.argmin())
    error = loss[best].std() / np.sqrt(held)
    if mean[best] >= -_MARGIN * error:
        return np.inf
    return _RATIOS[best] * max(fit_p.size, fit_q.size)


class Krylov:
    """Lanczos' basis for the system of one time, extended a vector at a time."""

    def __init__(
        self, critic: Quadratic, rows: MovingRows, judge: MovingRows | None = None
    ) -> None:
        self.critic, self.rows, self.judge = critic, rows, judge
        start = right_side(critic, rows)
        self.norm = float(np.linalg.norm(start))
        self.next = start / self.norm if self.norm > 0 else None
        self.diagonal, self.off = list[float](), list[float]()
        self.vectors, self.values, self.slopes = list[Array](), list[Array](), list[Array]()

    @property
    def size(self) -> int:
        return len(self.vectors)

    def extend(self) -> bool:
        """Add a vector; False where there is none to add."""
        if self.next is None or self.size >= _MOST_STEPS:
            return False
        v = self.next
        raw = self.critic.expand(v)
        image = _moments(self.critic, self.critic.values(raw, self.rows.Z), self.rows.Z)
        self.vectors.append(v)
        self.diagonal.append(float(v @ image))
        if self.judge is not None:
            self.values.append(self.critic.values(raw, self.judge.Z)[:, 0])
            self.slopes.append(_slope(self.critic, raw, self.judge))
        for _ in range(2):
            for old in self.vectors:
                image -= (old @ image) * old
        length = float(np.linalg.norm(image))
        self.off.append(length)
        self.next = image / length if length > 1e-10 * max(self.diagonal) else None
        return True

    def _weights(self, ratio: float) -> Array:
        """Solution in the basis."""
        if not self.vectors:
            return np.zeros(0)
        off = self.off[:-1]
        T = np.diag(self.diagonal) + np.diag(off, 1) + np.diag(off, -1)
        side = np.zeros(self.size)
        side[0] = self.norm
        # A singular system with no penalty has its smallest solution.
        return np.asarray(np.linalg.lstsq(T + ratio * np.eye(self.size), side, rcond=1e-12)[0])

    def residual(self, ratio: float) -> float:
        """Norm of what is left of the right side, relative to it."""
        if self.next is None or self.norm == 0:
            return 0.0
        return float(abs(self._weights(ratio)[-1]) * self.off[-1] / self.norm)

    def solution(self, ratio: float) -> Array:
        """Coefficients of the features."""
        vectors = np.reshape(self.vectors, (self.size, self.critic.n_features))
        return np.asarray(self._weights(ratio) @ vectors)

    def judged(self, ratios: tuple[float, ...]) -> Array:
        """Objective at the rows of the judge for every penalty, shape (penalties, n)."""
        assert self.judge is not None
        shape = self.size, len(self.judge.Z)
        weights = np.array([self._weights(ratio) for ratio in ratios])
        value = weights @ np.reshape(self.values, shape)
        slope = weights @ np.reshape(self.slopes, shape)
        return np.asarray(value**2 + 2.0 * value * self.judge.normal - 2.0 * slope)


def _count(p: Distinct, q: Distinct) -> int:
    """How many pairs of rows to draw."""
    most = max(_MOST_VALUES // p.rows.shape[1], 1000)
    return int(min(max(p.size, q.size), most))


def draw_rows(
    path: Path, t: float, p: Distinct, q: Distinct, count: int, rng: np.random.Generator
) -> MovingRows:
    """Rows of x_t that are made of pairs drawn at random."""
    return path.rows(t, p.stratified(count, rng), q.stratified(count, rng))


def without_normal(rows: MovingRows) -> MovingRows:
    """The same rows with nothing known of their time score."""
    return rows._replace(normal=np.zeros_like(rows.normal))


def right_side(critic: Quadratic, rows: MovingRows) -> Array:
    """E[grad f' dz/dt] - E[f s], where s is the normal time score."""
    Z, U, normal = rows
    ones = np.ones((len(Z), 1))
    # A difference of any step is exact for quadratic functions.
    step = 1.0 / max(float(np.abs(U).max()), 1e-300)
    ahead = _moments(critic, ones, Z + step * U)
    behind = _moments(critic, ones, Z - step * U)
    return np.asarray((ahead - behind) / (2.0 * step) - _moments(critic, normal[:, None], Z))


def _slope(critic: Quadratic, raw: Any, rows: MovingRows) -> Array:
    """Derivative of a quadratic function along the rows' motion."""
    step = 1.0 / max(float(np.abs(rows.U).max()), 1e-300)
    ahead = critic.values(raw, rows.Z + step * rows.U)
    behind = critic.values(raw, rows.Z - step * rows.U)
    return np.asarray((ahead - behind)[:, 0] / (2.0 * step))


def _moments(critic: Quadratic, R: Array, Z: Array) -> Array:
    """Mean of r f(z) over the rows."""
    total = critic.accumulator()
    critic.accumulate(total, R, Z)
    return critic.contract(total) / len(Z)
