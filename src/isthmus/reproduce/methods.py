"""The methods that the tables compare, by name: how each is made, and how it is measured."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import MDRE, baselines
from ..baselines import FDRE, TRE, InfoNCE
from ..comparing import compare
from ..model.adam import Adam
from .record import Fields
from .samples import Samples
from .searched import searched

FRESH_ROWS = 10_000
# Of every network that tells classes apart or is a flow, whatever it is part of; and of those that
# learn a function of time too, which take more.
STEPS = 2_000
TIME_STEPS = 4_000
_PAPER_ROWS = 100_000


@dataclass(frozen=True)
class Method:
    """A way to estimate log p/q: what tables call it, and what it is in one line.

    ``make(problem, seed)`` gives an estimator that is not fitted, or None where the method
    does not apply. All methods get the same rows; ``rows`` is for one that is shown with more
    beside itself. ``needs`` has the packages that must be there. One that takes minutes is run
    ``once``, with the first seed alone.
    """

    label: str
    about: str
    make: Callable[[Any, int], Any]
    rows: int | None = None
    needs: tuple[str, ...] = ()
    once: bool = False

    @property
    def installed(self) -> bool:
        """Whether what it needs is there."""
        return all(find_spec(name) is not None for name in self.needs)


def _baseline(name: str, **settings: Any) -> Callable[[Any, int], Any]:
    """A factory of an estimator in :mod:`isthmus.baselines` with fixed settings."""
    return lambda problem, seed: getattr(baselines, name)(**settings, random_state=seed)


def _paper(problem: Any, seed: int) -> Any:
    return MDRE.paper(problem.name, random_state=seed) if problem.auxiliary_specs else None


def _paper_rows(problem: Any, seed: int) -> Any:
    # In fewer columns all methods have as many.
    return _paper(problem, seed) if problem.dim > 100 else None


def _searched(problem: Any, seed: int) -> Any:
    if problem.name not in searched():
        return None
    return MDRE.paper(problem.name, solver=Adam(**searched()[problem.name]), random_state=seed)


def _solved(problem: Any, seed: int) -> Any:
    # In 160 columns a pass over all classes takes ten seconds, and a solution without a penalty
    # hundreds of them.
    if not problem.auxiliary_specs or problem.dim > 100:
        return None
    return MDRE.paper(problem.name, solver="newton", random_state=seed)


def _multinomial(anchor: Any) -> Callable[[Any, int], Any]:
    """MDRE with the paper's classes and critics, and a penalty by held-out rows."""

    def make(problem: Any, seed: int) -> Any:
        if not problem.auxiliary_specs:
            return None
        settings: Fields = {"critic": "quadratic", "maps": None, "known_density": False}
        return MDRE(problem.auxiliaries, anchor=anchor, **settings, random_state=seed)

    return make


def _tre(anchor: Any) -> Callable[[Any, int], Any]:
    def make(problem: Any, seed: int) -> Any:
        alphas = list(problem.tre_alphas) or None
        return TRE(alphas=alphas, anchor=anchor, random_state=seed)

    return make


def _fdre(problem: Any, seed: int) -> Any:
    # An autoregressive flow of one column is affine, which is no flow at all.
    flow = {"flow": "nsf"} if problem.dim == 1 else {}
    return FDRE(**flow, steps=STEPS, random_state=seed)


def _info_nce(problem: Any, seed: int) -> Any:
    # Only there q is the product of the margins of p; columns are correlated in pairs.
    if problem.name not in ("table2/40", "table2/160", "table2/320"):
        return None
    return InfoNCE(
        columns_x=list(range(0, problem.dim, 2)), batch_size=512, steps=STEPS, random_state=seed
    )


