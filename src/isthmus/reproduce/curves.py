"""Log-ratios of Table 1's problems over wide intervals, by all methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw as _draw
from .kl import load, mean_and_spread, number, short
from .methods import METHODS
from .record import Found
from .runner import Experiment
from .show import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEAR = ("table1/row1", "table1/row2")
_FAR = "table1/row3"
# Intervals: the paper's for the first two; for the third, three standard deviations
# beyond the means, and as much again on either side.
_SPANS = {"table1/row1": 12.0, "table1/row2": 12.0, _FAR: 26.0}
_IN_DOMAIN = 13.0
_POINTS, _FRESH = 209, 10_000
_PAPERS = ("bdre", "tre", "fdre", "paper", "default")
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

    def cells(self, quick: bool, seeds: int) -> list[Found]:
        """Every method that applies and is installed, on every problem."""
        out = []
        for name in (_NEAR[0], _FAR) if quick else (*_NEAR, _FAR):
            for method in (*_PAPERS, *_OTHERS):
                how = METHODS.get(method)
                if how is None or not how.installed:
                    continue
                cell: Found = {"problem": name, "method": method}
                cell |= {"rows": 1_000, "steps": _STEPS} if quick else {"rows": how.rows(1, 33_333)}
                out += [{**cell, "seed": seed} for seed in range(seeds)]
        return out

    def run(self, cell: Found) -> Found:
        """The curve, and errors over the whole interval and over its inner half."""
        from .. import stack

        problem, seed = load(cell["problem"]), cell["seed"]
        model = METHODS[cell["method"]].make(problem, cell["rows"], seed)
        if cell.get("steps") and "steps" in model.get_params(deep=False):
            model.set_params(steps=cell["steps"])
        model.fit(
            *stack(problem.sample_p(cell["rows"], seed), problem.sample_q(cell["rows"], seed))
        )
        x = grid(cell["problem"])[:, None]
        values = model.log_ratio(x)
        error = values - problem.log_ratio(x)
        inside = np.abs(x[:, 0]) <= _IN_DOMAIN
        fresh = problem.sample_p(_FRESH, np.random.default_rng([seed, 1]))
        return {
            "kl": model.log_ratio(fresh).mean(),
            "log_ratio": _draw.few(values),
            "rms": _draw.rms(error),
            "rms_inside": _draw.rms(error[inside]),
            "largest": np.abs(error).max(),
        }

    def tables(self, results: list[Found]) -> list[Table]:
        """Errors over the intervals, and KLs."""
        problems = list(dict.fromkeys(each["problem"] for each in results))
        columns, errors = [], {}
        for name in problems:
            if name == _FAR:
                columns += [f"{short(name)}, (−13, 13)", f"{short(name)}, (−26, 26)"]
                keys = ["rms_inside", "rms"]
            else:
                columns, keys = [*columns, f"{short(name)}, (−12, 12)"], ["rms"]
            errors[name] = keys
        rows, kls = [], [["truth", *(number(load(name).kl) for name in problems)]]
        for method in _methods(results):
            mine = {
                n: [e for e in results if (e["problem"], e["method"]) == (n, method)]
                for n in problems
            }
            rows.append(
                [
                    METHODS[method].label,
                    *(
                        mean_and_spread(_values(mine[n], key))
                        for n in problems
                        for key in errors[n]
                    ),
                ]
            )
            kls.append(
                [
                    METHODS[method].label,
                    *(mean_and_spread(_values(mine[n], "kl")) for n in problems),
                ]
            )
        size = max(each["rows"] for each in results)
        return [
            Table(
                f"RMSE of log p/q over the interval, from {size:,} rows of each sample",
                ["nats", *columns],
                rows,
                ["Over an even grid, far beyond all rows of p and q."],
            ),
            Table("KL(p‖q)", ["nats", *map(short, problems)], kls),
        ]

    def figures(self, results: list[Found]) -> dict[str, Figure]:
        """The paper's methods, the others, and the pair that is furthest apart."""
        out = {}
        near = [n for n in _NEAR if any(each["problem"] == n for each in results)]
        for name, methods in (("curves", _PAPERS), ("curves-others", _OTHERS)):
            shown = [m for m in methods if any(each["method"] == m for each in results)]
            if near and shown:
                out[name] = _near_figure(results, near, shown)
        shown = [m for m in _PAPERS if _group(results, _FAR, m)]
        if shown:
            out["curves-far"] = _far_figure(results, shown)
        return out

    def remarks(self, results: list[Found]) -> list[str]:
        """The best over the intervals, and why it is."""
        out = []
        for name in dict.fromkeys(each["problem"] for each in results):
            means = {
                m: float(np.mean(_values(_group(results, name, m), "rms")))
                for m in _methods(results)
                if _group(results, name, m)
            }
            ranked = sorted(means, key=lambda m: means[m])
            told = ", ".join(f"{METHODS[m].label} {number(means[m])}" for m in ranked)
            size = _draw.rms(load(name).log_ratio(grid(name)[:, None]))
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


