"""Diagnostic plots of MDRE in high dimensions: log-ratios, KL, losses, accuracies (Appendix E)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import MDRE, stack
from . import draw
from .kl import short
from .record import Fields
from .results import averaged, distinct, few_by_class, number, rms, select
from .runner import Experiment
from .samples import Samples, full_rows, pair
from .show import Table

LOW, HIGH = 0.5, 0.95
"""The paper's band for the accuracy of every class."""

_PROBLEMS = ("table2/40", "table3/row2")
_HELD, _DOTS = 4_000, 80
_STEPS = (50, 100, 200, 500, 1_000, 2_000)


class Diagnostics(Experiment):
    """What to look at while MDRE is trained."""

    name = "diagnostics"
    title = "Appendix E: diagnostic plots of high-dimensional problems"
    about = (
        "The paper's training on a problem of Table 2 (40 dimensions) and on one with "
        "random means (row 2 of Table 3, 160 dimensions): estimated against true log-ratio on "
        "held-out rows of every class; then, along training, the KL estimate, the loss on "
        "training and on held-out rows, and the accuracy of every class, which the paper wants "
        "between 50 % and 95 %; and, since the truth is known here, the error of log p/q on "
        "every class. Training is the authors': 2,000 steps of Adam, batches of 500 rows of each "
        "class, a rate that falls from 0.05 to zero (published for 40 columns, and used here for "
        "160 too). Beside it stand the same model solved to convergence with a penalty chosen "
        "by held-out rows, and MDRE with the same auxiliaries and everything else automatic."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """A cell for each problem and seed."""
        return [
            {
                "problem": name,
                "rows": 1_000 if quick else full_rows(pair(name).dim),
                "stops": [k for k in _STEPS if not quick or k <= 200],
                "seed": seed,
            }
            for seed in range(1 if quick else seeds)
            for name in (_PROBLEMS[:1] if quick else _PROBLEMS)
        ]

    def run(self, cell: Fields) -> Fields:
        """Follow the training, then solve the same model, then fit by default."""
        samples, seed = Samples.of(cell["problem"], cell), cell["seed"]
        problem, (X, y) = samples.problem, samples.stacked
        fresh = samples.fresh(_HELD)
        held = class_rows(problem, fresh["p"], fresh["q"], samples.rng)
        truth = {on: problem.log_ratio(rows) for on, rows in held.items()}

        def judged(model: Any) -> Fields:
            log_likelihood, accuracy = model.class_log_likelihood(*stack(**fresh))
            return {
                "kl": model.log_ratio(fresh["p"]).mean(),
                "held_out": -log_likelihood.mean(),
                "accuracy": dict(zip(model.class_names_, accuracy, strict=True)),
                "rms": {on: rms(model.log_ratio(rows) - truth[on]) for on, rows in held.items()},
            }

        some = {side: rows[:_HELD] for side, rows in (("p", samples.p), ("q", samples.q))}
        steps = []
        for step, model in training(problem.name, X, y, cell["stops"], seed):
            train = -model.class_log_likelihood(*stack(**some))[0].mean()
            steps.append({"step": step, **judged(model), "train": train})
        names = ("step", "kl", "train", "held_out", "accuracy", "rms")
        path = {name: [each[name] for each in steps] for name in names}
        settings: Fields = {"critic": "quadratic", "maps": None, "known_density": False}
        free = MDRE(problem.auxiliaries, anchor=None, **settings, random_state=seed)
        models = {
            "paper": model,
            "free": free.fit(X, y),
            "default": MDRE(problem.auxiliaries, random_state=seed).fit(X, y),
        }
        ends = {name: steps[-1] if name == "paper" else judged(m) for name, m in models.items()}
        found: Fields = {"path": path}
        for what in ("kl", "rms", "held_out", "accuracy"):
            found[what] = {name: end[what] for name, end in ends.items()}
        if seed == 0:
            found["truth"] = few_by_class(truth, _DOTS)
            dots = {on: rows[:_DOTS] for on, rows in held.items()}
            found["estimate"] = {
                name: few_by_class({on: m.log_ratio(rows) for on, rows in dots.items()})
                for name, m in models.items()
            }
        return found

    def tables(self, results: list[Fields]) -> list[Table]:
        out = []
        for name in distinct(results, "problem"):
            mine = select(results, problem=name)
            classes = list(mine[0]["rms"]["paper"])
            rows = []
            for method in mine[0]["kl"]:
                errors = (averaged(mine, "rms", method, on) for on in classes)
                held = averaged(mine, "held_out", method)
                rows.append([draw.look(method).label, averaged(mine, "kl", method), held, *errors])
            head = ["nats", f"KL, true {number(pair(name).kl)}", "held-out loss"]
            head += [f"RMSE on {draw.subscript(on)}" for on in classes]
            title = f"{short(name)}: at the end of training, {mine[0]['rows']:,} rows of p and of q"
            out += [Table(title, head, rows), _path_table(name, mine[0])]
        return out

    def figures(self, results: list[Fields]) -> draw.Figures:
        first = select(results, seed=0)
        return {f"diagnostics-{short(each['problem'])}": _figure(each) for each in first}

    def remarks(self, results: list[Fields]) -> list[str]:
        out = []
        for each in select(results, seed=0):
            path, kl = each["path"], pair(each["problem"]).kl
            best = int(np.argmin(path["held_out"]))
            last = path["accuracy"][-1].values()
            inside = all(LOW <= value <= HIGH for value in last)
            rise = path["held_out"][-1] - path["held_out"][best]
            gap = path["held_out"][-1] - path["train"][-1]
            out.append(
                f"{short(each['problem'])}: at the end all classes lie "
                f"{'within' if inside else 'not within'} the band, the held-out loss is {gap:.2f} "
                f"nats above that of training and {rise:.2f} above its own minimum, at step "
                f"{path['step'][best]}. The KL is {path['kl'][best]:.1f} there and "
                f"{path['kl'][-1]:.1f} at the end; the truth is {kl:.1f}. Solved to convergence, "
                f"with a penalty by held-out rows, it is {each['kl']['free']:.1f}, and by default "
                f"{each['kl']['default']:.1f}.{_failed(path['kl'][-1], kl)}"
            )
        out.append(
            "The band alone does not see that a critic with many coefficients learns the noise of "
            "its rows. The two losses do: read the panels together."
        )
        return out


def _failed(kl: float, truth: float) -> str:
    """A sentence where the training ended far from the truth."""
    if abs(kl / truth - 1) <= 0.1:
        return ""
    side = "above" if kl > truth else "below"
    return f" The training ends {100 * abs(kl / truth - 1):.0f} % {side} the truth."


def training(
    problem: str, X: np.ndarray, y: np.ndarray, stops: list[int], seed: int
) -> Iterator[tuple[int, Any]]:
    """The paper's training after each of some numbers of its steps."""
    for stop in stops:
        model = MDRE.paper(problem, random_state=seed)
        yield stop, model.set_params(solver=replace(model.solver, stop=stop)).fit(X, y)


def class_rows(
    problem: Any, p: np.ndarray, q: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Rows of every class made of rows that were held out."""
    out = {"p": p, "q": q}
    waymarks = [one for each in problem.auxiliaries for one in each.split(p.shape[1])]
    for k, waymark in enumerate(waymarks, start=1):
        out[f"m{k}"] = waymark.fit(p, q).sample(len(p), rng)
    return out


def accuracy_band(axes: Any) -> None:
    """Shade the paper's band of accuracies."""
    axes.axhspan(LOW, HIGH, color=draw.BAND, linewidth=0, zorder=0)
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0, LOW, HIGH], ["0", "50 %", "95 %"])


