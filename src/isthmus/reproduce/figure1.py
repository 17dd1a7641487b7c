"""Figure 1: two normals far apart, by a binary classifier and by MDRE with a Cauchy class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import MDRE
from ..baselines import BDRE
from . import draw
from .methods import in_steps
from .record import Fields
from .results import averaged, few, few_by_class, mean, number, rms
from .runner import Experiment
from .samples import Samples, pair
from .show import Table

_PROBLEM = "running-example"
_METHODS = ("bdre", "paper", "paper-newton", "default")
_LOW, _HIGH, _POINTS = -3.0, 3.0, 301
_FRESH = 10_000


class Figure1(Experiment):
    """Class probabilities and log-ratios of BDRE and MDRE."""

    name = "figure-1"
    title = "Figure 1: class probabilities and log-ratio, BDRE and MDRE"
    about = (
        "p = N(−1, 0.1) and q = N(1, 0.2), with standard deviations. A binary classifier tells p "
        "from q with ease and learns little about their ratio. MDRE tells them from a third "
        "class too, m = Cauchy(0, 1), which lies under both. BDRE is logistic regression on "
        "a quadratic critic, solved to convergence, with its penalty chosen by held-out "
        "likelihood: without any penalty there is no solution, since p and q can be separated. "
        "MDRE is trained as the authors' notebook does it, and its model is solved to convergence."
    )
    sizes = (2_000, 33_333)
    quick_steps = 2_000

    def run(self, cell: Fields) -> Fields:
        """Curves of the first seed, and errors of every one, by all methods with one draw."""
        samples, seed = Samples.of(_PROBLEM, cell), cell["seed"]
        problem, (X, y) = samples.problem, samples.stacked
        x = np.linspace(_LOW, _HIGH, _POINTS)[:, None]
        fresh = samples.fresh(_FRESH) | {"line": x}
        truth = {where: problem.log_ratio(rows) for where, rows in fresh.items()}
        found: Fields = {"kl": {}, "rms": {}, "log_ratio": {}, "probability": {}}
        models = {
            "bdre": BDRE(random_state=seed),
            "paper": in_steps(MDRE.paper(problem.name, random_state=seed), cell),
            "paper-newton": MDRE.paper(problem.name, solver="newton", random_state=seed),
            "default": MDRE(random_state=seed),
        }
        for method, model in models.items():
            model.fit(X, y)
            estimate = {where: model.log_ratio(rows) for where, rows in fresh.items()}
            found["kl"][method] = estimate["p"].mean()
            found["rms"][method] = {w: rms(estimate[w] - truth[w]) for w in fresh}
            if seed == 0:
                found["log_ratio"][method] = few(estimate["line"])
                found["probability"][method] = _probabilities(model, method, x)
        if seed == 0:
            found["x"] = few(x[:, 0])
            found["truth"] = few(truth["line"])
            m: Any = problem.auxiliaries[0].fit(samples.p, samples.q)
            logs = {"p": problem.log_p(x), "q": problem.log_q(x), "m": m.log_density(x)}
            found["density"] = few_by_class({name: np.exp(log) for name, log in logs.items()})
        return found

    def tables(self, results: list[Fields]) -> list[Table]:
        rows = [["truth", number(pair(_PROBLEM).kl), "", "", ""]]
        for method in _METHODS:
            errors = (averaged(results, "rms", method, w) for w in ("p", "q", "line"))
            rows.append([draw.look(method).label, averaged(results, "kl", method), *errors])
        size, seeds = results[0]["rows"], len(results)
        note = (
            "RMSE is the root mean square error of log p/q, over 10,000 fresh rows of p "
            "and of q, and over an even grid."
        )
        columns = ["nats", "KL(p‖q)", "RMSE on p", "RMSE on q", "RMSE over (−3, 3)"]
        title = f"{size:,} rows of each sample, {seeds} seed{'s' if seeds > 1 else ''}"
        return [Table(title, columns, rows, [note])]

    def figure(self, first: Fields) -> draw.Figure:
        figure, axes = draw.panels(2, 2, height=2.5, sharex=True)
        draw.method_legend(figure, _METHODS, truth="true log-ratio", columns=2)
        probability = [("P(class | x); densities to one height", draw.INK)]
        truth = pair(_PROBLEM).kl
        for (left, right), first_title, second_title, classes, methods in (
            (axes[0], "(a) BDRE", "(b) BDRE", ("p", "q"), ("bdre",)),
            (axes[1], "(c) MDRE, m = Cauchy(0, 1)", "(d) MDRE", ("p", "q", "m"), _METHODS[1:]),
        ):
            _class_panel(left, first, methods[0], classes)
            draw.heading(left, first_title, probability)
            _ratio_panel(right, first, methods)
            kls = {method: f"{first['kl'][method]:.1f}" for method in methods}
            draw.heading(right, second_title, draw.in_colors(kls, f"KL, true {truth:.1f}:"))
        for panel in axes[1]:
            panel.set_xlabel("x")
        return figure

    def remarks(self, results: list[Fields]) -> list[str]:
        kl = {m: mean(results, "kl", m) for m in _METHODS}
        return [
            f"BDRE's KL, {kl['bdre']:.1f} of {pair(_PROBLEM).kl:.1f}, is that of its penalty: the "
            "weaker the penalty, the steeper the critic, and held-out rows, all of which are "
            "told apart, cannot say how steep it should be.",
            f"The paper's training gives {kl['paper']:.1f}, and its model solved to convergence "
            f"{kl['paper-newton']:.1f}: the logarithm of a Cauchy density is no quadratic "
            "function, and learning it as one costs some accuracy. By default critics start "
            f"from fitted normals: {kl['default']:.1f}.",
        ]


def _probabilities(model: Any, method: str, x: np.ndarray) -> Fields:
    """P(class | x) by class; for two classes p comes first, as for more."""
    proba = model.predict_proba(x)
    if method == "bdre":
        return {"p": few(proba[:, 1]), "q": few(proba[:, 0])}
    names = [name[0] for name in model.class_names_]
    return few_by_class(dict(zip(names, proba.T, strict=True)))


def _class_panel(axes: Any, first: Fields, method: str, classes: tuple[str, ...]) -> None:
    draw.densities(axes, first["x"], {c: first["density"][c] for c in classes}, peak=0.55)
    for name in classes:
        probability = first["probability"][method][name]
        axes.plot(first["x"], probability, color=draw.class_color(name), linewidth=2)
    axes.set_ylim(0, 1.05)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("probability")


def _ratio_panel(axes: Any, first: Fields, methods: tuple[str, ...]) -> None:
    truth = first["truth"]
    axes.plot(first["x"], truth, color=draw.TRUTH, linewidth=6)
    for method in methods:
        draw.line(axes, first["x"], first["log_ratio"][method], method)
    axes.set_ylabel("log p/q, nats")
    room = 0.08 * (max(truth) - min(truth))
    axes.set_ylim(min(truth) - room, max(truth) + room)
