"""Figure 1: two normals far apart, by a binary classifier and by MDRE with a Cauchy class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw as _draw
from .kl import load, mean_and_spread, number
from .record import Found
from .runner import Experiment
from .show import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PROBLEM = "running-example"
_METHODS = ("bdre", "paper", "default")
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
        "likelihood: without any penalty there is no solution, since p and q can be separated."
    )

    def cells(self, quick: bool, seeds: int) -> list[Found]:
        """All methods with one draw: a cell for each seed."""
        return [{"rows": 2_000 if quick else 33_333, "seed": seed} for seed in range(seeds)]

    def run(self, cell: Found) -> Found:
        """Curves of the first seed, and errors of every one."""
        from .. import stack

        problem, seed = load(_PROBLEM), cell["seed"]
        X, y = stack(problem.sample_p(cell["rows"], seed), problem.sample_q(cell["rows"], seed))
        rng = np.random.default_rng([seed, 1])
        fresh = {"p": problem.sample_p(_FRESH, rng), "q": problem.sample_q(_FRESH, rng)}
        x = np.linspace(_LOW, _HIGH, _POINTS)[:, None]
        fresh["line"] = x
        truth = {where: problem.log_ratio(rows) for where, rows in fresh.items()}
        found: Found = {"kl": {}, "rms": {}, "log_ratio": {}, "probability": {}}
        for method, model in _models(problem, seed).items():
            model.fit(X, y)
            estimate = {where: model.log_ratio(rows) for where, rows in fresh.items()}
            found["kl"][method] = estimate["p"].mean()
            found["rms"][method] = {w: _draw.rms(estimate[w] - truth[w]) for w in fresh}
            if seed == 0:
                found["log_ratio"][method] = _draw.few(estimate["line"])
                found["probability"][method] = _probabilities(model, method, x)
        if seed == 0:
            found["x"] = _draw.few(x[:, 0])
            found["truth"] = _draw.few(truth["line"])
            m = problem.auxiliaries[0].fit(X[y == 1], X[y == 0])
            logs = {"p": problem.log_p(x), "q": problem.log_q(x), "m": m.log_density(x)}
            found["density"] = {name: _draw.few(np.exp(log)) for name, log in logs.items()}
        return found

    def tables(self, results: list[Found]) -> list[Table]:
        """KL and errors of the log-ratio, by method."""
        rows = [["truth", number(load(_PROBLEM).kl), "", "", ""]]
        for method in _METHODS:
            errors = [each["rms"][method] for each in results]
            rows.append(
                [
                    _draw.look(method).label,
                    mean_and_spread([each["kl"][method] for each in results]),
                    *(mean_and_spread([e[w] for e in errors]) for w in ("p", "q", "line")),
                ]
            )
        size, seeds = results[0]["rows"], len(results)
        return [
            Table(
                f"{size:,} rows of each sample, {seeds} seed{'s' if seeds > 1 else ''}",
                ["nats", "KL(p‖q)", "RMSE on p", "RMSE on q", "RMSE over (−3, 3)"],
                rows,
                [
                    "RMSE is the root mean square error of log p/q, over 10,000 fresh rows of p "
                    "and of q, and over an even grid."
                ],
            )
        ]

    def figures(self, results: list[Found]) -> dict[str, Figure]:
        """The four panels."""
        first = next((each for each in results if each["seed"] == 0), None)
        if first is None:
            return {}
        figure, axes = _draw.panels(2, 2, height=2.5, sharex=True)
        _draw.legend(
            figure,
            {
                "true log-ratio": _draw.TRUTH,
                **{_draw.look(m).label: _draw.look(m) for m in _METHODS},
            },
            columns=2,
        )
        _class_panel(axes[0, 0], first, "bdre", ("p", "q"))
        _class_panel(axes[1, 0], first, "paper", ("p", "q", "m"))
        _ratio_panel(axes[0, 1], first, ("bdre",))
        _ratio_panel(axes[1, 1], first, ("paper", "default"))
        probability = "P(class | x); densities to one height"
        _draw.heading(axes[0, 0], "(a) BDRE", [(probability, _draw.INK)])
        _draw.heading(axes[1, 0], "(c) MDRE, m = Cauchy(0, 1)", [(probability, _draw.INK)])
        for panel, title, methods in (
            (axes[0, 1], "(b) BDRE", ("bdre",)),
            (axes[1, 1], "(d) MDRE", ("paper", "default")),
        ):
            kls = [(f"{first['kl'][m]:.1f}", _draw.look(m).color) for m in methods]
            told = f"KL, true {load(_PROBLEM).kl:.1f}:"
            _draw.heading(panel, title, [(told, _draw.INK), *kls])
            panel.set_ylim(*_limits(first["truth"]))
        for panel in axes[1]:
            panel.set_xlabel("x")
        return {"figure-1": figure}

    def remarks(self, results: list[Found]) -> list[str]:
        """What the penalty does to BDRE, and where MDRE's error lies."""
        kl = {m: float(np.mean([each["kl"][m] for each in results])) for m in _METHODS}
        return [
            f"BDRE's KL, {kl['bdre']:.1f} of {load(_PROBLEM).kl:.1f}, is that of its penalty: the "
            "weaker the penalty, the steeper the critic, and held-out rows, all of which are "
            "told apart, cannot say how steep it should be.",
            f"The paper's settings give {kl['paper']:.1f}: the logarithm of a Cauchy density is no "
            "quadratic function, and learning it as one costs some accuracy. By default its "
            f"density is known and the critics start from fitted normals: {kl['default']:.1f}.",
        ]


def _models(problem: Any, seed: int) -> dict[str, Any]:
    from .. import MDRE
    from ..baselines import BDRE

    return {
        "bdre": BDRE(random_state=seed),
        "paper": MDRE.paper(problem.name, random_state=seed),
        "default": MDRE(random_state=seed),
    }


def _probabilities(model: Any, method: str, x: np.ndarray) -> Found:
    """P(class | x) by class; for two classes p comes first, as for more."""
    proba = model.predict_proba(x)
    if method == "bdre":
        return {"p": _draw.few(proba[:, 1]), "q": _draw.few(proba[:, 0])}
    names = [name[0] for name in model.class_names_]
    return {name: _draw.few(column) for name, column in zip(names, proba.T, strict=True)}


def _class_panel(axes: Any, first: Found, method: str, classes: tuple[str, ...]) -> None:
    _draw.densities(axes, first["x"], {c: first["density"][c] for c in classes}, peak=0.55)
    for name in classes:
        axes.plot(
            first["x"],
            first["probability"][method][name],
            color=_draw.class_color(name),
            linewidth=2,
        )
    axes.set_ylim(0, 1.05)
    axes.set_yticks([0, 0.5, 1])
    axes.set_ylabel("probability")


def _ratio_panel(axes: Any, first: Found, methods: tuple[str, ...]) -> None:
    axes.plot(first["x"], first["truth"], color=_draw.TRUTH, linewidth=6)
    for method in methods:
        look = _draw.look(method)
        axes.plot(first["x"], first["log_ratio"][method], color=look.color, linestyle=look.dash)
    axes.set_ylabel("log p/q, nats")


def _limits(truth: list[float]) -> tuple[float, float]:
    room = 0.08 * (max(truth) - min(truth))
    return min(truth) - room, max(truth) + room
