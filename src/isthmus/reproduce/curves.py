"""Log-ratios of Table 1's problems over wide intervals, by all methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import draw
from .kl import short
from .methods import METHODS, make
from .record import Fields
from .results import averaged, distinct, few, mean, number, rms, select
from .runner import Experiment
from .samples import Samples, full_rows, pair
from .show import Table

_NEAR = ("table1/row1", "table1/row2")
_FAR = "table1/row3"
# Intervals: the paper's for the first two; for the third, three standard deviations
# beyond the means, and as much again on either side.
_SPANS = {"table1/row1": 12.0, "table1/row2": 12.0, _FAR: 26.0}
_IN_DOMAIN = 13.0
_POINTS, _FRESH = 209, 10_000
_PAPERS = ("bdre", "tre", "fdre", "paper", "paper-newton", "free", "default")
_OTHERS = ("plug-in", "dre-infinity", "nce", "nnbd", "kliep", "ulsif", "rulsif", "kmm")
_STEPS = 60


class Curves(Experiment):
    """The figure of Section 4.1 and that of Appendix C."""

    name = "curves"
    title = "Log-ratio curves of Table 1's problems, in and beyond the samples"
    about = (
        "log p/q over (−12, 12) for N(−1, 0.08) against N(2, 0.15) and for N(−2, 0.08) against "
        "N(2, 0.15), as in the paper's Section 4.1; and for N(−10, 1) against N(10, 1) over "
        "(−13, 13), within three standard deviations of the means, and over the expanded "
        "(−26, 26), as in its Appendix C (which does not print its intervals). Lines are means "
        "over seeds, bands one standard deviation of the estimates over seeds."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """Every method that applies and is installed, on every problem."""
        out = []
        for name in (_NEAR[0], _FAR) if quick else (*_NEAR, _FAR):
            for method in (*_PAPERS, *_OTHERS):
                how = METHODS[method]
                if not how.installed:
                    continue
                cell: Fields = {"problem": name, "method": method}
                cell |= {"rows": 1_000, "steps": _STEPS} if quick else {"rows": full_rows(1)}
                out += [{**cell, "seed": seed} for seed in range(1 if quick else seeds)]
        return out

    def run(self, cell: Fields) -> Fields:
        """The curve, and errors over the whole interval and over its inner half."""
        samples = Samples.of(cell["problem"], cell)
        problem = samples.problem
        model = make(cell, problem).fit(*samples.stacked)
        x = grid(cell["problem"])[:, None]
        curve = model.log_ratio(x)
        error = curve - problem.log_ratio(x)
        inside = np.abs(x[:, 0]) <= _IN_DOMAIN
        return {
            "kl": model.log_ratio(problem.sample_p(_FRESH, samples.rng)).mean(),
            "log_ratio": few(curve),
            "rms": rms(error),
            "rms_inside": rms(error[inside]),
            "largest": np.abs(error).max(),
        }

    def tables(self, results: list[Fields]) -> list[Table]:
        problems = distinct(results, "problem")
        intervals = [("rms", name, _SPANS[name]) for name in problems]
        if _FAR in problems:
            intervals.insert(problems.index(_FAR), ("rms_inside", _FAR, _IN_DOMAIN))
        rows, kls = [], [["truth", *(number(pair(name).kl) for name in problems)]]
        for method in _methods(results):
            mine, label = select(results, method=method), METHODS[method].label
            errors = (averaged(select(mine, problem=n), field) for field, n, _ in intervals)
            rows.append([label, *errors])
            kls.append([label, *(averaged(select(mine, problem=n), "kl") for n in problems)])
        size = max(each["rows"] for each in results)
        columns = [f"{short(name)}, (−{reach:g}, {reach:g})" for _, name, reach in intervals]
        return [
            Table(
                f"RMSE of log p/q over the interval, from {size:,} rows of each sample",
                ["nats", *columns],
                rows,
                ["Over an even grid, far beyond all rows of p and q."],
            ),
            Table("KL(p‖q)", ["nats", *map(short, problems)], kls),
        ]

    def figures(self, results: list[Fields]) -> draw.Figures:
        out = {}
        near = [name for name in _NEAR if select(results, problem=name)]
        for name, methods in (("curves", _PAPERS), ("curves-others", _OTHERS)):
            shown = [m for m in methods if select(results, method=m)]
            if near and shown:
                out[name] = _near_figure(results, near, shown)
        shown = [m for m in _PAPERS if select(results, problem=_FAR, method=m)]
        if shown:
            out["curves-far"] = _far_figure(results, shown)
        return out

    def remarks(self, results: list[Fields]) -> list[str]:
        out = []
        for name in distinct(results, "problem"):
            mine = select(results, problem=name)
            means = {m: mean(select(mine, method=m), "rms") for m in _methods(mine)}
            ranked = sorted(means, key=lambda m: means[m])
            told = ", ".join(f"{METHODS[m].label} {number(means[m])}" for m in ranked)
            size = rms(pair(name).log_ratio(grid(name)[:, None]))
            out.append(
                f"{short(name)}: RMSE over the interval, where log p/q itself has a root mean "
                f"square of {number(size)}: {told}."
            )
        out.append(
            "p and q are normal, so log p/q is quadratic, and whatever fits two normals or a "
            "quadratic critic to convergence is right far beyond the rows; kernels and networks "
            "know nothing there."
        )
        return out


def grid(problem: str) -> np.ndarray:
    """Points of the interval of a problem, shape (points,)."""
    span = _SPANS[problem]
    return np.linspace(-span, span, _POINTS)


def _methods(results: list[Fields]) -> list[str]:
    there = distinct(results, "method")
    return [m for m in (*_PAPERS, *_OTHERS) if m in there]


def _curve(axes: Any, results: list[Fields], problem: str, method: str) -> np.ndarray | None:
    """Draw the mean over seeds and its band; give back every seed's curve."""
    mine = select(results, problem=problem, method=method)
    if not mine:
        return None
    curves = np.array([each["log_ratio"] for each in mine], dtype=float)
    x, middle, color = grid(problem), curves.mean(axis=0), draw.look(method).color
    if len(curves) > 1:
        low, high = (middle + sign * curves.std(axis=0, ddof=1) for sign in (-1, 1))
        axes.fill_between(x, low, high, color=color, alpha=0.25, linewidth=0)
    draw.line(axes, x, middle, method, linewidth=1.8)
    return curves


