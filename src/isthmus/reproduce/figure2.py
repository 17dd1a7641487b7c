"""Figure 2: the bridges of TRE where they were trained, and where they are used."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import draw as _draw
from .kl import load, mean_and_spread, number
from .record import Found
from .runner import Experiment
from .show import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PROBLEM = "running-example"
CLASSES = ("p", "m1", "m2", "m3", "q")
BRIDGES = tuple(itertools.pairwise(CLASSES))
STEPS, BATCH, RATE = 2_000, 500, 0.01
_FRESH, _DOTS, _POINTS = 10_000, 60, 241
_METHODS = ("tre", "tre-adam")


class Figure2(Experiment):
    """Four bridges of TRE and their sum on samples of every class."""

    name = "figure-2"
    title = "Figure 2: TRE's bridges where they were trained and where they are used"
    about = (
        "p = N(−1, 0.1) and q = N(1, 0.2) with three waymarks by linear mixing, sqrt(1 − α²) x_p + "
        "α x_q with α = 1/4, 1/2, 3/4 (the paper does not print its weights). Waymarks of "
        "normals are normal, so the true log-ratio of every bridge is known. The paper's three "
        "rows of panels are three columns here: each bridge on samples of its own denominator, "
        "each bridge on samples of p and q, and the sum of all on samples of every class. TRE "
        "is solved to convergence with penalties chosen by held-out likelihood; beside it "
        f"are the same bridges after {STEPS:,} steps of Adam at a rate of {RATE} from zero, which "
        "is how such classifiers are often trained."
    )

    def cells(self, quick: bool, seeds: int) -> list[Found]:
        """A cell for each seed."""
        return [{"rows": 2_000 if quick else 20_000, "seed": seed} for seed in range(seeds)]

    def run(self, cell: Found) -> Found:
        """Errors of every bridge and of the sum on fresh rows of every class."""
        from .. import stack

        problem, seed = load(PROBLEM), cell["seed"]
        p, q = (draw(cell["rows"], seed) for draw in (problem.sample_p, problem.sample_q))
        exact = waymark_densities(problem)
        rng = np.random.default_rng([seed, 1])
        fresh = {name: exact[name].sample(_FRESH, rng) for name in CLASSES}
        logs = {
            on: {name: exact[name].log_density(rows) for name in CLASSES}
            for on, rows in fresh.items()
        }
        tre = make_tre(problem, seed).fit(*stack(p, q))
        bridges = {
            "tre": tre.bridge_log_ratios,
            "tre-adam": adam_tre(problem, p, q, np.random.default_rng([seed, 2])),
        }
        found: Found = {"kl": {}, "rms_bridge": {}, "rms_sum": {}, "l2": tre.l2_}
        found["accuracy"] = tre.bridge_accuracy_
        estimates = {m: {on: f(rows) for on, rows in fresh.items()} for m, f in bridges.items()}
        truth = {
            on: np.column_stack([logs[on][a] - logs[on][b] for a, b in BRIDGES]) for on in CLASSES
        }
        for method, values in estimates.items():
            found["kl"][method] = values["p"].sum(axis=1).mean()
            found["rms_bridge"][method] = {
                on: [_draw.rms(e) for e in (values[on] - truth[on]).T] for on in CLASSES
            }
            found["rms_sum"][method] = {
                on: _draw.rms((values[on] - truth[on]).sum(axis=1)) for on in CLASSES
            }
        if seed == 0:
            x = np.linspace(-1.5, 1.8, _POINTS)[:, None]
            found["x"] = _draw.few(x[:, 0])
            found["density"] = {n: _draw.few(np.exp(exact[n].log_density(x))) for n in CLASSES}
            some = slice(_DOTS)
            found["dots"] = {on: _draw.few(rows[some, 0]) for on, rows in fresh.items()}
            found["truth"] = {on: [_draw.few(c) for c in truth[on][some].T] for on in CLASSES}
            found["estimate"] = {
                method: {on: [_draw.few(c) for c in values[on][some].T] for on in CLASSES}
                for method, values in estimates.items()
            }
        return found

    def tables(self, results: list[Found]) -> list[Table]:
        """Errors of the bridges on every class, and of the sum."""
        where = [f"on {_draw.subscript(name)}" for name in CLASSES]
        rows = []
        for method in _METHODS:
            for k, (a, b) in enumerate(BRIDGES):
                values = [[each["rms_bridge"][method][on][k] for each in results] for on in CLASSES]
                name = f"{_draw.subscript(a)}/{_draw.subscript(b)}"
                rows.append([_draw.look(method).label, name, *map(mean_and_spread, values)])
        sums = []
        for method in _METHODS:
            values = [[each["rms_sum"][method][on] for each in results] for on in CLASSES]
            kl = mean_and_spread([each["kl"][method] for each in results])
            sums.append([_draw.look(method).label, kl, *map(mean_and_spread, values)])
        size = results[0]["rows"]
        note = (
            "Root mean square error in nats over 10,000 fresh rows of each class. A bridge is "
            "trained on its two neighbours; elsewhere it is used beyond its data."
        )
        return [
            Table(
                f"RMSE of each bridge's log-ratio, {size:,} rows of each class",
                ["method", "bridge", *where],
                rows,
                [note],
            ),
            Table(
                f"KL(p‖q), true {number(load(PROBLEM).kl)}, and RMSE of log p/q",
                ["method", "KL(p‖q)", *where],
                sums,
            ),
        ]

    def figures(self, results: list[Found]) -> dict[str, Figure]:
        """Columns: bridges at home, bridges on p and q, their sum."""
        first = next((each for each in results if each["seed"] == 0), None)
        if first is None:
            return {}
        figure, axes = _draw.panels(5, 3, height=1.85)
        looks = {_draw.look(m).label: _draw.dots(_draw.look(m).color) for m in _METHODS}
        _draw.legend(figure, {"truth": _draw.TRUTH, **looks})
        density = first["density"]
        _draw.densities(axes[0, 0], first["x"], density)
        _draw.densities(axes[0, 1], first["x"], {name: density[name] for name in ("p", "q")})
        _draw.heading(axes[0, 0], "p, three waymarks and q")
        _draw.heading(axes[0, 1], "p and q alone")
        for panel, head in zip(axes[0], ("Trained here", "Used here", "The sum"), strict=True):
            _draw.above(panel, head)
        for panel in axes[0, :2]:
            panel.set_ylabel("density", fontsize=9)
            panel.set_yticks([])
        for k, (a, b) in enumerate(BRIDGES):
            name = f"{_draw.subscript(a)}/{_draw.subscript(b)}"
            for column, classes in ((0, (b,)), (1, ("p", "q"))):
                panel = axes[k + 1, column]
                self._bridge_panel(panel, first, k, classes)
                on = " and ".join(map(_draw.subscript, classes))
                errors = [(rms_on(first, m, k, classes), _draw.look(m).color) for m in _METHODS]
                told = [("RMSE", _draw.INK), *((_draw.compact(e), c) for e, c in errors)]
                _draw.heading(panel, f"log {name} on {on}", told)
        for k, on in enumerate(CLASSES):
            self._sum_panel(axes[k, 2], first, on)
        for panel in axes[-1]:
            panel.set_xlabel("x", fontsize=9)
        for panel in axes[1:, 0]:
            panel.set_ylabel("nats", fontsize=9)
        return {"figure-2": figure}

    def _bridge_panel(self, panel: Any, first: Found, k: int, classes: Sequence[str]) -> None:
        for on in classes:
            _draw.truth_and_estimates(
                panel,
                first["dots"][on],
                first["truth"][on][k],
                {m: first["estimate"][m][on][k] for m in reversed(_METHODS)},
            )

    def _sum_panel(self, panel: Any, first: Found, on: str) -> None:
        total = np.sum(first["truth"][on], axis=0)
        _draw.truth_and_estimates(
            panel,
            first["dots"][on],
            total,
            {m: np.sum(first["estimate"][m][on], axis=0) for m in reversed(_METHODS)},
        )
        errors = [(_draw.compact(first["rms_sum"][m][on]), _draw.look(m).color) for m in _METHODS]
        title = f"log p/q on {_draw.subscript(on)}"
        _draw.heading(panel, title, [("RMSE", _draw.INK), *errors])

    def remarks(self, results: list[Found]) -> list[str]:
        """How much of the paper's distribution shift is left in a converged TRE."""
        home, away, total = (
            {m: float(np.mean(values)) for m, values in zip(_METHODS, each, strict=True)}
            for each in _means(results)
        )
        kl = {m: float(np.mean([each["kl"][m] for each in results])) for m in _METHODS}
        return [
            "Bridges that have converged show the shift too: on average over the bridges their "
            f"error is {home['tre']:.2f} nats on their own denominator and {away['tre']:.2f} on p "
            "and q, where log-ratios vary over tens of nats. That of the sum, on p and q, is "
            f"{total['tre']:.1f}, and the KL is {kl['tre']:.1f} of {load(PROBLEM).kl:.1f}; it "
            "differs from draw to draw.",
            f"After {STEPS:,} steps of Adam the three errors are {home['tre-adam']:.1f}, "
            f"{away['tre-adam']:.1f} and {total['tre-adam']:.1f}, and the KL is "
            f"{kl['tre-adam']:.1f}: unfinished training has the pattern of the paper's figure, "
            "good near a bridge's own rows and bad elsewhere, several times over.",
        ]


