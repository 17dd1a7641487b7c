"""The pictures of the page, each drawn from a comparison and the rows it keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from .. import plots
from ..data.kept import KeptRows
from ..diagnostics.chasm import others_of
from ..diagnostics.columns import column_blocks
from ..mdre import MDRE
from ..plots.style import symmetric_limit
from ..typing import Array, IntArray
from .drawing import Drawing
from .markup import Markup
from .sections import figure

_DOTS = 500
_GRID = 60
_ROWS = 2000
_FEW = 8
_SMALL = (3.5, 2.6)


class Pictures:
    """Draws for one comparison.

    Parameters
    ----------
    comparison : Comparison
    kept : KeptRows
        Its rows.
    labels : pair of str
    """

    def __init__(self, comparison: Any, kept: KeptRows, labels: tuple[str, str]) -> None:
        self.comparison, self.kept, self.labels = comparison, kept, labels
        self.drawing = Drawing()
        self.blocks = dict(column_blocks(comparison))

    def ratio(self, ranked: list[str]) -> list[Markup]:
        """The ratio itself: over its rows, and along the columns that carry most of it."""
        return [one for one in (self._histogram(), self._view(ranked)) if one is not None]

    def checks(self) -> list[Markup]:
        """Pictures beside the checks."""
        c = self.comparison
        out = []
        if "accuracy" in c.diagnostics:
            accuracy = c.diagnostics["accuracy"].details
            svg = self.drawing.svg(
                lambda ax: plots.class_accuracy(accuracy, ax=ax), "Accuracy of the classes", _SMALL,
            )  # fmt: skip
            out.append(figure(svg, "Each class against all others; m1, m2, … are the auxiliaries."))
        out.append(self._calibration())
        out += [self._lone(), *self._weights()]
        if "agreement" in c.diagnostics:
            told = dict(c.diagnostics["agreement"].details)
            kl = told.pop("kl")
            if told and np.isfinite(kl):
                svg = self.drawing.svg(
                    lambda ax: plots.family_agreement(kl, told, ax=ax),
                    "KL by families that fit as well", _SMALL,
                )  # fmt: skip
                out.append(figure(svg, "Families that held-out rows do not tell from the model."))
        if "difference" in c.diagnostics:
            check = c.diagnostics["difference"]
            svg = self.drawing.svg(
                lambda ax: plots.permutation_null(
                    check.details["null"], check.details["statistic"], p_value=check.value, ax=ax
                ),
                "Statistic of the two-sample test beside permutations",
                _SMALL,
            )
            out.append(figure(svg, "Whether the samples differ at all: an exact test."))
        return out

    def _lone(self) -> Markup:
        kept = self.kept
        rows = {
            "p": kept.p[_spaced(len(kept.p), _ROWS)], "q": kept.q[_spaced(len(kept.q), _ROWS)]
        }  # fmt: skip
        others = others_of(self.comparison, rows)
        svg = self.drawing.svg(
            lambda ax: plots.lone_rows(others, ax=ax),
            "Probability of all other classes at the rows of each sample",
            _SMALL,
        )
        return figure(svg, "Below the line no class but their own has rows there.")

    def _weights(self) -> list[Markup]:
        c = self.comparison
        top = c.log_ratio_q.max()
        if not np.isfinite(top):
            return []
        curve = self.drawing.svg(
            lambda ax: plots.weight_curve(c.log_ratio_q, weight=c.weight_q, ax=ax),
            "Share of the importance weight that the heaviest rows have",
            _SMALL,
        )
        k = c.diagnostics["pareto"].value if "pareto" in c.diagnostics else None
        tail = self.drawing.svg(
            lambda ax: plots.weight_tail(c.log_ratio_q, weight=c.weight_q, k=k, ax=ax),
            "Tail of the importance weights",
            _SMALL,
        )
        return [
            figure(curve, "How few rows of q stand for p when they are weighted."),
            figure(tail, "How heavy the tail of these weights is."),
        ]

    def ranking(self, shifts: list[Any]) -> Markup:
        """Columns, ranked."""
        height = 1.0 + 0.27 * len(shifts)
        svg = self.drawing.svg(
            lambda ax: plots.column_ranking(
                [s.name for s in shifts], [s.value for s in shifts], [s.std_error for s in shifts],
                level=self.comparison.level, what="nats lost without the column", ax=ax,
            ),
            "Columns by how much of the difference they carry",
            (4.1, height),
        )  # fmt: skip
        return figure(svg, "What the ratio loses when the column's values are permuted.")

    def column(self, name: str, caption: str) -> Markup:
        """One column in both samples."""
        block = self.blocks[name]
        values = self.kept.p[:, block], self.kept.q[:, block]
        levels = self._levels(name, values)
        if levels is not None:
            size = (3.3, 0.8 + 0.34 * min(len(levels[0]), _FEW))

            def draw(ax: Any) -> object:
                return plots.level_shares(*levels, name=name, labels=None, most=_FEW, ax=ax)
        else:
            size = (3.3, 2.0)

            def draw(ax: Any) -> object:
                return plots.column_values(
                    values[0][:, 0], values[1][:, 0],
                    weight_p=self._weight("p"), weight_q=self._weight("q"),
                    name=name, labels=None, ax=ax,
                )  # fmt: skip

        return figure(self.drawing.svg(draw, f"Column {name} in both samples", size), caption)

    def _histogram(self) -> Markup:
        c = self.comparison
        svg = self.drawing.svg(
            lambda ax: plots.log_ratio_histogram(
                c.log_ratio_p, c.log_ratio_q, weight_p=c.weight_p, weight_q=c.weight_q,
                labels=self.labels, ax=ax,
            ),
            "Log-ratio over the rows of each sample",
        )  # fmt: skip
        return figure(svg, "Log p/q at the rows of each sample, by models that did not see them.")

    def _calibration(self) -> Markup:
        c = self.comparison
        sides = (c.log_ratio_p, c.weight_p), (c.log_ratio_q, c.weight_q)
        mass = [np.ones(len(ratio)) if weight is None else weight for ratio, weight in sides]
        log_odds = np.log(mass[0].sum() / mass[1].sum())
        chance = expit(np.concatenate([c.log_ratio_p, c.log_ratio_q]) + log_odds)
        is_p = np.repeat([True, False], [len(c.log_ratio_p), len(c.log_ratio_q)])
        svg = self.drawing.svg(
            lambda ax: plots.calibration(
                chance, is_p, weight=np.concatenate(mass), level=c.level, ax=ax
            ),
            "Calibration of the probability that a row is of p",
            _SMALL,
        )
        return figure(svg, "On the line, the probabilities that follow from the ratio are right.")

    def _view(self, ranked: list[str]) -> Markup | None:
        """Along the only column; over the only two; or at rows, over the two first numbers."""
        numbers = [name for name in ranked if self._levels(name) is None]
        if len(self.blocks) == 1:
            return self._curve(numbers[0]) if numbers else None
        if len(numbers) < 2:
            return None
        if len(self.blocks) == 2:
            return self._map(list(self.blocks))
        at_p, at_q = _spaced(len(self.kept.p), _DOTS), _spaced(len(self.kept.q), _DOTS)
        places = [self.blocks[name].start for name in numbers[:2]]
        x, y = np.concatenate([self.kept.p[at_p], self.kept.q[at_q]])[:, places].T
        c = self.comparison
        ratio = np.concatenate(
            [c.log_ratio_p[self.kept.at_p[at_p]], c.log_ratio_q[self.kept.at_q[at_q]]]
        )
        there = ~np.isnan(x + y)
        svg = self.drawing.svg(
            lambda ax: plots.ratio_points(
                x[there], y[there], ratio[there], names=(numbers[0], numbers[1]), ax=ax
            ),
            f"Rows in the columns {numbers[0]} and {numbers[1]}, coloured by log-ratio",
        )
        return figure(svg, "Rows of both samples in the two columns of numbers that carry most.")

    def _curve(self, name: str) -> Markup:
        p, q = self.kept.p[:, 0], self.kept.q[:, 0]
        grid = _range(np.concatenate([p, q]), 240)
        curve = self.comparison.estimator.log_ratio(grid[:, None])
        band = self._band(grid[:, None], curve)
        svg = self.drawing.svg(
            lambda ax: plots.ratio_curve(
                p, q, grid, curve, band=band,
                weight_p=self._weight("p"), weight_q=self._weight("q"),
                name=name, labels=self.labels, ax=ax,
            ),
            "Log-ratio along the column, above the two samples",
        )  # fmt: skip
        within = "" if band is None else f", with its {100 * self.comparison.level:g} % band"
        return figure(svg, f"Log p/q along the column{within}, and where the two samples lie.")

    def _band(self, points: Array, curve: Array) -> tuple[Array, Array] | None:
        """Interval about the log-ratio, where it takes no further fits."""
        c = self.comparison
        if not (isinstance(c.estimator, MDRE) and c.estimator.model_.has_influence):
            return None
        half = float(ndtri(0.5 + 0.5 * c.level)) * c.log_ratio(points, return_std=True)[1]
        return curve - half, curve + half

    def _map(self, names: list[str]) -> Markup:
        dots = [self.kept.p[_spaced(len(self.kept.p), _DOTS // 2)],
                self.kept.q[_spaced(len(self.kept.q), _DOTS // 2)]]  # fmt: skip
        pooled = np.concatenate([self.kept.p, self.kept.q])
        x, y = _range(pooled[:, 0], _GRID), _range(pooled[:, 1], _GRID)
        points = np.column_stack([np.tile(x, _GRID), np.repeat(y, _GRID)])
        ratio = self.comparison.estimator.log_ratio(points).reshape(_GRID, _GRID)
        # Far from all rows the ratio may be enormous; the colours are for where they are.
        limit = symmetric_limit(
            np.concatenate([self.comparison.log_ratio_p, self.comparison.log_ratio_q])
        )
        svg = self.drawing.svg(
            lambda ax: plots.ratio_map(
                x, y, ratio, limit=limit, rows_p=dots[0], rows_q=dots[1],
                names=(names[0], names[1]), labels=self.labels, ax=ax,
            ),
            f"Map of the log-ratio over {names[0]} and {names[1]}",
        )  # fmt: skip
        return figure(svg, "Log p/q over both columns; on the black line it is zero.")

    def _levels(
        self, name: str, values: tuple[Array, Array] | None = None
    ) -> tuple[list[str], Array, Array] | None:
        """Levels of a column and their shares in both samples, or None for numbers."""
        block = self.blocks[name]
        p, q = values or (self.kept.p[:, block], self.kept.q[:, block])
        encoder = self.comparison.encoder
        plan = next((one for one in encoder._plans if one.name == name), None) if encoder else None
        if plan is not None and plan.kind == "category":
            names = [*plan.levels, *(["missing"] if plan.indicator else [])]
        else:
            found = np.unique(np.concatenate([p[:, 0], q[:, 0]]))
            if len(found) > _FEW or p.shape[1] > 1:
                return None
            names = [f"{value:g}" for value in found]
            p, q = np.equal.outer(p[:, 0], found), np.equal.outer(q[:, 0], found)
        shares = [
            np.average(side, axis=0, weights=self._weight(which))
            for side, which in ((p, "p"), (q, "q"))
        ]
        return names, shares[0], shares[1]

    def _weight(self, side: str) -> Array | None:
        c, kept = self.comparison, self.kept
        weight, at = (c.weight_p, kept.at_p) if side == "p" else (c.weight_q, kept.at_q)
        return None if weight is None else weight[at]


def _range(values: Array, count: int) -> Array:
    """Points over the range of a column, but for a few outliers, and somewhat beyond."""
    low, high = np.nanquantile(values, [0.002, 0.998])
    margin = 0.12 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, count)


def _spaced(n: int, most: int) -> IntArray:
    return np.unique(np.linspace(0, n - 1, most).astype(np.intp))