def _truth(axes: Any, problem: str, reach: float | None = None) -> None:
    x = grid(problem)
    truth = pair(problem).log_ratio(x[:, None])
    axes.plot(x, truth, color=draw.TRUTH, linewidth=6)
    seen = truth if reach is None else truth[np.abs(x) <= reach]
    room = 0.12 * float(np.ptp(seen))
    axes.set_ylim(float(seen.min()) - room, float(seen.max()) + room)
    axes.set_xlim(-(reach or x[-1]), reach or x[-1])
    axes.set_ylabel("log p/q, nats")
    _mark_samples(axes, problem)


def _mark_samples(axes: Any, problem: str) -> None:
    """Shade where p and q have rows."""
    normals: Any = pair(problem)
    for name, each in (("p", normals.p), ("q", normals.q)):
        middle, sd = float(each.loc[0]), float(np.exp(0.5 * each.scatter.log_det))
        color, bottom = draw.class_color(name), axes.get_xaxis_transform()
        axes.axvspan(middle - 3 * sd, middle + 3 * sd, color=color, alpha=0.22, linewidth=0)
        axes.annotate(
            name, (middle, 0.02), xycoords=bottom, ha="center", color=color, weight="bold"
        )


def _near_figure(results: list[Fields], problems: list[str], methods: list[str]) -> draw.Figure:
    figure, axes = draw.panels(len(problems), 2, height=2.6)
    draw.method_legend(figure, methods)
    for (left, right), problem in zip(axes, problems, strict=True):
        _truth(left, problem)
        truth = pair(problem).log_ratio(grid(problem)[:, None])
        for method in methods:
            values = _curve(left, results, problem, method)
            if values is not None:
                error = np.maximum(np.sqrt(np.mean((values - truth) ** 2, axis=0)), 1e-3)
                draw.line(right, grid(problem), error, method, linewidth=1.8)
        right.set_yscale("log")
        _mark_samples(right, problem)
        right.set_ylabel("error, nats")
        draw.heading(left, _in_words(problem))
        draw.heading(right, "Root mean square error")
    for panel in axes[-1]:
        panel.set_xlabel("x")
    return figure


def _far_figure(results: list[Fields], methods: list[str]) -> draw.Figure:
    figure, axes = draw.panels(1, 2, height=3.2)
    draw.method_legend(figure, methods)
    reaches = (_IN_DOMAIN, _in_words(_FAR)), (_SPANS[_FAR], "Expanded domain")
    for panel, (reach, title) in zip(axes.flat, reaches, strict=True):
        _truth(panel, _FAR, reach)
        for method in methods:
            _curve(panel, results, _FAR, method)
        draw.heading(panel, title)
        panel.set_xlabel("x")
    return figure


def _in_words(problem: str) -> str:
    return pair(problem).description.split(": ", 1)[1].rstrip(".").replace("-", "−")
