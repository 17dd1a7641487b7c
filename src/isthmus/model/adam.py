"""MDRE by steps of Adam on batches, as the paper's authors trained it.

Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015. The critics are those of
the authors' code. In many columns that of class c is ::

    h_c(x) = -1/2 (x - mu_c)' W_c W_c' (x - mu_c) + b_c,

from W = I, mu = 0 and b = -320. In one column it is ::

    h_c(x) = s_c (x - u_c)^2 + t_c (x - v_c) + b_c,

with every parameter drawn between -sqrt(3) and sqrt(3); where there is only one auxiliary, its s
is zero. Since a function may be added to all critics, either is the quadratic function of
:class:`~isthmus.critics.Quadratic`, whose parameters a fit ends with; but steps lead elsewhere
than Newton's method does for as long as they have not converged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..auxiliaries.discrete import draw_rows
from ..critics import Quadratic
from ..critics.quadratic import Coefficients
from ..critics.resolve import convex_critic
from ..data.sample import Sample
from ..data.validation import check_flag, check_number
from ..settings import Settings, is_auto
from ..typing import Array
from .rows import ClassRows
from .solvers import Solution

_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_OFFSET = -320.0


@dataclass(frozen=True)
class Adam:
    """A number of steps, for ``MDRE(solver=Adam(...))``.

    Each step lowers the sum over the classes of their mean cross-entropies, on a batch of each.
    The critic must be the free quadratic one, without anchors, maps, penalty or priors, and with
    every class learned: the settings of :meth:`isthmus.MDRE.paper`.

    Attributes
    ----------
    lr : float
        Learning rate.
    steps : int
        Number of steps; nothing else ends the training.
    batch_size : int
        Rows of each class in a step.
    decay : bool
        Whether the rate falls to zero along half a cosine, or stays.
    replacement : bool
        Whether rows are drawn with replacement, or each once before any comes again.
    stop : int, optional
        Make only so many of the steps, to see how far they had led.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.model.adam import Adam
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2)))
    >>> paper = dict(critic="quadratic", anchor=None, maps=None, l2=0.0, known_density=False)
    >>> mdre = isthmus.MDRE("linear", **paper, solver=Adam(steps=500), random_state=0).fit(X, y)
    >>> mdre.log_ratio([[0.0, 0.0], [1.0, 1.0]]).round()  # truth: 1 and -1
    array([ 1., -1.])
    """

    lr: float = 0.05
    steps: int = 2000
    batch_size: int = 500
    decay: bool = True
    replacement: bool = True
    stop: int | None = None

    def check(self, settings: Settings) -> None:
        """Refuse numbers that make no sense, and settings that these steps know nothing of."""
        check_number(self.lr, "lr", low=0, open_low=True, open_high=True)
        for name in ("steps", "batch_size"):
            check_number(getattr(self, name), name, low=1, integer=True)
        if self.stop is not None:
            check_number(self.stop, "stop", low=1, integer=True)
        for name in ("decay", "replacement"):
            check_flag(getattr(self, name), name)
        wanted = {
            "anchor": (settings.anchor, None),
            "maps": (settings.maps, None),
            "known_density": (settings.known_density, False),
            "prior": (settings.prior, "uniform"),
            "l2": (settings.l2, 0.0),
        }
        for name, (given, must) in wanted.items():
            if is_auto(given) or given != must:
                raise ValueError(f"{name} must be {must!r} with solver=Adam(); received {given!r}.")
        critic = None if is_auto(settings.critic) else convex_critic(settings.critic)
        if not isinstance(critic, Quadratic) or critic.rank is not None:
            raise ValueError(
                "critic must be 'quadratic', of full rank, with solver=Adam(); received "
                f"{settings.critic!r}."
            )

    def rate(self, step: int) -> float:
        """Learning rate of a step, the first being 0."""
        fall = 0.5 * (1.0 + np.cos(np.pi * step / self.steps)) if self.decay else 1.0
        return float(self.lr * fall)

    def train(self, rows: ClassRows, critic: Quadratic) -> Solution:
        """Make the steps, on the rows of every class in the units of the data."""
        rng = rows.seeds("adam")
        draws = [Batches(sample, self, rng) for sample in rows.given]
        d = rows.samples.n_columns
        kind: type[OneColumn] | type[ManyColumns] = OneColumn if d == 1 else ManyColumns
        critics = kind(len(draws), d, self.batch_size, rng)
        moments = [(np.zeros_like(one), np.zeros_like(one)) for one in critics.parameters]
        count = self.steps if self.stop is None else min(self.stop, self.steps)
        for step in range(count):
            gradients = critics.gradients([draw() for draw in draws])
            # Both corrections for the start in one factor.
            bias = np.sqrt(1 - _BETAS[1] ** (step + 1)) / (1 - _BETAS[0] ** (step + 1))
            length = self.rate(step) * bias
            for one, gradient, (first, second) in zip(
                critics.parameters, gradients, moments, strict=True
            ):
                first += (1 - _BETAS[0]) * (gradient - first)
                second *= _BETAS[1]
                np.multiply(gradient, gradient, out=gradient)
                gradient *= 1 - _BETAS[1]
                second += gradient
                np.sqrt(second, out=gradient)
                gradient += _EPSILON
                np.divide(first, gradient, out=gradient)
                gradient *= length
                one -= gradient
        theta = critic.parameters_of(_mapped(critics.coefficients(), rows))
        return Solution(theta, f"{count} steps were made", count, np.nan, np.nan)


def _mapped(raw: Coefficients, rows: ClassRows) -> Coefficients:
    """Quadratic functions of x as functions of its coordinates z, with x = c + z B."""
    where, width = rows.offsets.where, rows.inside.n_columns
    c = where.inverse(np.zeros((1, width)))[0]
    B = where.inverse(np.eye(width)) - c
    W, b, a = raw
    moved = a + np.einsum("i,cij,j->c", c, W, c) + b @ c
    return Coefficients(B @ W @ B.T, (b + 2.0 * W @ c) @ B.T, moved)


class Batches:
    """Batches of rows of a sample."""

    def __init__(self, sample: Sample, how: Adam, rng: np.random.Generator) -> None:
        self.rows, self.weight, self.how, self.rng = sample.rows, sample.weight, how, rng
        self.even = np.ptp(sample.weight) == 0.0
        self.order = np.zeros(0, dtype=np.intp)

    def __call__(self) -> Array:
        size, n = self.how.batch_size, len(self.rows)
        if not self.even:
            return self.rows[draw_rows(self.weight, size, self.rng)]
        if self.how.replacement:
            return self.rows[self.rng.integers(n, size=size)]
        while len(self.order) < size:
            self.order = np.concatenate([self.order, self.rng.permutation(n)])
        at, self.order = self.order[:size], self.order[size:]
        return self.rows[at]


def _softmax_minus_label(logit: Array, size: int) -> Array:
    """Derivative of the loss in the logits, shape (rows, classes); rows come class by class."""
    logit -= logit.max(axis=1, keepdims=True)
    np.exp(logit, out=logit)
    logit /= logit.sum(axis=1, keepdims=True)
    for c in range(logit.shape[1]):
        logit[c * size : (c + 1) * size, c] -= 1.0
    logit /= size
    return logit


class ManyColumns:
    """W, centres and offsets in single precision: as quick as its two products of matrices."""

    def __init__(self, classes: int, d: int, size: int, rng: np.random.Generator) -> None:
        self.size = size
        # All classes side by side, so that one product serves them all.
        W = np.repeat(np.eye(d, dtype=np.float32)[:, None], classes, axis=1)
        offset = np.full(classes, _OFFSET, np.float32)
        self.parameters = [W, np.zeros((classes, d), np.float32), offset]
        # Rows with a one at the end; below the matrices, what subtracts the centres.
        self.X = np.ones((classes * size, d + 1), np.float32)
        self.right = np.empty((d + 1, classes, d), np.float32)
        self.spread = np.empty((classes * size, classes * d), np.float32)

    def gradients(self, batches: list[Array]) -> list[Any]:
        """Gradients in all parameters."""
        W, centre, offset = self.parameters
        d, classes, _ = W.shape
        for c, batch in enumerate(batches):
            self.X[c * self.size : (c + 1) * self.size, :d] = batch
        self.right[:d] = W
        self.right[d] = -np.einsum("cd,dce->ce", centre, W)
        np.matmul(self.X, self.right.reshape(d + 1, -1), out=self.spread)
        spread = self.spread.reshape(-1, classes, d)
        logit = np.einsum("ncd,ncd->nc", spread, spread)
        logit *= -0.5
        logit += offset
        rest = _softmax_minus_label(logit, self.size)
        spread *= rest[:, :, None]
        both = (self.X.T @ self.spread).reshape(d + 1, classes, d)
        of_W, total = both[:d], both[d]
        np.negative(of_W, out=of_W)
        of_W += centre.T[:, :, None] * total[None]
        return [of_W, np.einsum("dce,ce->cd", W, total), rest.sum(axis=0)]

    def coefficients(self) -> Coefficients:
        """The quadratic functions x'Ax + b'x + a."""
        W, centre, offset = (one.astype(np.float64) for one in self.parameters)
        W = W.transpose(1, 0, 2)
        A = -0.5 * W @ W.transpose(0, 2, 1)
        b = -2.0 * np.einsum("cij,cj->ci", A, centre)
        return Coefficients(A, b, offset + np.einsum("ci,cij,cj->c", centre, A, centre))


class OneColumn:
    """s, u, t, v and b of every class, by three moments of a batch."""

    def __init__(self, classes: int, d: int, size: int, rng: np.random.Generator) -> None:
        self.size = size
        reach = np.sqrt(3.0)
        self.parameters = [rng.uniform(-reach, reach, classes) for _ in range(5)]
        self.squares = np.ones(classes)
        if classes == 3:
            self.squares[2] = 0.0
        self.features = np.ones((classes * size, 3))

    def gradients(self, batches: list[Array]) -> list[Any]:
        """Gradients in all parameters."""
        x = np.concatenate(batches)
        self.features[:, 1:2] = x
        np.multiply(x[:, 0], x[:, 0], out=self.features[:, 2])
        A, b, a = self.coefficients()
        raw = np.column_stack([a, b[:, 0], A[:, 0, 0]])
        rest = _softmax_minus_label(self.features @ raw.T, self.size)
        total, first, second = (rest.T @ self.features).T
        s, u, t, v, _ = self.parameters
        s = s * self.squares
        of_s = (second - 2.0 * u * first + u * u * total) * self.squares
        return [of_s, -2.0 * s * (first - u * total), first - v * total, -t * total, total]

    def coefficients(self) -> Coefficients:
        """The quadratic functions Ax² + bx + a."""
        s, u, t, v, offset = self.parameters
        s = s * self.squares
        a = s * u**2 - t * v + offset
        return Coefficients(s[:, None, None], (t - 2.0 * s * u)[:, None], a)