_HELD = "its penalty by held-out rows"
_TIMES = f"at most {TIME_STEPS:,} steps"
_TIME_TRAINING: Fields = {"steps": TIME_STEPS, "batch_size": 512, "lr": 2e-3}
METHODS: dict[str, Method] = {
    "paper": Method(
        "MDRE, the paper's training",
        "MDRE.paper(problem): its classes, critics, rate, batches and number of steps.",
        _paper,
    ),
    "paper-rows": Method(
        "MDRE, the paper's training, 100,000 rows",
        "The same with the authors' number of rows, where other methods have fewer.",
        _paper_rows,
        rows=_PAPER_ROWS,
    ),
    "paper-searched": Method(
        "MDRE, the paper's training, searched",
        "The same with the rate, batches and steps that isthmus reproduce search chose by "
        "held-out loss, and 100,000 rows.",
        _searched,
        rows=_PAPER_ROWS,
    ),
    "paper-newton": Method(
        "MDRE, the paper's model, solved",
        "MDRE.paper(problem, solver='newton'): the same model in its convex form, to convergence.",
        _solved,
    ),
    "free": Method(
        "MDRE without anchors",
        f"The paper's classes and quadratic critics, {_HELD}.",
        _multinomial(None),
    ),
    "anchored": Method(
        "MDRE with normal anchors",
        f"The same from fitted normals, {_HELD}.",
        _multinomial("gaussian"),
    ),
    "default": Method(
        "MDRE, default",
        "compare(p, q): nothing is set. What its answer rests on stands in brackets.",
        lambda problem, seed: MDRE(random_state=seed),
    ),
    "plug-in": Method(
        "plug-in", "PlugIn(): two normals fitted by maximum likelihood.", _baseline("PlugIn")
    ),
    "bdre": Method(
        "BDRE", f"BDRE(): binary logistic regression, quadratic, {_HELD}.", _baseline("BDRE")
    ),
    "bdre-anchored": Method(
        "BDRE with normal anchors",
        f"BDRE(anchor='gaussian'): the same from fitted normals, {_HELD}.",
        _baseline("BDRE", anchor="gaussian"),
    ),
    "tre": Method(
        "TRE",
        "TRE(): a chain of binary classifiers, with the paper's waymarks where it lists them; "
        "penalties by held-out rows.",
        _tre(None),
    ),
    "tre-anchored": Method(
        "TRE with normal anchors",
        "TRE(anchor='gaussian'): every bridge from fitted normals; penalties by held-out rows.",
        _tre("gaussian"),
    ),
    "fdre": Method(
        "F-DRE",
        f"FDRE(): a normalising flow, {STEPS:,} steps, then BDRE on its output.",
        _fdre,
        needs=("torch", "zuko"),
    ),
    "nnbd": Method(
        "nnBD",
        "NNBD('binary-kl', bound=1e6): a network, Bregman divergence with non-negative correction, "
        f"at most {STEPS:,} steps.",
        _baseline("NNBD", loss="binary-kl", bound=1e6, steps=STEPS),
        needs=("torch",),
    ),
    "nnbd-bound": Method(
        "nnBD, its authors' bound",
        "NNBD('pu', bound=5): the ratio of p to q is at most 5, its logarithm at most 1.61.",
        _baseline("NNBD", loss="pu", bound=5.0, steps=STEPS),
        needs=("torch",),
    ),
    "dre-infinity": Method(
        "DRE-∞",
        "DREInfinity(): time scores, from those of two normals on, integrated from q to p.",
        _baseline("DREInfinity"),
    ),
    "dre-infinity-alone": Method(
        "DRE-∞ without anchors",
        "DREInfinity(anchor=None): the same quadratic time scores, from nothing.",
        _baseline("DREInfinity", anchor=None),
    ),
    "dre-infinity-network": Method(
        "DRE-∞, its authors' network",
        "DREInfinity('mlp', anchor=None, objective='time', joint=True): time and data scores by "
        f"one network, {_TIMES}.",
        _baseline(
            "DREInfinity",
            critic="mlp",
            anchor=None,
            objective="time",
            joint=True,
            **_TIME_TRAINING,
        ),
        needs=("torch",),
        once=True,
    ),
    "ctsm": Method(
        "CTSM",
        f"CTSM(): conditional time score matching, an output for each column, {_TIMES}.",
        _baseline("CTSM", **_TIME_TRAINING),
        needs=("torch",),
        once=True,
    ),
    "flow-matching": Method(
        "flow matching",
        f"FlowMatching(): the velocities of p and q by one network, {_TIMES}.",
        _baseline("FlowMatching", **_TIME_TRAINING),
        needs=("torch",),
        once=True,
    ),
    "spectral": Method(
        "spectral",
        "SpectralDRE(): closed form from first and second moments of features, "
        "which held-out rows choose.",
        _baseline("SpectralDRE"),
    ),
    "kliep": Method(
        "KLIEP", "KLIEP(): kernels, importance fitted by likelihood.", _baseline("KLIEP")
    ),
    "ulsif": Method("uLSIF", "ULSIF(): kernels, least squares.", _baseline("ULSIF")),
    "rulsif": Method(
        "RuLSIF", "RULSIF(): kernels, least squares of the relative ratio.", _baseline("RULSIF")
    ),
    "kmm": Method("KMM", "KMM(): kernel means matched.", _baseline("KMM")),
    "nce": Method(
        "eNCE",
        "ExponentialNCE(): one binary problem with the exponential loss, by Newton's method.",
        _baseline("ExponentialNCE", solver="newton"),
    ),
    "infonce": Method(
        "InfoNCE",
        f"InfoNCE(): partners told from other rows' partners, 512 in a batch, {STEPS:,} steps.",
        _info_nce,
        needs=("torch",),
    ),
}