def _methods(results: list[Found]) -> list[str]:
    there = {each["method"] for each in results}
    return [m for m in (*_PAPERS, *_OTHERS) if m in there]


def _group(results: list[Found], problem: str, method: str) -> list[Found]:
    return [e for e in results if (e["problem"], e["method"]) == (problem, method)]


def _values(results: list[Found], key: str) -> list[float]:
    return [each[key] for each in results if each.get(key) is not None]


def _curve(axes: Any, results: list[Found], problem: str, method: str) -> np.ndarray | None:
    """Draw the mean over seeds and its band; give back every seed's curve."""
    curves = [each["log_ratio"] for each in _group(results, problem, method)]
    if not curves:
        return None
    values = np.array(curves, dtype=float)
    look, x, mean = _draw.look(method), grid(problem), values.mean(axis=0)
    if len(values) > 1:
        spread = values.std(axis=0, ddof=1)
        axes.fill_between(
            x, mean - spread, mean + spread, color=look.color, alpha=0.25, linewidth=0
        )
    axes.plot(x, mean, color=look.color, linestyle=look.dash, linewidth=1.8)
    return values


def _truth(axes: Any, problem: str, reach: float | None = None) -> None:
    x = grid(problem)
    truth = load(problem).log_ratio(x[:, None])
    axes.plot(x, truth, color=_draw.TRUTH, linewidth=6)
    seen = truth if reach is None else truth[np.abs(x) <= reach]
    room = 0.12 * float(np.ptp(seen))
    axes.set_ylim(float(seen.min()) - room, float(seen.max()) + room)
    axes.set_xlim(-(reach or x[-1]), reach or x[-1])
    axes.set_ylabel("log p/q, nats")
    _mark_samples(axes, problem)


def _mark_samples(axes: Any, problem: str) -> None:
    """Shade where p and q have rows."""
    pair = load(problem)
    for name, each in (("p", pair.p), ("q", pair.q)):
        middle, sd = float(each.loc[0]), float(np.exp(0.5 * each.scatter.log_det))  # type: ignore[attr-defined]
        axes.axvspan(
            middle - 3 * sd, middle + 3 * sd, color=_draw.class_color(name), alpha=0.22, linewidth=0
        )
        axes.annotate(
            name,
            (middle, 0.02),
            xycoords=axes.get_xaxis_transform(),
            ha="center",
            color=_draw.class_color(name),
            weight="bold",
        )


def _near_figure(results: list[Found], problems: list[str], methods: list[str]) -> Figure:
    figure, axes = _draw.panels(len(problems), 2, height=2.6)
    looks = {_draw.look(m).label: _draw.look(m) for m in methods}
    _draw.legend(figure, {"truth": _draw.TRUTH, **looks})
    for (left, right), problem in zip(axes, problems, strict=True):
        _truth(left, problem)
        truth = load(problem).log_ratio(grid(problem)[:, None])
        for method in methods:
            values = _curve(left, results, problem, method)
            if values is not None:
                look = _draw.look(method)
                error = np.sqrt(np.mean((values - truth) ** 2, axis=0))
                right.plot(
                    grid(problem),
                    np.maximum(error, 1e-3),
                    color=look.color,
                    linestyle=look.dash,
                    linewidth=1.8,
                )
        right.set_yscale("log")
        _mark_samples(right, problem)
        right.set_ylabel("error, nats")
        _draw.heading(left, _in_words(problem))
        _draw.heading(right, "Root mean square error")
    for panel in axes[-1]:
        panel.set_xlabel("x")
    return figure


def _far_figure(results: list[Found], methods: list[str]) -> Figure:
    figure, axes = _draw.panels(1, 2, height=3.2)
    looks = {_draw.look(m).label: _draw.look(m) for m in methods}
    _draw.legend(figure, {"truth": _draw.TRUTH, **looks})
    for panel, reach, title in zip(
        axes.flat,
        (_IN_DOMAIN, _SPANS[_FAR]),
        (f"{_in_words(_FAR)}", "Expanded domain"),
        strict=True,
    ):
        _truth(panel, _FAR, reach)
        for method in methods:
            _curve(panel, results, _FAR, method)
        _draw.heading(panel, title)
        panel.set_xlabel("x")
    return figure


def _in_words(problem: str) -> str:
    return load(problem).description.split(": ", 1)[1].rstrip(".").replace("-", "−")
