"""The number of auxiliaries by grid search, judged by the accuracy of every class (Appendix E)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import MDRE, stack
from ..auxiliaries import LinearMixing
from . import draw
from .diagnostics import HIGH, LOW, accuracy_band
from .kl import short
from .methods import in_steps
from .record import Fields
from .results import averaged, distinct, number, rms, select
from .runner import Experiment
from .samples import Samples, pair
from .show import Table

_PROBLEMS = ("table2/40", "table2/40-shifted")
_FORMS = ("sqrt", "linear", "non-convex")
_GRID, _QUICK_GRID = (1, 2, 3, 5, 8), (1, 3)
_HELD = 4_000
_WORDS = {"table2/40": "40-d", "table2/40-shifted": "40-d, shifted"}
_FORM_WORDS = {
    "sqrt": "√(1−α²) p + α q",
    "linear": "(1−α) p + α q",
    "non-convex": "(1−α) p + α q, α from −¼ to 5/4",
}


class ChooseK(Experiment):
    """K auxiliaries by linear mixing, for a grid of K."""

    name = "choose-k"
    title = "Appendix E: the number K of auxiliaries by grid search"
    about = (
        "MDRE with K auxiliaries by linear mixing at equal distances, α = k/(K + 1), in both forms "
        "of mixing, and non-convex, with α from −1/4 to 5/4, which surrounds p and q as the "
        "paper's text allows, on two problems of Table 2. The paper looks at the accuracy of every "
        "class on held-out rows: above 95 % the classes are too easy to tell apart and a chasm is "
        "left, below 50 % too hard. The rule here is the smallest K at which all classes lie "
        "within that band; the truth is shown beside it and used for nothing. Every fit is the "
        "paper's training with 100,000 rows of each class, as in Table 2, with other waymarks. "
        "Three draws."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """A cell for each problem, form, K and seed."""
        size = {"rows": 1_000, "steps": 200} if quick else {"rows": 100_000}
        return [
            {"problem": name, "form": form, "K": K, **size, "seed": seed}
            for seed in range(1 if quick else seeds)
            for name in (_PROBLEMS[:1] if quick else _PROBLEMS)
            for form in (_FORMS[1:] if quick else _FORMS)
            for K in (_QUICK_GRID if quick else _GRID)
            # One in the middle is no other than the convex one.
            if form != "non-convex" or K > 1
        ]

    def run(self, cell: Fields) -> Fields:
        """Train, and judge on fresh rows."""
        samples = Samples.of(cell["problem"], cell)
        fresh = samples.fresh(_HELD)
        model = _model(cell).fit(*samples.stacked)
        log_likelihood, shares = model.class_log_likelihood(*stack(**fresh))
        accuracy = dict(zip(model.class_names_, shares, strict=True))
        values = {side: model.log_ratio(rows) for side, rows in fresh.items()}
        errors = {side: values[side] - samples.problem.log_ratio(fresh[side]) for side in fresh}
        return {
            "log_likelihood": log_likelihood.mean(),
            "accuracy": accuracy,
            "verdict": verdict(accuracy),
            "kl": values["p"].mean(),
            "rms_p": rms(errors["p"]),
            "rms_q": rms(errors["q"]),
        }

    def tables(self, results: list[Fields]) -> list[Table]:
        out = []
        for name in distinct(results, "problem"):
            mine = select(results, problem=name)
            rows = [_row(select(mine, form=form, K=K)) for form, K in _pairs(mine)]
            columns = ["form", "K", "log-likelihood", "accuracies", "within the band"]
            columns += [f"KL (true {number(pair(name).kl)})", "RMSE on p"]
            title = f"{short(name)}: {mine[0]['rows']:,} rows of p and of q"
            note = (
                "Accuracies are the lowest and the highest of any class and draw; the next column "
                "has the draws in which all classes lie within the band. Log-likelihoods of "
                "different K are of different classes and cannot be compared. The last two "
                "columns use the truth."
            )
            out.append(Table(title, columns, rows, [note]))
        return out

    def figures(self, results: list[Fields]) -> draw.Figures:
        kinds = _kinds(results)
        figure, axes = draw.panels(len(kinds), 2, height=2.35)
        entries = {f"accuracy of {on}": draw.dots(draw.class_color(on)) for on in ("p", "q", "m")}
        entries["all within the band"] = draw.dots(draw.LOOKS["paper"].color)
        entries["outside it"] = draw.dots(draw.LOOKS["paper"].color, markerfacecolor="white")
        entries["true KL"] = draw.TRUTH
        draw.legend(figure, entries)
        for (left, right), (name, form) in zip(axes, kinds, strict=True):
            mine = select(results, problem=name, form=form, seed=results[0]["seed"])
            _accuracy_panel(left, mine)
            _kl_panel(right, mine, name, choice(mine, form))
            draw.heading(left, f"{_WORDS[name]}: {_FORM_WORDS[form]}")
            for panel in (left, right):
                panel.set_xticks([each["K"] for each in mine])
        for panel in axes[-1]:
            panel.set_xlabel("number K of auxiliaries")
        return {"choose-k": figure}

    def remarks(self, results: list[Fields]) -> list[str]:
        out = []
        for name, form in _kinds(results):
            mine, truth = select(results, problem=name, form=form), pair(name).kl
            told = []
            for seed in distinct(mine, "seed"):
                draw_of = select(mine, seed=seed)
                K = choice(draw_of, form)
                told.append("none" if K is None else f"{K} ({select(draw_of, K=K)[0]['kl']:.1f})")
            out.append(
                f"{short(name)}, {form} mixing: the smallest K with all classes within the band, "
                f"and the KL there, draw by draw: {', '.join(told)}; the truth is {truth:.1f}."
            )
        missed: dict[str, list[float]] = {
            "with a class above the band": [],
            "with all classes within it": [],
            "with classes below it and none above": [],
        }
        above, within, below = missed.values()
        for each in results:
            where = above if "above" in each["verdict"] else below
            where = within if each["verdict"] == "within" else where
            where.append(abs(each["kl"] / pair(each["problem"]).kl - 1))
        shares = [
            f"{100 * np.mean(those):.0f} % {words}" for words, those in missed.items() if those
        ]
        return [*out, f"The KL misses the truth by {', '.join(shares)}, on average over the fits."]


def alphas_of(form: str, K: int) -> list[float]:
    """Weights at equal distances: between p and q, or from beyond the one to beyond the other.

    Examples
    --------
    >>> alphas_of("linear", 3), alphas_of("non-convex", 3)
    ([0.25, 0.5, 0.75], [-0.25, 0.5, 1.25])
    """
    if form == "non-convex":
        return [float(a) for a in np.linspace(-0.25, 1.25, K)]
    return [k / (K + 1) for k in range(1, K + 1)]


def _model(cell: Fields) -> Any:
    """The paper's training, with the cell's waymarks in place of its own."""
    form = "sqrt" if cell["form"] == "sqrt" else "linear"
    mixing = LinearMixing(alphas_of(cell["form"], cell["K"]), form, paired=True)
    model = MDRE.paper(cell["problem"], random_state=cell["seed"])
    return in_steps(model.set_params(auxiliaries=mixing), cell)


def _row(mine: list[Fields]) -> list[str]:
    """A row of the table: one form and K, over the draws."""
    shares = [share for each in mine for share in each["accuracy"].values()]
    within = sum(each["verdict"] == "within" for each in mine)
    return [
        mine[0]["form"],
        str(mine[0]["K"]),
        averaged(mine, "log_likelihood"),
        f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %",
        f"{within} of {len(mine)}",
        averaged(mine, "kl"),
        averaged(mine, "rms_p"),
    ]


def _pairs(results: list[Fields]) -> list[tuple[str, int]]:
    """Forms and numbers of auxiliaries, in the order of the results."""
    return list(dict.fromkeys((each["form"], each["K"]) for each in results))


def verdict(accuracy: dict[str, float]) -> str:
    """Where the accuracies of the classes lie, in words.

    Examples
    --------
    >>> verdict({"p": 0.9, "q": 0.7}), verdict({"p": 0.99, "q": 0.4})
    ('within', 'above: p; below: q')
    """
    above = [draw.subscript(name) for name, share in accuracy.items() if share > HIGH]
    below = [draw.subscript(name) for name, share in accuracy.items() if share < LOW]
    parts = [
        f"{word}: {'all' if len(those) == len(accuracy) else ', '.join(those)}"
        for word, those in (("above", above), ("below", below))
        if those
    ]
    return "; ".join(parts) or "within"


def choice(results: list[Fields], form: str) -> int | None:
    """The smallest K of a form with all classes within the band, or None."""
    return min((e["K"] for e in select(results, form=form, verdict="within")), default=None)


def _kinds(results: list[Fields]) -> list[tuple[str, str]]:
    """Problems and forms of mixing, in the order of the results."""
    return list(dict.fromkeys((each["problem"], each["form"]) for each in results))


def _accuracy_panel(axes: Any, results: list[Fields]) -> None:
    accuracy_band(axes)
    for each in results:
        for name, share in each["accuracy"].items():
            kind = name if name in ("p", "q") else "m"
            size, layer = (3.5, 2) if kind == "m" else (5, 3)
            style = {"markersize": size, "markeredgewidth": 0, "alpha": 0.85, "zorder": layer}
            axes.plot(each["K"], share, "o", color=draw.class_color(kind), **style)
    axes.set_ylabel("accuracy")


def _kl_panel(axes: Any, results: list[Fields], name: str, chosen: int | None) -> None:
    truth, color = pair(name).kl, draw.LOOKS["paper"].color
    axes.axhline(truth, color=draw.TRUTH, linewidth=5, zorder=0)
    axes.plot([e["K"] for e in results], [e["kl"] for e in results], color=color, linewidth=1.2)
    for each in results:
        face = color if each["verdict"] == "within" else "white"
        axes.plot(each["K"], each["kl"], "o", color=color, markerfacecolor=face, markersize=6)
    told = [(f"true {truth:.0f}", "#888888")]
    if chosen is None:
        told.append(("no K within the band", color))
    else:
        kl = select(results, K=chosen)[0]["kl"]
        told.append((f"chosen K = {chosen}: {kl:.1f}", color))
        axes.plot(chosen, kl, "o", markersize=12, markerfacecolor="none", color=color)
    draw.heading(axes, "KL(p‖q), nats", told)
    axes.set_ylim(0, 1.25 * max(truth, *(each["kl"] for each in results)))