def make(cell: Fields, problem: Any) -> Any:
    """The estimator of a cell's "method", with its number of "steps" where it takes one."""
    return in_steps(METHODS[cell["method"]].make(problem, cell["seed"]), cell)


def in_steps(model: Any, cell: Fields) -> Any:
    """A model whose training, if it has any, takes a cell's number of "steps", if it has one."""
    steps, parameters = cell.get("steps"), model.get_params(deep=False)
    if steps and "steps" in parameters:
        model.set_params(steps=steps)
    if steps and isinstance(parameters.get("solver"), Adam):
        model.set_params(solver=replace(parameters["solver"], steps=steps))
    return model


def measure(cell: Fields) -> Fields:
    """Fit one method to one draw of one problem, and judge it on fresh rows.

    "kl" is the mean log-ratio over fresh rows of p; "rms_p" and "rms_q" are root mean
    square errors of log p/q over fresh rows of p and q where it is finite. For "default" there
    is also the cross-fitted estimate "compare", what it "rests_on", and the checks that "warned".
    """
    samples = Samples.of(cell["problem"], cell)
    fresh = samples.fresh(cell["fresh"])
    found: Fields = {}
    begin = time.process_time()
    if cell["method"] == "default":
        comparison = compare(samples.p, samples.q, random_state=cell["seed"])
        model, kl = comparison.estimator, comparison.kl
        found["compare"], found["std_error"] = kl.value, kl.std_error
        found["low"], found["high"] = kl.low, kl.high
        found["rests_on"] = comparison.rests_on
    else:
        model = make(cell, samples.problem).fit(*samples.stacked)
    found["fit_seconds"] = time.process_time() - begin
    if cell["method"] == "paper-searched":
        found["training"] = searched()[cell["problem"]]
    if cell["method"] == "default":
        found["warned"] = [
            name
            for name, check in comparison.diagnostics.items()
            if check.concerns == "ratio" and check.verdict != "ok"
        ]
    estimates = {side: model.log_ratio(rows) for side, rows in fresh.items()}
    found["kl"] = float(estimates["p"].mean())
    for side, rows in fresh.items():
        truth = samples.problem.log_ratio(rows)
        here = np.isfinite(truth)
        error = (estimates[side] - truth)[here]
        found[f"rms_{side}"] = math.sqrt(float(np.mean(error**2))) if here.any() else None
    return found
