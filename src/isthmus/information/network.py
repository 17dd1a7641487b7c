"""A network on what a closed form leaves over, trained by multinomial regression.

Classes are the joint distribution p, the product of margins q, and auxiliaries between them
that mix the y of a row with the y of another,

    y_a = sqrt(1 - a²) y_i + a y_j    (Srivastava et al. 2023, linear mixing).

Where p is a normal copula with correlations rho, so is the auxiliary, with sqrt(1 - a²) rho:
every class starts at its own closed form, and the network learns the rest.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..data.sample import Sample
from ..data.seeds import Seeds
from ..neural import ClassInputs, Training, fit_residual, mlp, require_torch, seeded
from ..typing import Array, IntArray
from .copulas import normal_log_ratio
from .sides import canonical

# Leading coordinates that the network sees of each side.
_LEADING = 8
_HELD_OUT, _SHUFFLES = 0.15, 4


class ResidualRatio:
    """A closed form and a network that corrects it.

    Parameters
    ----------
    base : PairRatio
        The closed form. If it has ``variates()``, normal ones with their correlations, there
        are auxiliaries; else the network tells joint from shuffled pairs alone.
    x, y : ndarray of shape (n, d)
        Coordinates of all rows.
    seeds : Seeds
    mixing : tuple of float
        The shares a of the auxiliaries.
    width, depth, steps, batch_size, lr, weight_decay
        As of the other neural parts.
    """

    name = "network"

    def __init__(
        self,
        base: Any,
        x: Array,
        y: Array,
        seeds: Seeds,
        *,
        mixing: tuple[float, ...] = (0.5, 0.85),
        width: int = 64,
        depth: int = 2,
        steps: int = 1000,
        batch_size: int = 256,
        lr: float = 3e-3,
        weight_decay: float = 1e-3,
    ) -> None:
        require_torch("residual=True")
        self.base, self.x, self.y, self.seeds = base, x, y, seeds
        self.mixing = mixing if hasattr(base, "variates") else ()
        self.width, self.depth, self.batch_size = width, depth, batch_size
        self.settings = Training(
            steps=steps,
            lr=lr,
            weight_decay=weight_decay,
            every=max(steps // 20, 1),
            patience=6,
            start=True,
        )
        self._fits = 0

    def fit(self, rows: IntArray) -> Self:
        """Fit to the pairs of these rows."""
        self._fits += 1
        rng = self.seeds(f"network {self._fits}")
        self.base.fit(rows)
        self._look(rows)
        order = rng.permutation(rows)
        held, fitted = np.split(order, [round(_HELD_OUT * len(rows))])
        n_classes = len(self.mixing) + 2
        with seeded(rng):
            module = mlp(self.n_inputs, n_classes, width=self.width, depth=self.depth)

        def fresh(epoch: int) -> dict[int, ClassInputs]:
            drawn = self._classes(fitted, self.seeds(f"epoch {self._fits} {epoch}"))
            return {c: drawn[c] for c in range(1, n_classes)}

        self.network = fit_residual(
            module,
            self._classes(fitted, rng),
            _joined([self._classes(held, rng) for _ in range(_SHUFFLES)]),
            batch_size=self.batch_size,
            settings=self.settings,
            rng=rng,
            fresh=fresh,
        )
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        """Log-ratio at pairs of row i of x and row j of y."""
        h = self.network.values(self._inputs(i, self.right[j]))
        return np.asarray(self.base.log_ratio(i, j) + h[:, 0] - h[:, -1])

    def _look(self, rows: IntArray) -> None:
        """Coordinates of both sides: variates of the closed form, then canonical ones."""
        a, b, _ = canonical(self.x, self.y, rows)
        sides = []
        self.n_variates = 0
        own: tuple[Array, ...] = ()
        if hasattr(self.base, "variates"):
            *own_sides, self.rho = self.base.variates()
            own, self.n_variates = tuple(own_sides), len(self.rho)
        for k, z in enumerate((a, b)):
            radius = np.log((z * z).sum(axis=1) + 1e-12)
            radius = (radius - radius.mean()) / max(float(radius.std()), 1e-12)
            parts = [own[k]] if own else []
            sides.append(np.hstack([*parts, z[:, :_LEADING], radius[:, None]]))
        self.left, self.right = sides
        self.n_inputs = sum(len(self._seen(side.shape[1])) for side in sides)

    def _seen(self, width: int) -> IntArray:
        """Columns of a side that the network sees: not all variates, where there are many."""
        k = self.n_variates
        return np.array([*range(min(k, _LEADING)), *range(k, width)], dtype=np.intp)

    def _inputs(self, i: IntArray, right: Array) -> Array:
        left = self.left[i]
        return np.hstack([left[:, self._seen(left.shape[1])], right[:, self._seen(right.shape[1])]])

    def _classes(self, rows: IntArray, rng: np.random.Generator) -> list[ClassInputs]:
        """Joint, mixed and shuffled pairs of these rows."""
        out = []
        for share in (0.0, *self.mixing, 1.0):
            other = rng.permutation(rows)
            if share in (0.0, 1.0):
                partner = rows if share == 0.0 else other
                out.append(self._class(rows, self.right[partner], partner))
            else:
                mixed = np.sqrt(1 - share**2) * self.right[rows] + share * self.right[other]
                out.append(self._class(rows, mixed, None))
        return out

    def _class(self, i: IntArray, right: Array, j: IntArray | None) -> ClassInputs:
        offset = np.zeros((len(i), len(self.mixing) + 2))
        if self.mixing:
            k = self.n_variates
            for c, share in enumerate((0.0, *self.mixing)):
                rho = self.rho * np.sqrt(1 - share**2)
                offset[:, c] = normal_log_ratio(self.left[i, :k], right[:, :k], rho)
        elif j is not None:
            offset[:, 0] = self.base.log_ratio(i, j)
        return ClassInputs(Sample.of(self._inputs(i, right)), offset)


def _joined(draws: list[list[ClassInputs]]) -> list[ClassInputs]:
    """Several draws of every class but the first, which is always the same."""
    out = [draws[0][0]]
    for each in list(zip(*draws, strict=True))[1:]:
        out.append(
            ClassInputs(
                Sample.of(np.concatenate([rows.sample.rows for rows in each])),
                np.concatenate([rows.offset for rows in each]),
            )
        )
    return out