def waymark_densities(problem: Any) -> dict[str, Any]:
    """The normals that the waymarks of two normals are, by class.

    TRE mixes about the point midway between the means.
    """
    from ..problems import Gaussian

    p, q = problem.p, problem.q
    centre = 0.5 * (p.loc + q.loc)
    var_p, var_q = (float(np.exp(each.scatter.log_det)) for each in (p, q))
    out = {"p": p, "q": q}
    for k, alpha in enumerate(problem.tre_alphas, start=1):
        keep = np.sqrt(1.0 - alpha**2)
        mean = centre + keep * (p.loc - centre) + alpha * (q.loc - centre)
        out[f"m{k}"] = Gaussian(mean, np.sqrt(keep**2 * var_p + alpha**2 * var_q))
    return {name: out[name] for name in CLASSES}


def make_tre(problem: Any, seed: int) -> Any:
    """TRE with the problem's waymarks, solved to convergence."""
    from ..baselines import TRE

    return TRE(alphas=list(problem.tre_alphas), random_state=seed)


def adam_tre(
    problem: Any, p: np.ndarray, q: np.ndarray, rng: np.random.Generator
) -> Callable[[np.ndarray], np.ndarray]:
    """The same bridges by few steps of Adam: a function that gives them at rows."""
    classes = [p, *waymark_rows(problem, p, q, rng), q]
    critics = [adam(classes[k : k + 2], rng) for k in range(len(classes) - 1)]

    def bridges(x: np.ndarray) -> np.ndarray:
        return np.column_stack([(h := critic(x))[:, 0] - h[:, 1] for critic in critics])

    return bridges


