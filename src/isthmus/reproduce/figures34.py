"""Figures 3 and 4: MDRE on samples of every class, with a Cauchy and with TRE's waymarks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import MDRE, stack
from ..auxiliaries import LinearMixing
from . import draw
from .figure2 import CLASSES, adam_tre, make_tre, waymark_densities
from .methods import in_steps
from .record import Fields
from .results import averaged, few, few_by_class, mean, number, rms
from .runner import Experiment
from .samples import Samples, pair
from .show import Table

_PROBLEM = "running-example"
_FRESH, _DOTS, _POINTS = 10_000, 60, 241
# Of a Cauchy's rows, which reach to ten thousands, those that a figure can show.
_MIDDLE = 0.9


class _OnEveryClass(Experiment):
    """What both figures share: dots of every method on samples of every class."""

    classes: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    sizes = (2_000, 33_333)
    quick_steps = 2_000
    span = (-1.5, 1.8)
    note = "RMSE over 10,000 fresh rows of each class."

    def exact(self, problem: Any) -> dict[str, Any]:
        """Distributions of all classes."""
        raise NotImplementedError

    def estimates(self, problem: Any, p: np.ndarray, q: np.ndarray, cell: Fields) -> dict[str, Any]:
        """Functions that give log p/q at rows, by method."""
        raise NotImplementedError

    def run(self, cell: Fields) -> Fields:
        """KL and errors of log p/q on fresh rows of every class."""
        samples, seed = Samples.of(_PROBLEM, cell), cell["seed"]
        problem, exact = samples.problem, self.exact(samples.problem)
        fresh = {
            name: middle(exact[name].sample(_FRESH, samples.rng), name) for name in self.classes
        }
        truth = {on: problem.log_ratio(rows) for on, rows in fresh.items()}
        found: Fields = {"kl": {}, "rms": {}, "estimate": {}}
        for method, log_ratio in self.estimates(problem, samples.p, samples.q, cell).items():
            values = {on: log_ratio(rows) for on, rows in fresh.items()}
            found["kl"][method] = values["p"].mean()
            found["rms"][method] = {on: rms(values[on] - truth[on]) for on in self.classes}
            if seed == 0 and method in self.drawn:
                found["estimate"][method] = few_by_class(values, _DOTS)
        if seed == 0:
            x = np.linspace(*self.span, _POINTS)[:, None]
            found["x"] = few(x[:, 0])
            densities = {name: np.exp(exact[name].log_density(x)) for name in self.classes}
            found["density"] = few_by_class(densities)
            found["dots"] = few_by_class({on: rows[:, 0] for on, rows in fresh.items()}, _DOTS)
            found["truth"] = few_by_class(truth, _DOTS)
        return found

    def tables(self, results: list[Fields]) -> list[Table]:
        rows = [["truth", number(pair(_PROBLEM).kl), *[""] * len(self.classes)]]
        for method in results[0]["rms"]:
            errors = (averaged(results, "rms", method, on) for on in self.classes)
            rows.append([draw.look(method).label, averaged(results, "kl", method), *errors])
        columns = ["nats", "KL(p‖q)", *(f"on {self.label(name)}" for name in self.classes)]
        title = f"KL and RMSE of log p/q from {results[0]['rows']:,} rows of each class"
        return [Table(title, columns, rows, [self.note])]

    def figure(self, first: Fields) -> draw.Figure:
        figure, axes = draw.panels(-(-(len(self.classes) + 1) // 2), 2, height=2.25)
        draw.method_legend(figure, self.drawn, dotted=True, columns=2)
        draw.densities(axes.flat[0], first["x"], first["density"])
        draw.heading(axes.flat[0], "Classes")
        axes.flat[0].set_yticks([])
        axes.flat[0].set_ylabel("density")
        for panel, on in zip(axes.flat[1:], self.classes, strict=False):
            estimates = {m: first["estimate"][m][on] for m in self.drawn}
            draw.truth_and_estimates(panel, first["dots"][on], first["truth"][on], estimates)
            errors = {m: first["rms"][m][on] for m in self.drawn}
            draw.error_heading(panel, f"On samples of {self.label(on)}", errors)
            panel.set_ylabel("log p/q, nats")
        for panel in axes.flat[1 + len(self.classes) :]:
            panel.remove()
        for panel in axes[-1]:
            panel.set_xlabel("x")
        return figure

    def label(self, name: str) -> str:
        """Name of a class as it stands in tables and figures."""
        return "m" if name == "m1" and len(self.classes) == 3 else draw.subscript(name)

    def mean_errors(self, results: list[Fields]) -> dict[str, dict[str, float]]:
        """Errors by method and class, over the seeds."""
        return {
            m: {on: mean(results, "rms", m, on) for on in self.classes} for m in results[0]["rms"]
        }


class Figure3(_OnEveryClass):
    """MDRE with a Cauchy."""

    name = "figure-3"
    title = "Figure 3: MDRE with a Cauchy distribution, on samples of every class"
    about = (
        "p = N(−1, 0.1), q = N(1, 0.2) and m = Cauchy(0, 1): log p/q on fresh samples of p, m "
        "and q, by the paper's training (52,800 steps of Adam), by its model solved to "
        "convergence, and with the same m and everything else automatic (its density is known; "
        "critics start from fitted normals)."
    )
    classes = ("p", "m1", "q")
    drawn = ("paper", "paper-newton", "default")
    span = (-3.0, 3.0)
    note = (
        "RMSE over 10,000 fresh rows of each class; of m over the middle 90 % of them, since a "
        "Cauchy's others lie up to thousands of times further out."
    )

    def exact(self, problem: Any) -> dict[str, Any]:
        """p, q and the Cauchy."""
        m = problem.auxiliaries[0].fit(np.zeros((2, 1)), np.ones((2, 1)))
        return {"p": problem.p, "q": problem.q, "m1": m}

    def estimates(self, problem: Any, p: np.ndarray, q: np.ndarray, cell: Fields) -> dict[str, Any]:
        """The paper's training, its model solved, and MDRE by default."""
        seed = cell["seed"]
        models = {
            "paper": in_steps(MDRE.paper(problem.name, random_state=seed), cell),
            "paper-newton": MDRE.paper(problem.name, solver="newton", random_state=seed),
            "default": MDRE(problem.auxiliaries, random_state=seed),
        }
        return {name: model.fit(*stack(p, q)).log_ratio for name, model in models.items()}

    def remarks(self, results: list[Fields]) -> list[str]:
        error = self.mean_errors(results)
        solved, default = error["paper-newton"], error["default"]
        return [
            f"By the paper's training the error is {error['paper']['p']:.1f} nats on p, "
            f"{error['paper']['m1']:.1f} on m and {error['paper']['q']:.1f} on q; by its model, "
            f"solved to convergence, {solved['p']:.1f}, {solved['m1']:.1f} and {solved['q']:.1f}; "
            "with the density of m known and fitted normals to start from it is "
            f"{default['p']:.1f}, {default['m1']:.1f} and {default['q']:.1f}.",
        ]


