"""Appendix F: TRE where a waymark reaches beyond the support of q."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import MDRE
from ..baselines import TRE
from ..critics import Quadratic, Splines, Sum
from . import draw
from .record import Fields
from .results import averaged, few, few_by_class, mean, number, rms, select
from .runner import Experiment
from .samples import Samples, pair
from .show import Table

_PROBLEM = "appendix-f"
_PENALTIES = (1.0, 1e-2, 1e-4)
_SPLINES = 8
_FRESH, _POINTS, _SPAN = 10_000, 301, 1.25
# q has no mass within this distance of zero, where m has three quarters of its own.
_HOLE = 0.8
_SHADES = {1.0: "#8cc9ee", 1e-2: "#3d9bd6", 1e-4: "#15578a"}


class AppendixF(Experiment):
    """dM/dQ by TRE on finite supports, and log p/q by TRE and MDRE."""

    name = "appendix-f"
    title = "Appendix F: TRE on finite supports, K = 1"
    about = (
        "p and q are mixtures of two truncated normals at ±1, and m = TN(0, 1) on (−1.2, 1.2) "
        "reaches where q has no support (its supports are corrected: as printed, p reaches "
        "beyond q and the KL is infinite). TRE's second bridge estimates m/q, which does not "
        "exist there. A quadratic critic cannot show it, being too stiff for either ratio, so "
        f"the critics here are a quadratic plus {_SPLINES} splines for each class, in TRE and in "
        "MDRE alike. Where a ratio is infinite its estimate is bounded by the penalty alone, "
        "and grows as that falls."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """Every penalty and seed, and the default once for each seed."""
        size = 2_000 if quick else 20_000
        cells = [{"l2": l2, "rows": size, "seed": s} for s in range(seeds) for l2 in _PENALTIES]
        default = {"l2": "auto", "rows": min(size, 5_000)}
        return cells + [{**default, "seed": s} for s in range(seeds) if not quick]

    def run(self, cell: Fields) -> Fields:
        """Estimates of m/q within and beyond q's support, and of p/q on p and q."""
        samples, seed = Samples.of(_PROBLEM, cell), cell["seed"]
        problem = samples.problem
        m: Any = problem.auxiliaries[0].fit(samples.p, samples.q)
        rows = samples.fresh(_FRESH)
        rows["m"] = m.sample(_FRESH, samples.rng)
        hole = np.abs(rows["m"][:, 0]) < _HOLE
        x = np.linspace(-_SPAN, _SPAN, _POINTS)[:, None]
        found: Fields = {"share_in_hole": hole.mean()}
        for method, (m_q, p_q) in _fits(samples, cell).items():
            own = found[method] = {"kl": p_q(rows["p"]).mean()}
            for on in ("p", "q"):
                own[f"rms_{on}"] = rms(p_q(rows[on]) - problem.log_ratio(rows[on]))
            if m_q is not None:
                there, exact = m_q(rows["m"]), _log_m_q(problem, m, rows["m"])
                own["rms_m_q"] = rms((there - exact)[~hole])
                own["hole_mean"], own["hole_largest"] = there[hole].mean(), there[hole].max()
            if seed == 0:
                own["p_q"] = few(p_q(x))
                if m_q is not None:
                    own["m_q"] = few(m_q(x))
        if seed == 0:
            logs = {"p": problem.log_p(x), "q": problem.log_q(x), "m": m.log_density(x)}
            found["density"] = few_by_class({name: np.exp(log) for name, log in logs.items()})
            found["x"] = few(x[:, 0])
            found["true_p_q"], found["true_m_q"] = problem.log_ratio(x), _log_m_q(problem, m, x)
        return found

    def tables(self, results: list[Fields]) -> list[Table]:
        rows, of_m = [], ("rms_m_q", "hole_mean", "hole_largest")
        of_p = ("kl", "rms_p", "rms_q")
        for l2 in _PENALTIES:
            for method, label in (("tre", "TRE"), ("paper", "MDRE")):
                mine = select(results, l2=l2)
                told = (averaged(mine, method, name) for name in of_m + of_p)
                rows.append([label, f"{l2:g}", *told])
        mine = select(results, l2="auto")
        if mine:
            told = (averaged(mine, "default", name) for name in of_p)
            rows.append(["MDRE, default", "auto", "", "", "", *told])
        columns = ["method", "l2", "m/q: RMSE on m within q", "m/q: mean on m beyond q"]
        columns += ["m/q: largest", f"p/q: KL (true {number(pair(_PROBLEM).kl)})"]
        columns += ["p/q: RMSE on p", "p/q: RMSE on q"]
        note = (
            f"In nats. {100 * mean(results, 'share_in_hole'):.0f} % of the rows of m lie beyond "
            "the support of q, where log m/q is infinite. RMSE on q is over the rows within the "
            "support of p, where log p/q is finite."
        )
        return [Table("log m/q and log p/q by penalty", columns, rows, [note])]

    def figures(self, results: list[Fields]) -> draw.Figures:
        first = {each["l2"]: each for each in select(results, seed=0)}
        penalties = [l2 for l2 in _PENALTIES if l2 in first]
        if not penalties:
            return {}
        base = first[penalties[0]]
        figure, axes = draw.panels(2, 2, height=2.7)
        looks = {"TRE": draw.look("tre"), "MDRE, the same critics": draw.look("paper")}
        draw.legend(figure, {"truth": draw.TRUTH, **looks})
        draw.densities(axes[0, 0], base["x"], base["density"])
        draw.heading(axes[0, 0], "(a) Setup: p, q and m")
        axes[0, 0].set_ylabel("density")
        _ratio_panel(axes[0, 1], first, penalties)
        _growth_panel(axes[1, 0], results, penalties)
        _p_q_panel(axes[1, 1], first[penalties[len(penalties) // 2]])
        for panel in (axes[0, 0], axes[0, 1], axes[1, 1]):
            panel.set_xlabel("x")
        return {"appendix-f": figure}

    def remarks(self, results: list[Fields]) -> list[str]:
        low, high = min(_PENALTIES), max(_PENALTIES)
        weak = select(results, l2=low)
        tre, mdre = (
            {k: mean(weak, m, k) for k in ("hole_mean", "hole_largest", "kl", "rms_p")}
            for m in ("tre", "paper")
        )
        strong = mean(select(results, l2=high), "tre", "hole_mean")
        return [
            f"As the penalty falls from {high:g} to {low:g}, TRE's log m/q beyond the support of q "
            f"grows from {strong:.0f} to {tre['hole_mean']:.0f} nats on "
            f"average, and to {tre['hole_largest']:.0f} at most: nothing but the penalty, and in "
            "the end the solver's tolerance, bounds it. MDRE's h_m − h_q, whose truth is infinite "
            f"there too, grows to {mdre['hole_mean']:.0f}; it is no part of its log p/q.",
            f"On samples of p both are right, as the paper grants: KL {tre['kl']:.2f} by TRE and "
            f"{mdre['kl']:.2f} by MDRE, of {pair(_PROBLEM).kl:.2f}, with errors of "
            f"{tre['rms_p']:.2f} and {mdre['rms_p']:.2f} nats. What is undefined is not used "
            "there.",
        ]


def _fits(samples: Samples, cell: Fields) -> dict[str, Any]:
    """Functions that give log m/q (None if it is not estimated) and log p/q, by method."""
    seed, auxiliaries = cell["seed"], samples.problem.auxiliaries
    if cell["l2"] == "auto":
        return {"default": (None, MDRE(random_state=seed).fit(*samples.stacked).log_ratio)}
    settings: Fields = {"anchor": None, "maps": None, "l2": cell["l2"], "random_state": seed}
    settings["critic"] = Sum([Quadratic(), Splines(_SPLINES)])
    with warnings.catch_warnings():
        # Where a ratio is infinite the optimum is far away, and nearly flat.
        warnings.simplefilter("ignore", ConvergenceWarning)
        tre = TRE(waymarks=auxiliaries, **settings).fit(*samples.stacked)
        mdre = MDRE(auxiliaries, known_density=False, **settings).fit(*samples.stacked)
    return {
        "tre": (lambda x: tre.bridge_log_ratio(x, 1), tre.log_ratio),
        "paper": (lambda x: mdre.log_ratio(x, "m1", "q"), mdre.log_ratio),
    }


def _log_m_q(problem: Any, m: Any, x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.asarray(m.log_density(x) - problem.log_q(x))


def _beyond(axes: Any, text: str) -> None:
    """Shade where q has no support and m has."""
    axes.axvspan(-_HOLE, _HOLE, color=draw.PALE, linewidth=0, zorder=0)
    top = axes.get_xaxis_transform()
    axes.annotate(text, (0, 0.92), xycoords=top, ha="center", fontsize=8.5, color="#666666")


def _ratio_panel(axes: Any, first: dict[Any, Fields], penalties: list[float]) -> None:
    _beyond(axes, "beyond q: truth is +∞")
    for l2 in penalties:
        axes.plot(first[l2]["x"], first[l2]["tre"]["m_q"], color=_SHADES[l2], linewidth=1.8)
    base = first[penalties[0]]
    truth = np.array(base["true_m_q"], dtype=float)
    axes.plot(base["x"], truth, color=draw.TRUTH, linewidth=6, zorder=1)
    told = [("penalty", draw.INK), *((f"{l2:g}", _SHADES[l2]) for l2 in penalties)]
    draw.heading(axes, "(b) TRE's log m/q", told)
    top = max(max(first[l2]["tre"]["m_q"]) for l2 in penalties)
    axes.set(ylim=(-0.08 * top, 1.2 * top), ylabel="nats")


def _growth_panel(axes: Any, results: list[Fields], penalties: list[float]) -> None:
    for method in ("tre", "paper"):
        color = draw.look(method).color
        for key, marker in (("hole_mean", "o"), ("hole_largest", "^")):
            values = [mean(select(results, l2=l2), method, key) for l2 in penalties]
            axes.plot(penalties, values, marker + "-", color=color, markersize=5, linewidth=1.2)
    axes.set(xscale="log", xlabel="penalty l2, falling", ylabel="nats")
    axes.minorticks_off()
    axes.invert_xaxis()
    axes.set_ylim(bottom=0)
    told = [("mean ●", draw.INK), ("largest ▲", draw.INK)]
    draw.heading(axes, "(c) log m/q on rows of m beyond q", told)


def _p_q_panel(axes: Any, each: Fields) -> None:
    # What was not finite has become None in the record.
    truth = np.array(each["true_p_q"], dtype=float)
    _beyond(axes, "neither p nor q")
    axes.plot(each["x"], truth, color=draw.TRUTH, linewidth=6)
    for method in ("tre", "paper"):
        values = np.array(each[method]["p_q"], dtype=float)
        # Outside both supports there is no ratio to estimate.
        values[np.asarray(each["density"]["q"]) == 0] = np.nan
        draw.line(axes, each["x"], values, method, linewidth=1.8)
    axes.set(ylim=(-10, 3), ylabel="nats")
    kls = {m: f"{each[m]['kl']:.2f}" for m in ("tre", "paper")}
    told = draw.in_colors(kls, f"KL, true {pair(_PROBLEM).kl:.2f}:")
    draw.heading(axes, f"(d) log p/q within q, penalty {each['l2']:g}", told)
