"""Appendix A: the error falls as there are more rows, and at which rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import MDRE, stack
from ..auxiliaries import Cauchy, Normal
from ..problems import Gaussian
from . import draw
from .record import Fields
from .results import distinct, number, select
from .runner import Experiment
from .show import Table

_SIZES = (250, 1_000, 4_000, 16_000, 64_000)
_FRESH, _SEEDS = 10_000, 10
# Means and standard deviations of p, q and of what a quadratic critic has to learn beside them.
_P, _Q = Gaussian(0.0, 1.0), Gaussian(1.5, 0.7)
_AUXILIARIES: dict[str, Any] = {"normal": Normal(), "cauchy": Cauchy()}
_WORDS = {
    "normal": "a normal auxiliary: the model holds the truth",
    "cauchy": "a Cauchy auxiliary learned as a quadratic: it does not",
}
_COLORS = {"normal": draw.class_color("p"), "cauchy": draw.class_color("q")}


class Consistency(Experiment):
    """Root mean square error of log p/q by number of rows."""

    name = "consistency"
    title = "Appendix A: the error of log p/q as the number of rows grows"
    about = (
        "The paper proves that the estimate of log p/q converges to the truth if the classifier's "
        "family holds the true conditional distribution of the classes. p = N(0, 1) and "
        "q = N(1.5, 0.7) with quadratic critics of all classes, without anchors or penalty, and "
        "two auxiliaries: a normal distribution, whose log-density is quadratic as well, so that "
        "the condition holds, and a Cauchy distribution, whose log-density is not. Where the "
        "condition holds the error should fall as one over the square root of the number of rows: "
        "a slope of −1/2 on logarithmic axes."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """Auxiliaries and sizes, with more seeds than elsewhere: each takes little."""
        sizes, draws = (_SIZES[:3], 3) if quick else (_SIZES, max(seeds, _SEEDS))
        return [
            {"auxiliary": name, "rows": rows, "seed": seed}
            for name in _AUXILIARIES
            for rows in sizes
            for seed in range(draws)
        ]

    def run(self, cell: Fields) -> Fields:
        """The error over fresh rows of p and q."""
        rng = np.random.default_rng([cell["rows"], cell["seed"]])
        p, q = (one.sample(cell["rows"], rng) for one in (_P, _Q))
        settings: Fields = {"critic": "quadratic", "anchor": None, "maps": None, "l2": 0.0}
        model = MDRE(
            _AUXILIARIES[cell["auxiliary"]],
            **settings,
            known_density=False,
            random_state=cell["seed"],
        ).fit(*stack(p, q))
        fresh = np.concatenate([one.sample(_FRESH, rng) for one in (_P, _Q)])
        error = model.log_ratio(fresh) - (_P.log_density(fresh) - _Q.log_density(fresh))
        return {"mean_square": float(np.mean(error**2))}

    def tables(self, results: list[Fields]) -> list[Table]:
        sizes = distinct(results, "rows")
        rows = [
            [_WORDS[name], *(number(root(results, name, size)) for size in sizes), told]
            for name, told in ((n, _slope_told(results, n)) for n in distinct(results, "auxiliary"))
        ]
        columns = ["RMSE of log p/q, nats", *(f"{size:,} rows" for size in sizes), "slope"]
        note = (
            "Rows of each sample. The slope is that of the logarithm of the error in the logarithm "
            "of the rows, with its standard error over the draws."
        )
        return [Table("Error by number of rows", columns, rows, [note])]

    def figures(self, results: list[Fields]) -> draw.Figures:
        figure, axes = draw.panels(1, 1, height=2.8)
        panel = axes.flat[0]
        sizes = distinct(results, "rows")
        names = distinct(results, "auxiliary")
        draw.legend(figure, {f"{name} auxiliary": _COLORS[name] for name in names})
        for name in names:
            numbers = [root(results, name, size) for size in sizes]
            panel.plot(sizes, numbers, "o-", color=_COLORS[name], markersize=4)
        first = root(results, names[0], sizes[0])
        panel.plot(
            sizes, [first * (sizes[0] / size) ** 0.5 for size in sizes], "--", color=draw.TRUTH
        )
        panel.set(xscale="log", yscale="log", xlabel="rows of each sample", ylabel="nats")
        draw.heading(panel, "RMSE of log p/q", [("– – one over the square root", "#888888")])
        return {self.name: figure}

    def remarks(self, results: list[Fields]) -> list[str]:
        slopes = {name: slope(results, name) for name in distinct(results, "auxiliary")}
        out = [
            f"With {_WORDS[name]}, and the slope is {value:.2f} ± {error:.2f}."
            for name, (value, error) in slopes.items()
        ]
        last = max(distinct(results, "rows"))
        floors = [root(results, name, last) for name in slopes]
        if len(floors) > 1:
            out.append(
                f"At {last:,} rows the errors are {floors[0]:.3f} and {floors[1]:.3f}: where the "
                "family does not hold the truth, rows alone do not help."
            )
        return out


def root(results: list[Fields], name: str, size: int) -> float:
    """Root of the mean over the draws of the mean square error."""
    mine = select(results, auxiliary=name, rows=size)
    return float(np.sqrt(np.mean([each["mean_square"] for each in mine])))


def slope(results: list[Fields], name: str) -> tuple[float, float]:
    """Slope of log error in log rows over all draws, and its standard error."""
    mine = select(results, auxiliary=name)
    x = np.log([each["rows"] for each in mine])
    y = 0.5 * np.log([each["mean_square"] for each in mine])
    x -= x.mean()
    value = float(x @ y / (x @ x))
    rest = y - y.mean() - value * x
    return value, float(np.sqrt(rest @ rest / (len(x) - 2) / (x @ x)))


def _slope_told(results: list[Fields], name: str) -> str:
    value, error = slope(results, name)
    return f"{value:.2f} ± {error:.2f}"