class Figure4(_OnEveryClass):
    """MDRE with TRE's waymarks, and TRE."""

    name = "figure-4"
    title = "Figure 4: MDRE with TRE's waymarks, on samples of every class"
    about = (
        "The waymarks of Figure 2 as auxiliaries of MDRE: log p/q on fresh samples of every class. "
        "TRE and MDRE stand beside each other on equal terms, twice: both with critics of the same "
        "form, solved to convergence with penalties chosen by held-out rows; and both trained "
        "as the paper's authors train MDRE in one column, by 52,800 steps of Adam without a "
        "penalty. The last row starts from fitted normals."
    )
    classes = CLASSES
    drawn = ("tre", "free", "paper", "default")

    def exact(self, problem: Any) -> dict[str, Any]:
        """p, q and the normals in between."""
        return waymark_densities(problem)

    def estimates(self, problem: Any, p: np.ndarray, q: np.ndarray, cell: Fields) -> dict[str, Any]:
        """TRE and MDRE by held-out penalties and by the authors' steps, and MDRE by default."""
        (X, y), seed = stack(p, q), cell["seed"]
        waymarks = LinearMixing(list(problem.tre_alphas), "sqrt", paired=True)
        paper = MDRE.paper(problem.name, random_state=seed).set_params(auxiliaries=waymarks)
        free = MDRE(waymarks, critic="quadratic", anchor=None, maps=None, random_state=seed)
        bridges = adam_tre(problem, p, q, cell)
        return {
            "tre": make_tre(problem, seed).fit(X, y).log_ratio,
            "free": free.fit(X, y).log_ratio,
            "tre-adam": lambda x: bridges(x).sum(axis=1),
            "paper": in_steps(paper, cell).fit(X, y).log_ratio,
            "default": MDRE(waymarks, random_state=seed).fit(X, y).log_ratio,
        }

    def remarks(self, results: list[Fields]) -> list[str]:
        error = {m: rms(list(e.values())) for m, e in self.mean_errors(results).items()}
        told = []
        for ours, theirs, how in (
            ("free", "tre", "Solved to convergence, with penalties by held-out rows,"),
            ("paper", "tre-adam", "Trained by the authors' steps,"),
        ):
            each = [rms(list(one["rms"][m].values())) for one in results for m in (ours, theirs)]
            better = sum(a < b for a, b in zip(each[::2], each[1::2], strict=True))
            told.append(
                f"{how} MDRE errs by {error[ours]:.1f} nats over all classes and TRE by "
                f"{error[theirs]:.1f}; MDRE errs less in {better} of {len(results)} draws."
            )
        return [
            *told,
            f"By default MDRE's error is {error['default']:.1f}: it starts from fitted normals, "
            "which here are the truth's own family.",
        ]


def middle(rows: np.ndarray, name: str) -> np.ndarray:
    """The rows of a Cauchy within the middle 90 % of its mass; of other classes all."""
    if name != "m1" or np.abs(rows).max() < 100:
        return rows
    reach = np.quantile(np.abs(rows), _MIDDLE)
    return np.asarray(rows[np.abs(rows[:, 0]) <= reach])