def _path_table(name: str, first: Fields) -> Table:
    path = first["path"]
    rows = [
        [
            str(step),
            number(path["kl"][i]),
            f"{path['train'][i]:.3f}",
            f"{path['held_out'][i]:.3f}",
            *(f"{100 * value:.0f} %" for value in path["accuracy"][i].values()),
        ]
        for i, step in enumerate(path["step"])
    ]
    columns = ["step", "KL", "training loss", "held-out loss"]
    columns += [f"accuracy of {draw.subscript(on)}" for on in path["accuracy"][0]]
    return Table(f"{short(name)}: along training, seed {first['seed']}", columns, rows)


def _figure(each: Fields) -> draw.Figure:
    figure, axes = draw.panels(3, 2, height=2.5)
    path, classes = each["path"], list(each["truth"])
    count = len(classes) - 2
    colors = {on: draw.class_color(on, count) for on in classes}
    draw.legend(
        figure,
        {f"rows of {draw.subscript(on)}": draw.dots(c) for on, c in colors.items()},
        columns=5 if count <= 3 else 4,
    )
    truth = np.concatenate([each["truth"][on] for on in classes])
    ends = [float(truth.min()), float(truth.max())]
    for panel, method in zip(axes[0], ("paper", "default"), strict=True):
        panel.plot(ends, ends, color=draw.TRUTH, linewidth=5, zorder=1)
        style: Fields = {"markersize": 3, "markeredgewidth": 0, "alpha": 0.75}
        for on in classes:
            estimate = each["estimate"][method][on]
            panel.plot(each["truth"][on], estimate, "o", color=colors[on], **style)
        draw.heading(panel, draw.look(method).label)
        panel.set_xlabel("true log p/q, nats")
        panel.set_ylabel("estimated, nats")
    kl, loss, accuracy, error = axes[1:].flat
    paper, default = draw.look("paper").color, draw.look("default").color
    truth_kl, dashes = pair(each["problem"]).kl, (0, (4, 2))
    kl.axhline(truth_kl, color=draw.TRUTH, linewidth=5, zorder=0)
    for method in ("free", "default"):
        color = draw.look(method).color
        kl.axhline(each["kl"][method], color=color, linestyle=dashes, linewidth=1)
    kl.plot(path["step"], path["kl"], "o-", color=paper, markersize=3.5)
    told = [
        (f"true {truth_kl:.1f}", "#888888"),
        (f"paper's {path['kl'][-1]:.1f}", paper),
        (f"solved {each['kl']['free']:.1f}", draw.look("free").color),
        (f"default {each['kl']['default']:.1f}", default),
    ]
    draw.heading(kl, "KL(p‖q), nats", told)
    kl.set_ylim(bottom=min(0.0, *path["kl"]))
    loss.plot(path["step"], path["train"], "o:", color=paper, markersize=3.5)
    loss.plot(path["step"], path["held_out"], "o-", color=paper, markersize=3.5)
    loss.axhline(each["held_out"]["default"], color=default, linestyle=dashes, linewidth=1)
    told = [("training ···", paper), ("held out —", paper), ("default – –", draw.INK)]
    draw.heading(loss, "Loss, nats", told)
    loss.set_ylim(bottom=0)
    accuracy_band(accuracy)
    for on, color in colors.items():
        for panel, name in ((accuracy, "accuracy"), (error, "rms")):
            numbers = [by_class[on] for by_class in path[name]]
            panel.plot(path["step"], numbers, "o-", color=color, markersize=3, linewidth=1.5)
    draw.heading(accuracy, "Accuracy of every class, held out", [("band 50 % to 95 %", "#5a8f5a")])
    draw.heading(error, "RMSE of log p/q on every class, nats")
    error.set_ylim(bottom=0)
    for panel in axes[1:].flat:
        panel.set_xscale("log")
        panel.set_xticks(path["step"][::2])
        panel.xaxis.set_major_formatter("{x:.0f}")
        panel.minorticks_off()
    for panel in axes[-1]:
        panel.set_xlabel("step of training")
    return figure
