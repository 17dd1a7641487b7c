"""A network on what a closed form leaves over, trained by multinomial regression.

Classes are the joint distribution p, the product of margins q, and auxiliaries between them
that mix the y of a row with the y of another, ::

    y_a = sqrt(1 - a²) y_i + a y_j    (Srivastava et al. 2023, linear mixing).

Where p is a normal copula with correlations rho, so is the auxiliary, with sqrt(1 - a²) rho:
every class starts at its own closed form, and the network learns the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ..data.holdout import split_rows
from ..data.sample import Sample
from ..data.seeds import Seeds
from ..neural import ClassInputs, Training, fit_residual, mlp, require_torch, seeded
from ..typing import Array, IntArray
from .copulas import normal_log_ratio
from .evaluation import LACKING, PairRatio
from .marginal import canonical

# Leading coordinates of x and of y that the network sees.
_LEADING = 8
_HELD_OUT, _SHUFFLES = 0.15, 4


@dataclass(eq=False)
class ResidualRatio(PairRatio):
    """A closed form and a network that corrects it.

    If the closed form has variates, normal ones with their correlations, there are auxiliaries
    with the shares ``mixing``; else the network tells joint from shuffled pairs alone.
    """

    base: PairRatio
    x: Array
    y: Array
    seeds: Seeds
    mixing: tuple[float, ...] = (0.5, 0.85)
    width: int = 64
    depth: int = 2
    steps: int = 1000
    batch_size: int = 256
    lr: float = 3e-3
    weight_decay: float = 1e-3
    name = "network"
    flexible = True
    lacks = LACKING

    def __post_init__(self) -> None:
        require_torch("residual=True")
        self.mixing = self.mixing if self.base.has_variates else ()
        self._fits = 0

    def fit(self, rows: IntArray) -> Self:
        self._fits += 1
        rng = self.seeds(f"network {self._fits}")
        self.base.fit(rows)
        self._set_coordinates(rows)
        split = split_rows(len(rows), rng, _HELD_OUT, most=len(rows))
        held, fitted = rows[split.held], rows[split.train]
        n_classes = len(self.mixing) + 2
        n_inputs = self._inputs(rows[:1], self.right[rows[:1]]).shape[1]
        with seeded(rng):
            module = mlp(n_inputs, n_classes, width=self.width, depth=self.depth)

        def fresh(epoch: int) -> dict[int, ClassInputs]:
            drawn = self._classes(fitted, self.seeds(f"epoch {self._fits} {epoch}"))
            return {c: drawn[c] for c in range(1, n_classes)}

        how = Training(
            steps=self.steps,
            lr=self.lr,
            weight_decay=self.weight_decay,
            every=max(self.steps // 20, 1),
            patience=6,
            start=True,
        )
        self.network = fit_residual(
            module,
            self._classes(fitted, rng),
            _joined([self._classes(held, rng) for _ in range(_SHUFFLES)]),
            batch_size=self.batch_size,
            settings=how,
            rng=rng,
            fresh=fresh,
        )
        return self

    def log_ratio(self, i: IntArray, j: IntArray) -> Array:
        h = self.network.values(self._inputs(i, self.right[j]))
        return np.asarray(self.base.log_ratio(i, j) + h[:, 0] - h[:, -1])

    def _set_coordinates(self, rows: IntArray) -> None:
        """Coordinates of x and of y: variates of the closed form, then canonical ones."""
        own: list[list[Array]] = [[], []]
        self.rho = np.zeros(0)
        if self.base.has_variates:
            a, b, self.rho = self.base.variates()
            own = [[a], [b]]
        sides = []
        for variates, z in zip(own, canonical(self.x, self.y, rows)[:2], strict=True):
            radius = np.log((z * z).sum(axis=1) + 1e-12)
            radius = (radius - radius.mean()) / max(float(radius.std()), 1e-12)
            sides.append(np.hstack([*variates, z[:, :_LEADING], radius[:, None]]))
        self.left, self.right = sides

    def _inputs(self, i: IntArray, right: Array) -> Array:
        """What the network sees: not all variates, where there are many."""
        k = len(self.rho)
        both = (self.left[i], right)
        return np.hstack([part for z in both for part in (z[:, : min(k, _LEADING)], z[:, k:])])

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
            k = len(self.rho)
            for c, share in enumerate((0.0, *self.mixing)):
                rho = self.rho * np.sqrt(1 - share**2)
                offset[:, c] = normal_log_ratio(self.left[i, :k], right[:, :k], rho)
        elif j is not None:
            offset[:, 0] = self.base.log_ratio(i, j)
        return ClassInputs(Sample.of(self._inputs(i, right)), offset)


def _joined(draws: list[list[ClassInputs]]) -> list[ClassInputs]:
    """Several draws of every class but the first, which is always the same."""
    joined = [
        ClassInputs(
            Sample.of(np.concatenate([rows.sample.rows for rows in each])),
            np.concatenate([rows.offset for rows in each]),
        )
        for each in list(zip(*draws, strict=True))[1:]
    ]
    return [draws[0][0], *joined]
