"""The number of auxiliaries by grid search, judged by the accuracy of every class (Appendix E)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw as _draw
from .diagnostics import HIGH, LOW, accuracy_band
from .kl import load, number, short
from .record import Found
from .runner import Experiment
from .show import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PROBLEMS = ("table2/40", "table2/40-shifted")
_FORMS = ("sqrt", "linear")
_GRID, _QUICK_GRID = (1, 2, 3, 5, 8), (1, 3)
_PENALTIES = (300.0, 100.0, 30.0, 10.0, 3.0)
_HELD = 4_000
_WORDS = {"table2/40": "40-d", "table2/40-shifted": "40-d, shifted"}
_FORM_WORDS = {"sqrt": "√(1−α²) p + α q", "linear": "(1−α) p + α q"}


class ChooseK(Experiment):
    """K auxiliaries by linear mixing, for a grid of K."""

    name = "choose-k"
    title = "Appendix E: the number K of auxiliaries by grid search"
    about = (
        "MDRE with K auxiliaries by linear mixing at equal distances, α = k/(K + 1), in both forms "
        "of mixing, on two problems of Table 2. The paper looks at the accuracy of every class "
        "on held-out rows: above 95 % the classes are too easy to tell apart and a chasm is "
        "left, below 50 % too hard. The rule here is the smallest K at which all classes lie "
        "within that band; the truth is shown beside it and used for nothing. Critics are "
        "the paper's quadratics without anchors, with a ridge penalty chosen by the likelihood "
        "of other held-out rows, since without one they learn the noise of 10,000 rows."
    )

    def cells(self, quick: bool, seeds: int) -> list[Found]:
        """A cell for each problem, form and K, of one draw."""
        return [
            {"problem": name, "form": form, "K": K, "rows": 1_500 if quick else 10_000, "seed": 0}
            for name in _PROBLEMS
            for form in (_FORMS[1:] if quick else _FORMS)
            for K in (_QUICK_GRID if quick else _GRID)
        ]

    def run(self, cell: Found) -> Found:
        """Fit from strong to weak penalty while held-out rows gain, and judge on others."""
        from .. import stack

        problem, seed = load(cell["problem"]), cell["seed"]
        X, y = stack(*(draw(cell["rows"], seed) for draw in (problem.sample_p, problem.sample_q)))
        rng = np.random.default_rng([seed, 1])
        held, fresh = (
            (problem.sample_p(_HELD, rng), problem.sample_q(_HELD, rng)) for _ in range(2)
        )
        best: Any = None
        score, start = -np.inf, None
        for l2 in _PENALTIES:
            model = _fit(cell, X, y, l2, start)
            value, start = model.score(*stack(*held)), model.solution_
            if value <= score:
                break
            best, score = model, value
        log_likelihood, accuracy = best.class_log_likelihood(*stack(*fresh))
        values = {"p": best.log_ratio(fresh[0]), "q": best.log_ratio(fresh[1])}
        return {
            "l2": best.l2_,
            "steps": best.n_iter_,
            "log_likelihood": log_likelihood.mean(),
            "accuracy": dict(zip(best.class_names_, accuracy, strict=True)),
            "verdict": verdict(dict(zip(best.class_names_, accuracy, strict=True))),
            "kl": values["p"].mean(),
            "rms_p": _draw.rms(values["p"] - problem.log_ratio(fresh[0])),
            "rms_q": _draw.rms(values["q"] - problem.log_ratio(fresh[1])),
        }

    def tables(self, results: list[Found]) -> list[Table]:
        """A table for each problem: the grid, the verdicts and, apart, the truth."""
        out = []
        for name in dict.fromkeys(each["problem"] for each in results):
            mine = [each for each in results if each["problem"] == name]
            chosen = {form: choice(mine, form) for form in _FORMS}
            rows = []
            for each in mine:
                shares = each["accuracy"].values()
                rows.append(
                    [
                        each["form"],
                        f"{each['K']}{' ←' if each['K'] == chosen[each['form']] else ''}",
                        f"{each['l2']:g}",
                        f"{each['log_likelihood']:.3f}",
                        f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %",
                        each["verdict"],
                        number(each["kl"]),
                        number(each["rms_p"]),
                    ]
                )
            truth = number(load(name).kl)
            columns = ["form", "K", "l2", "held-out log-likelihood", "accuracies", "verdict"]
            columns += [f"KL (true {truth})", "RMSE on p"]
            title = f"{short(name)}: {mine[0]['rows']:,} rows of p and of q"
            note = (
                "The arrow marks the smallest K within the band. Log-likelihoods of different K "
                "are of different classes and cannot be compared. The last two columns use the "
                "truth."
            )
            out.append(Table(title, columns, rows, [note]))
        return out

    def figures(self, results: list[Found]) -> dict[str, Figure]:
        """Accuracies and KL against K: a row of panels for each problem and form."""
        kinds = list(dict.fromkeys((each["problem"], each["form"]) for each in results))
        figure, axes = _draw.panels(len(kinds), 2, height=2.35)
        entries = {f"accuracy of {on}": _draw.dots(_draw.class_color(on)) for on in ("p", "q", "m")}
        entries["all within the band"] = _draw.dots(_draw.LOOKS["paper"].color)
        entries["outside it"] = _draw.dots(_draw.LOOKS["paper"].color, markerfacecolor="white")
        entries["true KL"] = _draw.TRUTH
        _draw.legend(figure, entries)
        for (left, right), (name, form) in zip(axes, kinds, strict=True):
            mine = [e for e in results if (e["problem"], e["form"]) == (name, form)]
            _accuracy_panel(left, mine)
            _kl_panel(right, mine, name, choice(mine, form))
            _draw.heading(left, f"{_WORDS[name]}: {_FORM_WORDS[form]}")
            for panel in (left, right):
                panel.set_xticks([each["K"] for each in mine])
        for panel in axes[-1]:
            panel.set_xlabel("number K of auxiliaries")
        return {"choose-k": figure}

    def remarks(self, results: list[Found]) -> list[str]:
        """What the rule chose, and how near the truth that came."""
        out = []
        for name in dict.fromkeys(each["problem"] for each in results):
            for form in dict.fromkeys(each["form"] for each in results):
                mine = [e for e in results if (e["problem"], e["form"]) == (name, form)]
                K = choice(mine, form)
                nearest = min(mine, key=lambda e: abs(e["kl"] - load(name).kl))
                what = f"{short(name)}, {form} mixing"
                if K is None:
                    told = "no K of the grid has all classes within the band"
                else:
                    kl = next(e["kl"] for e in mine if e["K"] == K)
                    told = f"the band chooses K = {K}, where the KL is {kl:.1f}"
                out.append(
                    f"{what}: {told}; the truth is {load(name).kl:.1f}, and the nearest of the "
                    f"grid is {nearest['kl']:.1f} at K = {nearest['K']}."
                )
        missed = {
            "with a class above the band": [e for e in results if "above" in e["verdict"]],
            "with all classes within it": [e for e in results if e["verdict"] == "within"],
            "with classes below it and none above": [
                e for e in results if e["verdict"].startswith("below")
            ],
        }
        shares = [
            f"{100 * float(np.mean([_missed(each) for each in those])):.0f} % {words}"
            for words, those in missed.items()
            if those
        ]
        return [*out, f"The KL misses the truth by {', '.join(shares)}, on average over the fits."]


def _fit(cell: Found, X: np.ndarray, y: np.ndarray, l2: float, start: Any) -> Any:
    from sklearn.exceptions import ConvergenceWarning

    from .. import MDRE
    from ..auxiliaries import LinearMixing

    alphas = [k / (cell["K"] + 1) for k in range(1, cell["K"] + 1)]
    model = MDRE(
        LinearMixing(alphas, cell["form"]),
        critic="quadratic",
        anchor=None,
        maps=None,
        l2=l2,
        solver="lbfgs",
        tol=1e-5,
        random_state=cell["seed"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, start=start)


def verdict(accuracy: dict[str, float]) -> str:
    """Where the accuracies of the classes lie, in words.

    Examples
    --------
    >>> verdict({"p": 0.9, "q": 0.7}), verdict({"p": 0.99, "q": 0.4})
    ('within', 'above: p; below: q')
    """
    above = [_draw.subscript(name) for name, share in accuracy.items() if share > HIGH]
    below = [_draw.subscript(name) for name, share in accuracy.items() if share < LOW]
    parts = [
        f"{word}: {'all' if len(those) == len(accuracy) else ', '.join(those)}"
        for word, those in (("above", above), ("below", below))
        if those
    ]
    return "; ".join(parts) or "within"


def choice(results: list[Found], form: str) -> int | None:
    """The smallest K of a form with all classes within the band, or None."""
    fine = [e["K"] for e in results if e["form"] == form and e["verdict"] == "within"]
    return min(fine, default=None)


def _missed(each: Found) -> float:
    """Distance of the KL from the truth, as a share of it."""
    return float(abs(each["kl"] / load(each["problem"]).kl - 1))


def _accuracy_panel(axes: Any, results: list[Found]) -> None:
    accuracy_band(axes)
    for each in results:
        for name, share in each["accuracy"].items():
            kind = name if name in ("p", "q") else "m"
            axes.plot(
                each["K"],
                share,
                "o",
                color=_draw.class_color(kind),
                markersize=5 if kind != "m" else 3.5,
                markeredgewidth=0,
                alpha=0.85,
                zorder=3 if kind != "m" else 2,
            )
    axes.set_ylabel("accuracy")


def _kl_panel(axes: Any, results: list[Found], name: str, chosen: int | None) -> None:
    truth, color = load(name).kl, _draw.LOOKS["paper"].color
    axes.axhline(truth, color=_draw.TRUTH, linewidth=5, zorder=0)
    axes.plot([e["K"] for e in results], [e["kl"] for e in results], color=color, linewidth=1.2)
    for each in results:
        inside = each["verdict"] == "within"
        axes.plot(
            each["K"],
            each["kl"],
            "o",
            color=color,
            markerfacecolor=color if inside else "white",
            markersize=6,
        )
    told = [(f"true {truth:.0f}", "#888888")]
    if chosen is None:
        told.append(("no K within the band", color))
    else:
        kl = next(each["kl"] for each in results if each["K"] == chosen)
        told.append((f"chosen K = {chosen}: {kl:.1f}", color))
        axes.plot(chosen, kl, "o", markersize=12, markerfacecolor="none", color=color)
    _draw.heading(axes, "KL(p‖q), nats", told)
    axes.set_ylim(0, 1.25 * max(truth, *(each["kl"] for each in results)))
