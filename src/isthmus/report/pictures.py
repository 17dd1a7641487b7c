"""The pictures of the page, each drawn from a comparison and the rows it keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from .. import plots
from ..comparison import Comparison
from ..diagnostics import ColumnDifference
from ..diagnostics.chasm import others_of
from ..diagnostics.columns import column_blocks
from ..mdre import MDRE
from ..plots.style import symmetric_limit
from ..typing import Array, IntArray
from .drawing import Drawing
from .markup import Markup

_DOTS = 500
_GRID = 60
_ROWS = 2000
_FEW = 8
_SMALL, _LARGE = (3.5, 2.6), (4.3, 3.0)


class Pictures:
    """Draws for one comparison."""

    def __init__(self, comparison: Comparison, labels: tuple[str, str]) -> None:
        self.comparison, self.kept, self.labels = comparison, comparison.kept, labels
        self.weight_p = comparison.weight_p[self.kept.at_p]
        self.weight_q = comparison.weight_q[self.kept.at_q]
        self.figure = Drawing().figure
        self.blocks = dict(column_blocks(comparison))

    def ratio(self, ranked: list[str]) -> list[Markup]:
        """The ratio itself: over its rows, and along the columns that carry most of it."""
        return [one for one in (self._histogram(), self._view(ranked)) if one is not None]

    def checks(self) -> list[Markup]:
        """Pictures beside the checks."""
        c, found = self.comparison, self.comparison.diagnostics
        out = []

        def add(draw: Callable[..., object], title: str, caption: str) -> None:
            out.append(self.figure(draw, title, caption, _SMALL))

        if "accuracy" in found:
            add(
                partial(plots.class_accuracy, found["accuracy"].details),
                "Accuracy of the classes",
                "Each class against all others; m1, m2, … are the auxiliaries.",
            )
        mass = c.weight_p, c.weight_q
        log_odds = np.log(mass[0].sum() / mass[1].sum())
        chance = expit(np.concatenate([c.log_ratio_p, c.log_ratio_q]) + log_odds)
        is_p = np.repeat([True, False], [len(c.log_ratio_p), len(c.log_ratio_q)])
        add(
            partial(plots.calibration, chance, is_p, weight=np.concatenate(mass), level=c.level),
            "Calibration of the probability that a row is of p",
            "On the line, the probabilities that follow from the ratio are right.",
        )
        rows = {"p": _spaced(self.kept.p, _ROWS), "q": _spaced(self.kept.q, _ROWS)}
        add(
            partial(plots.lone_rows, others_of(c, rows)),
            "Probability of all other classes at the rows of each sample",
            "Below the line no class but their own has rows there.",
        )
        if np.isfinite(c.log_ratio_q.max()):
            add(
                partial(plots.weight_curve, c.log_ratio_q, weight=c.weight_q),
                "Share of the importance weight that the heaviest rows have",
                "How few rows of q stand for p when they are weighted.",
            )
            k = found["pareto"].value if "pareto" in found else None
            add(
                partial(plots.weight_tail, c.log_ratio_q, weight=c.weight_q, k=k),
                "Tail of the importance weights",
                "How heavy the tail of these weights is.",
            )
        if "agreement" in found:
            others = dict(found["agreement"].details)
            kl = others.pop("kl")
            if others and np.isfinite(kl):
                add(
                    partial(plots.family_agreement, kl, others),
                    "KL by families that fit as well",
                    "Families that held-out rows do not tell from the model.",
                )
        if "difference" in found:
            test = found["difference"]
            null, statistic = test.details["null"], test.details["statistic"]
            add(
                partial(plots.permutation_null, null, statistic, p_value=test.value),
                "Statistic of the two-sample test beside permutations",
                "Whether the samples differ at all: an exact test.",
            )
        return out

    def ranking(self, found: Sequence[ColumnDifference]) -> Markup:
        """Columns by how much each differs by itself."""
        draw = partial(
            plots.column_ranking,
            [one.name for one in found],
            [one.js.value for one in found],
            [one.js.std_error for one in found],
            level=self.comparison.level,
            what="Jensen–Shannon divergence, nats",
        )
        return self.figure(
            draw,
            "Columns by how much they differ",
            "How much each column differs by itself.",
            (4.1, 1.0 + 0.27 * len(found)),
        )

    def column(self, name: str, caption: str) -> Markup:
        """One column in both samples."""
        levels = self._levels(name)
        draw: Callable[..., Any]
        if levels is not None:
            size = (3.3, 0.8 + 0.34 * min(len(levels[0]), _FEW))
            draw = partial(plots.level_shares, *levels, most=_FEW)
        else:
            size, at = (3.3, 2.0), self.blocks[name].start
            draw = partial(
                plots.column_values,
                self.kept.p[:, at],
                self.kept.q[:, at],
                weight_p=self.weight_p,
                weight_q=self.weight_q,
            )
        draw = partial(draw, name=name, labels=None)
        return self.figure(draw, f"Column {name} in both samples", caption, size)

    def _histogram(self) -> Markup:
        c = self.comparison
        draw = partial(
            plots.log_ratio_histogram,
            *(c.log_ratio_p, c.log_ratio_q),
            weight_p=c.weight_p,
            weight_q=c.weight_q,
            labels=self.labels,
        )
        return self.figure(
            draw,
            "Log-ratio over the rows of each sample",
            "Log p/q at the rows of each sample, by models that did not see them.",
            _LARGE,
        )

    def _view(self, ranked: list[str]) -> Markup | None:
        """Along the only column; over the only two; or at rows, over the two first numbers."""
        numbers = [name for name in ranked if self._levels(name) is None]
        if len(self.blocks) == 1:
            return self._curve(numbers[0]) if numbers else None
        if len(numbers) < 2:
            return None
        if len(self.blocks) == 2:
            first, second = self.blocks
            return self._map((first, second))
        c, kept = self.comparison, self.kept
        names = (numbers[0], numbers[1])
        rows = np.concatenate([_spaced(kept.p, _DOTS), _spaced(kept.q, _DOTS)])
        x, y = rows[:, [self.blocks[name].start for name in names]].T
        ratio = np.concatenate(
            [
                c.log_ratio_p[_spaced(kept.at_p, _DOTS)],
                c.log_ratio_q[_spaced(kept.at_q, _DOTS)],
            ]
        )
        there = ~np.isnan(x + y)
        return self.figure(
            partial(plots.ratio_points, x[there], y[there], ratio[there], names=names),
            f"Rows in the columns {names[0]} and {names[1]}, coloured by log-ratio",
            "Rows of both samples in the two columns of numbers that carry most.",
            _LARGE,
        )

    def _curve(self, name: str) -> Markup:
        p, q = self.kept.p[:, 0], self.kept.q[:, 0]
        grid = _range(np.concatenate([p, q]), 240)
        curve = self.comparison.estimator.log_ratio(grid[:, None])
        band = self._band(grid[:, None], curve)
        draw = partial(
            plots.ratio_curve,
            *(p, q, grid, curve),
            band=band,
            weight_p=self.weight_p,
            weight_q=self.weight_q,
            name=name,
            labels=self.labels,
        )
        within = "" if band is None else f", with its {100 * self.comparison.level:g} % band"
        return self.figure(
            draw,
            "Log-ratio along the column, above the two samples",
            f"Log p/q along the column{within}, and where the two samples lie.",
            _LARGE,
        )

    def _band(self, points: Array, curve: Array) -> tuple[Array, Array] | None:
        """Interval about the log-ratio, where it takes no further fits."""
        c = self.comparison
        if not (isinstance(c.estimator, MDRE) and c.estimator.model_.has_influence):
            return None
        half = float(ndtri(0.5 + 0.5 * c.level)) * c.log_ratio(points, return_std=True)[1]
        return curve - half, curve + half

    def _map(self, names: tuple[str, str]) -> Markup:
        c, kept = self.comparison, self.kept
        pooled = np.concatenate([kept.p, kept.q])
        x, y = _range(pooled[:, 0], _GRID), _range(pooled[:, 1], _GRID)
        points = np.column_stack([np.tile(x, _GRID), np.repeat(y, _GRID)])
        draw = partial(
            plots.ratio_map,
            *(x, y, c.estimator.log_ratio(points).reshape(_GRID, _GRID)),
            # Far from all rows the ratio may be enormous; the colours are for where they are.
            limit=symmetric_limit(np.concatenate([c.log_ratio_p, c.log_ratio_q])),
            rows_p=_spaced(kept.p, _DOTS // 2),
            rows_q=_spaced(kept.q, _DOTS // 2),
            names=names,
            labels=self.labels,
        )
        return self.figure(
            draw,
            f"Map of the log-ratio over {names[0]} and {names[1]}",
            "Log p/q over both columns; on the black line it is zero.",
            _LARGE,
        )

    def _levels(self, name: str) -> tuple[list[str], Array, Array] | None:
        """Levels of a column and their shares in both samples, or None for numbers."""
        block, encoder = self.blocks[name], self.comparison.encoder
        p, q = self.kept.p[:, block], self.kept.q[:, block]
        plans = {} if encoder is None else {plan.name: plan for plan in encoder.plans}
        if name in plans and plans[name].kind == "category":
            names = plans[name].level_names
        else:
            found = np.unique(np.concatenate([p[:, 0], q[:, 0]]))
            if len(found) > _FEW or p.shape[1] > 1:
                return None
            names = [f"{value:g}" for value in found]
            p, q = (np.equal.outer(side[:, 0], found).astype(float) for side in (p, q))
        return (
            names,
            np.average(p, axis=0, weights=self.weight_p),
            np.average(q, axis=0, weights=self.weight_q),
        )


def _range(values: Array, count: int) -> Array:
    """Points over the range of a column, but for a few outliers, and somewhat beyond."""
    low, high = np.nanquantile(values, [0.002, 0.998])
    margin = 0.12 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, count)


def _spaced(values: Any, most: int) -> Any:
    """At most so many of the values, evenly spaced."""
    places: IntArray = np.unique(np.linspace(0, len(values) - 1, most).astype(np.intp))
    return values[places]