def waymark_rows(
    problem: Any, p: np.ndarray, q: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """Rows of the waymarks, as many as of p; here the point midway between the means is zero."""
    from ..auxiliaries import LinearMixing

    mixing = (LinearMixing([alpha], "sqrt").fit(p, q) for alpha in problem.tre_alphas)
    return [each.sample(len(p), rng) for each in mixing]


def adam(
    classes: Sequence[np.ndarray], rng: np.random.Generator
) -> Callable[[np.ndarray], np.ndarray]:
    """Multinomial regression on 1, x, x² by Adam from zero, as a function that gives all logits.

    Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015, with its default
    moments. Every step sees a batch of each class.
    """
    weight = np.zeros((len(classes), 3))
    first, second = np.zeros_like(weight), np.zeros_like(weight)
    label = np.repeat(np.eye(len(classes)), BATCH, axis=0)
    for step in range(1, STEPS + 1):
        x = np.concatenate([rows[rng.integers(len(rows), size=BATCH), 0] for rows in classes])
        features = np.stack([np.ones_like(x), x, x**2], axis=1)
        logit = features @ weight.T
        share = np.exp(logit - logit.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        gradient = (share - label).T @ features / len(x)
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        length = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        weight -= RATE * length

    def critics(rows: np.ndarray) -> np.ndarray:
        x = rows[:, 0]
        return np.asarray(np.stack([np.ones_like(x), x, x**2], axis=1) @ weight.T)

    return critics


def rms_on(first: Found, method: str, k: int, classes: Sequence[str]) -> float:
    """Error of a bridge over samples of several classes of one size."""
    return _draw.rms([first["rms_bridge"][method][on][k] for on in classes])


def _means(results: list[Found]) -> list[list[list[float]]]:
    """Errors at home, on p and q, and of the sum on p and q, by method."""
    out: list[list[list[float]]] = [[], [], []]
    for method in _METHODS:
        bridge = [each["rms_bridge"][method] for each in results]
        out[0].append([e[b][k] for e in bridge for k, (_, b) in enumerate(BRIDGES)])
        out[1].append([e[on][k] for e in bridge for k in range(len(BRIDGES)) for on in ("p", "q")])
        out[2].append([each["rms_sum"][method][on] for each in results for on in ("p", "q")])
    return out
