"""Appendix D: how sure log p/q is, by Hamiltonian Monte Carlo and by Laplace's method."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import MDRE, problems, stack, uncertainty
from . import draw
from .kl import covers
from .record import Fields
from .results import select
from .runner import Experiment
from .show import Table

_PROBLEMS = {"running-example": "N(−1, .1) against N(1, .2)",
             "running-example-swapped": "N(−1, .2) against N(1, .1)"}  # fmt: skip
_METHODS = ("nuts", "laplace")
_SAME = ("problem", "prior", "seed")
_PRIORS = {"fit": "standardised", "raw": "raw"}
_LIGHT, _MEAN, _TRUTH, _P, _Q = "#9ecae1", "#1b7837", "#999999", "#0072b2", "#d55e00"


_WHY_MISSED = (
    " A posterior says how sure the quadratic function is, not whether the truth is one: the "
    "logarithm of the Cauchy auxiliary is not, and learning it as one moves log p/q by more than "
    "the posterior is wide. The paper's plots of ± 3 standard deviations have the same silence."
)


class Bayes(Experiment):
    """Posteriors of log p/q of the running example in both orders of the scales."""

    name = "bayes"
    title = "Appendix D: posterior of log p/q in the running example"
    about = (
        "The paper puts a standard normal prior on the classifier's parameters and samples the "
        "posterior by Hamiltonian Monte Carlo from the maximum-likelihood fit. Here NUTS does, and "
        "Laplace's method stands beside it. The prior is on coefficients that are standardised "
        "for each class; the literal one, on the coefficients of x², x and 1, is in the table: it "
        "contradicts the data, in which the coefficient of x² is −50."
    )

    def cells(self, quick: bool, seeds: int) -> list[Fields]:
        """Both problems, both priors, NUTS (if it is installed) and Laplace, for one sample."""
        methods = _METHODS if find_spec("nutpie") and find_spec("arviz") else ("laplace",)
        size: Fields = {"rows": 500, "draws": 250} if quick else {"rows": 10_000, "draws": 1000}
        return [
            {"problem": problem, "method": method, "prior": prior, **size, "seed": seed}
            for problem in _PROBLEMS
            for prior in _PRIORS
            for method in methods
            for seed in range(1 if quick or prior == "raw" else seeds)
        ]

    def run(self, cell: Fields) -> Fields:
        """Mean and standard deviation of log p/q over x, and the posterior of the KL."""
        problem = problems.load(cell["problem"])
        rng = np.random.default_rng(cell["seed"])
        p, q = problem.sample_p(cell["rows"], rng), problem.sample_q(cell["rows"], rng)
        model = MDRE.paper(cell["problem"], solver="newton", l2=1.0, random_state=cell["seed"])
        model.fit(*stack(p, q))
        settings: Fields = {"prior": cell["prior"], "random_state": cell["seed"]}
        found: Fields = {}
        if cell["method"] == "nuts":
            settings |= {"draws": cell["draws"], "cores": 1, "progress": False}
            posterior: Any = uncertainty.nuts(model, **settings)
            found = {name: getattr(posterior, name) for name in ("rhat", "ess", "divergences")}
        else:
            posterior = uncertainty.laplace(model, **settings)
        x = np.linspace(-2.0, 2.0, 161)
        mean, std = posterior.log_ratio(x, return_std=True)
        kl = posterior.divergence("kl", p, q)
        found |= {"x": x, "mean": mean, "std": std, "truth": problem.log_ratio(x[:, None])}
        return found | {
            "kl": kl.value,
            "kl_low": kl.low,
            "kl_high": kl.high,
            "kl_truth": problem.kl,
        }

    def tables(self, results: list[Fields]) -> list[Table]:
        rows = []
        for each in results:
            by_x = dict(zip([round(x, 3) for x in each["x"]], each["std"], strict=True))
            row = [_PROBLEMS[each["problem"]], _PRIORS[each["prior"]], each["method"]]
            row += [str(each["seed"]), f"{each['kl']:.1f}"]
            low, high = each["kl_low"], each["kl_high"]
            row.append(f"at least {low:.1f}" if high is None else f"{low:.1f} to {high:.1f}")
            row.append("yes" if _holds(each) else "no")
            row.append(f"{each['kl_truth']:.1f}")
            row += [f"{by_x[x]:.2f}" for x in (-1.0, 0.0, 1.0)]
            for name, digits in (("rhat", 3), ("ess", 0), ("divergences", 0)):
                row.append(f"{each[name]:.{digits}f}" if name in each else "–")
            rows.append(row)
        columns = ["p and q", "prior", "method", "seed", "KL", "95 % of the posterior"]
        columns += ["holds the truth", "truth"]
        columns += [f"sd at {x}" for x in ("−1", "0", "1")] + ["R-hat", "ESS", "divergences"]
        notes = [
            "sd is the posterior's standard deviation of log p/q. An interval that is wider than "
            "the truth, or has one end, does not count as holding it."
        ]
        return [Table("Posterior of KL(p‖q) and of log p/q", columns, rows, notes)]

    def figures(self, results: list[Fields]) -> draw.Figures:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 6.4), layout="constrained")
        axes = figure.subplots(2, 2, sharex=True)
        for column, problem in enumerate(_PROBLEMS):
            mine = select(results, problem=problem, prior="fit", seed=0)
            first = {each["method"]: each for each in mine}
            if not first:
                continue
            top, bottom = axes[:, column]
            shown = first.get("nuts", first.get("laplace", {}))
            low, high = _band(shown)
            band = f"± 3 sd, {shown['method']}"
            top.fill_between(shown["x"], low, high, color=_LIGHT, label=band)
            top.plot(shown["x"], shown["truth"], color=_TRUTH, linewidth=4, label="truth")
            top.plot(shown["x"], shown["mean"], color=_MEAN, label=f"mean, {shown['method']}")
            if "laplace" in first:
                labels = ("± 3 sd, laplace", None)
                for edge, label in zip(_band(first["laplace"]), labels, strict=True):
                    top.plot(shown["x"], edge, ":", color="black", linewidth=1, label=label)
            for method, each in first.items():
                variance = [value**2 for value in each["std"]]
                style = "-" if method == "nuts" else ":"
                bottom.plot(each["x"], variance, style, color="black", label=method)
            for at, name, color in ((-1.0, "mean of p", _P), (1.0, "mean of q", _Q)):
                bottom.axvline(at, color=color, linewidth=4, alpha=0.5, label=name)
            top.set_title(_PROBLEMS[problem])
            bottom.set(yscale="log", xlabel="x")
            if not column:
                for panel, label in ((top, "log p(x)/q(x), nats"), (bottom, "variance of log p/q")):
                    panel.set_ylabel(label)
                    panel.legend()
        return {"posterior": figure}

    def remarks(self, results: list[Fields]) -> list[str]:
        out = []
        worst = [
            abs(a / b - 1.0)
            for each in select(results, method="nuts")
            for other in select(results, method="laplace", **{k: each[k] for k in _SAME})
            for a, b in zip(each["std"], other["std"], strict=True)
        ]
        if worst:
            out.append(
                f"Laplace's standard deviations differ from those of NUTS by at most "
                f"{100 * max(worst):.1f} %."
            )
        for problem, words in _PROBLEMS.items():
            mine = select(results, problem=problem, prior="fit", method="nuts")
            if mine:
                held = sum(map(_holds, mine))
                why = "" if held == len(mine) else _WHY_MISSED
                out.append(f"{words}: {held} of {len(mine)} intervals of NUTS hold the truth.{why}")
        raw = select(results, prior="raw")
        if raw:
            out.append(
                "A standard normal prior on the coefficients of x², x and 1 themselves gives "
                f"KL = {raw[0]['kl']:.1f} where the truth is {raw[0]['kl_truth']:.1f}: a "
                "coefficient of −50 is fifty standard deviations of such a prior away. The paper "
                "reports accurate ratios, and does not say in which units its prior is."
            )
        return out


def _holds(found: Fields) -> bool:
    """Whether the interval of the KL holds the truth, and says something."""
    return covers(found["kl_low"], found["kl_high"], found["kl_truth"])


def _band(found: Fields) -> tuple[np.ndarray, np.ndarray]:
    mean, std = np.array(found["mean"]), np.array(found["std"])
    return mean - 3.0 * std, mean + 3.0 * std
