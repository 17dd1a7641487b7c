"""Appendix F: TRE where a waymark reaches beyond the support of q."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw as _draw
from .kl import load, mean_and_spread, number
from .record import Found
from .runner import Experiment
from .show import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

    def cells(self, quick: bool, seeds: int) -> list[Found]:
        """Every penalty and seed, and the default once for each seed."""
        size = 2_000 if quick else 20_000
        cells = [{"l2": l2, "rows": size, "seed": s} for s in range(seeds) for l2 in _PENALTIES]
        default = {"l2": "auto", "rows": min(size, 5_000)}
        return cells + [{**default, "seed": s} for s in range(seeds) if not quick]

    def run(self, cell: Found) -> Found:
        """Estimates of m/q within and beyond q's support, and of p/q on p and q."""
        from .. import stack

        problem, seed = load(_PROBLEM), cell["seed"]
        X, y = stack(*(draw(cell["rows"], seed) for draw in (problem.sample_p, problem.sample_q)))
        rng = np.random.default_rng([seed, 1])
        m = problem.auxiliaries[0].fit(X[y == 1], X[y == 0])
        rows = {"p": problem.sample_p(_FRESH, rng), "q": problem.sample_q(_FRESH, rng)}
        rows["m"] = m.sample(_FRESH, rng)
        hole = np.abs(rows["m"][:, 0]) < _HOLE
        x = np.linspace(-_SPAN, _SPAN, _POINTS)[:, None]
        found: Found = {"share_in_hole": hole.mean()}
        for method, (m_q, p_q) in _fits(problem, X, y, cell).items():
            found[method] = {"kl": p_q(rows["p"]).mean()}
            found[method] |= {
                f"rms_{on}": _draw.rms(p_q(rows[on]) - problem.log_ratio(rows[on]))
                for on in ("p", "q")
            }
            if m_q is not None:
                there, exact = m_q(rows["m"]), _log_m_q(problem, m, rows["m"])
                found[method] |= {
                    "rms_m_q": _draw.rms((there - exact)[~hole]),
                    "hole_mean": there[hole].mean(),
                    "hole_largest": there[hole].max(),
                }
            if seed == 0:
                found[method]["p_q"] = _draw.few(p_q(x))
                if m_q is not None:
                    found[method]["m_q"] = _draw.few(m_q(x))
        if seed == 0:
            logs = {"p": problem.log_p(x), "q": problem.log_q(x), "m": m.log_density(x)}
            found["density"] = {name: _draw.few(np.exp(log)) for name, log in logs.items()}
            found["x"] = _draw.few(x[:, 0])
            found["true_p_q"], found["true_m_q"] = problem.log_ratio(x), _log_m_q(problem, m, x)
        return found

    def tables(self, results: list[Found]) -> list[Table]:
        """m/q where it exists and where it does not; p/q."""
        rows = []
        for l2 in _PENALTIES:
            for method in ("tre", "paper"):
                mine = [each[method] for each in results if each["l2"] == l2]
                keys = ("rms_m_q", "hole_mean", "hole_largest", "kl", "rms_p", "rms_q")
                cells = (
                    mean_and_spread([e[k] for e in mine if e.get(k) is not None]) for k in keys
                )
                rows.append(["TRE" if method == "tre" else "MDRE", f"{l2:g}", *cells])
        mine = [each["default"] for each in results if each["l2"] == "auto"]
        if mine:
            values = (mean_and_spread([e[k] for e in mine]) for k in ("kl", "rms_p", "rms_q"))
            rows.append(["MDRE, default", "auto", "", "", "", *values])
        columns = ["method", "l2", "m/q: RMSE on m within q", "m/q: mean on m beyond q"]
        columns += ["m/q: largest", f"p/q: KL (true {number(load(_PROBLEM).kl)})"]
        columns += ["p/q: RMSE on p", "p/q: RMSE on q"]
        share = 100 * float(np.mean([each["share_in_hole"] for each in results]))
        note = (
            f"In nats. {share:.0f} % of the rows of m lie beyond the support of q, where log m/q "
            "is infinite. RMSE on q is over the rows within the support of p, where log p/q is "
            "finite."
        )
        return [Table("log m/q and log p/q by penalty", columns, rows, [note])]

    def figures(self, results: list[Found]) -> dict[str, Figure]:
        """Setup, dM/dQ, its growth with a falling penalty, and log p/q."""
        first = {each["l2"]: each for each in results if each["seed"] == 0}
        penalties = [l2 for l2 in _PENALTIES if l2 in first]
        if not penalties:
            return {}
        base = first[penalties[0]]
        figure, axes = _draw.panels(2, 2, height=2.7)
        looks = {_draw.look(m).label: _draw.look(m) for m in ("tre",)}
        _draw.legend(
            figure, {"truth": _draw.TRUTH, **looks, "MDRE, the same critics": _draw.look("paper")}
        )
        _draw.densities(axes[0, 0], base["x"], base["density"])
        _draw.heading(axes[0, 0], "(a) Setup: p, q and m")
        axes[0, 0].set_ylabel("density")
        _ratio_panel(axes[0, 1], first, penalties)
        _growth_panel(axes[1, 0], results, penalties)
        _p_q_panel(axes[1, 1], first[penalties[len(penalties) // 2]])
        for panel in (axes[0, 0], axes[0, 1], axes[1, 1]):
            panel.set_xlabel("x")
        return {"appendix-f": figure}

    def remarks(self, results: list[Found]) -> list[str]:
        """What blows up, and what does not."""
        low, high = min(_PENALTIES), max(_PENALTIES)
        mean = {
            (m, l2): {
                k: float(np.mean([e[m][k] for e in results if e["l2"] == l2]))
                for k in ("hole_mean", "hole_largest", "kl", "rms_p")
            }
            for m in ("tre", "paper")
            for l2 in (low, high)
        }
        tre, mdre = mean["tre", low], mean["paper", low]
        return [
            f"As the penalty falls from {high:g} to {low:g}, TRE's log m/q beyond the support of q "
            f"grows from {mean['tre', high]['hole_mean']:.0f} to {tre['hole_mean']:.0f} nats on "
            f"average, and to {tre['hole_largest']:.0f} at most: nothing but the penalty, and in "
            "the end the solver's tolerance, bounds it. MDRE's h_m − h_q, whose truth is infinite "
            f"there too, grows to {mdre['hole_mean']:.0f}; it is no part of its log p/q.",
            f"On samples of p both are right, as the paper grants: KL {tre['kl']:.2f} by TRE and "
            f"{mdre['kl']:.2f} by MDRE, of {load(_PROBLEM).kl:.2f}, with errors of "
            f"{tre['rms_p']:.2f} and {mdre['rms_p']:.2f} nats. What is undefined is not used "
            "there.",
        ]


def _fits(problem: Any, X: np.ndarray, y: np.ndarray, cell: Found) -> dict[str, Any]:
    """Functions that give log m/q (None if it is not estimated) and log p/q, by method."""
    from sklearn.exceptions import ConvergenceWarning

    from .. import MDRE
    from ..baselines import TRE
    from ..critics import Quadratic, Splines, Sum

    seed = cell["seed"]
    if cell["l2"] == "auto":
        return {"default": (None, MDRE(random_state=seed).fit(X, y).log_ratio)}
    how = {
        "critic": Sum([Quadratic(), Splines(_SPLINES)]),
        "anchor": None,
        "maps": None,
        "l2": cell["l2"],
        "random_state": seed,
    }
    with warnings.catch_warnings():
        # Where a ratio is infinite the optimum is far away, and nearly flat.
        warnings.simplefilter("ignore", ConvergenceWarning)
        tre = TRE(waymarks=problem.auxiliaries, **how).fit(X, y)
        mdre = MDRE(problem.auxiliaries, known_density=False, **how).fit(X, y)
    return {
        "tre": (lambda x: tre.bridge_log_ratio(x, 1), tre.log_ratio),
        "paper": (lambda x: mdre.log_ratio(x, "m1", "q"), mdre.log_ratio),
    }


def _log_m_q(problem: Any, m: Any, x: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.asarray(m.log_density(x) - problem.log_q(x))


def _beyond(axes: Any, text: str) -> None:
    """Shade where q has no support and m has."""
    axes.axvspan(-_HOLE, _HOLE, color=_draw.PALE, linewidth=0, zorder=0)
    axes.annotate(
        text,
        (0, 0.92),
        xycoords=axes.get_xaxis_transform(),
        ha="center",
        fontsize=8.5,
        color="#666666",
    )


def _ratio_panel(axes: Any, first: dict[Any, Found], penalties: list[float]) -> None:
    _beyond(axes, "beyond q: truth is +∞")
    for l2 in penalties:
        each = first[l2]
        axes.plot(each["x"], each["tre"]["m_q"], color=_SHADES[l2], linewidth=1.8)
    base = first[penalties[0]]
    axes.plot(base["x"], _numbers(base["true_m_q"]), color=_draw.TRUTH, linewidth=6, zorder=1)
    told = [("penalty", _draw.INK), *((f"{l2:g}", _SHADES[l2]) for l2 in penalties)]
    _draw.heading(axes, "(b) TRE's log m/q", told)
    top = max(max(first[l2]["tre"]["m_q"]) for l2 in penalties)
    axes.set_ylim(-0.08 * top, 1.2 * top)
    axes.set_ylabel("nats")


def _growth_panel(axes: Any, results: list[Found], penalties: list[float]) -> None:
    for method in ("tre", "paper"):
        look = _draw.look(method)
        for key, marker in (("hole_mean", "o"), ("hole_largest", "^")):
            values = [
                float(np.mean([e[method][key] for e in results if e["l2"] == l2]))
                for l2 in penalties
            ]
            axes.plot(
                penalties, values, marker + "-", color=look.color, markersize=5, linewidth=1.2
            )
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.invert_xaxis()
    axes.set_xlabel("penalty l2, falling")
    axes.set_ylabel("nats")
    axes.set_ylim(bottom=0)
    told = [("mean ●", _draw.INK), ("largest ▲", _draw.INK)]
    _draw.heading(axes, "(c) log m/q on rows of m beyond q", told)


def _p_q_panel(axes: Any, each: Found) -> None:
    truth = _numbers(each["true_p_q"])
    _beyond(axes, "neither p nor q")
    axes.plot(each["x"], truth, color=_draw.TRUTH, linewidth=6)
    for method in ("tre", "paper"):
        look = _draw.look(method)
        values = _numbers(each[method]["p_q"])
        # Outside both supports there is no ratio to estimate.
        values[np.asarray(each["density"]["q"]) == 0] = np.nan
        axes.plot(each["x"], values, color=look.color, linestyle=look.dash, linewidth=1.8)
    axes.set_ylim(-10, 3)
    told = [(f"KL, true {load(_PROBLEM).kl:.2f}:", _draw.INK)]
    told += [(f"{each[m]['kl']:.2f}", _draw.look(m).color) for m in ("tre", "paper")]
    _draw.heading(axes, f"(d) log p/q within q, penalty {each['l2']:g}", told)
    axes.set_ylabel("nats")


def _numbers(values: list[float | None]) -> np.ndarray:
    """Values of a record: what was not finite has become None."""
    array = np.array([np.nan if value is None else value for value in values])
    return np.where(np.isfinite(array), array, np.nan)
