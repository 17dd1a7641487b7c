"""The methods that the tables compare, by name: how each is made, and how it is measured."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import MDRE, baselines
from ..baselines import FDRE, TRE, InfoNCE
from ..comparing import compare
from .adam import MDREByAdam
from .record import Fields
from .samples import Samples

FRESH_ROWS = 10_000


@dataclass(frozen=True)
class Method:
    """A way to estimate log p/q: what tables call it, and what it is in one line.

    ``make(problem, seed)`` gives an estimator that is not fitted, or None where the method
    does not apply. ``most`` has the most rows a side that it is given, from a number of columns
    on, so that a whole table takes about half an hour; ``needs`` the packages that must be there.
    """

    label: str
    about: str
    make: Callable[[Any, int], Any]
    most: tuple[tuple[int, int], ...] = ()
    needs: tuple[str, ...] = ()

    def rows(self, dim: int, rows: int) -> int:
        """Rows a side for this method, where others get ``rows``."""
        return min([rows, *(most for least, most in self.most if dim >= least)])

    @property
    def installed(self) -> bool:
        """Whether what it needs is there."""
        return all(find_spec(name) is not None for name in self.needs)


def _baseline(name: str, **settings: Any) -> Callable[[Any, int], Any]:
    """A factory of an estimator in :mod:`isthmus.baselines` with fixed settings."""
    return lambda problem, seed: getattr(baselines, name)(**settings, random_state=seed)


def _paper(problem: Any, seed: int) -> Any:
    if not problem.auxiliary_specs or problem.dim > 100:
        # There are about as many coefficients as rows: quadratic functions separate the
        # classes, and the likelihood has no maximum to go to.
        return None
    if problem.dim == 1:
        return MDRE.paper(problem.name, random_state=seed)
    return MDRE.paper(problem.name, solver="lbfgs", max_iter=100, random_state=seed)


def _by_adam(problem: Any, seed: int) -> Any:
    if not problem.auxiliary_specs or problem.dim == 1:
        return None
    # A step moves d² coefficients at once: in more columns it must be shorter.
    return MDREByAdam(problem.auxiliaries, lr=0.4 / problem.dim, random_state=seed)


def _tre(problem: Any, seed: int) -> Any:
    if problem.tre_alphas:
        return TRE(alphas=list(problem.tre_alphas), random_state=seed)
    return TRE(random_state=seed)


def _fdre(problem: Any, seed: int) -> Any:
    if problem.dim == 1:
        # An autoregressive flow of one column is affine, which is no flow at all.
        return FDRE("nsf", random_state=seed)
    return FDRE(steps=1000 if problem.dim > 100 else 2000, random_state=seed)


def _info_nce(problem: Any, seed: int) -> Any:
    # Only there q is the product of the margins of p; columns are correlated in pairs.
    if problem.name not in ("table2/40", "table2/160", "table2/320"):
        return None
    return InfoNCE(
        columns_x=list(range(0, problem.dim, 2)), batch_size=512, steps=1000, random_state=seed
    )


METHODS: dict[str, Method] = {
    "paper": Method(
        "MDRE, the paper's model",
        "MDRE.paper(problem): its critics and auxiliaries, solved; at most 100 steps in 40-d.",
        _paper,
    ),
    "paper-adam": Method(
        "MDRE, the paper's training",
        "Its classes, the critics of its code, 2,000 steps of Adam at a rate of 0.4/d from W = I.",
        _by_adam,
    ),
    "default": Method(
        "MDRE, default",
        "compare(p, q): nothing is set.",
        lambda problem, seed: MDRE(random_state=seed),
    ),
    "plug-in": Method(
        "plug-in", "PlugIn(): two normals fitted by maximum likelihood.", _baseline("PlugIn")
    ),
    "bdre": Method(
        "BDRE",
        "BDRE(): binary logistic regression, quadratic, its penalty by held-out likelihood.",
        _baseline("BDRE"),
        most=((300, 10_000),),
    ),
    "tre": Method(
        "TRE",
        "TRE(): a chain of binary classifiers, with the paper's waymarks where it lists them.",
        _tre,
        most=((100, 10_000), (300, 5_000)),
    ),
    "fdre": Method(
        "F-DRE",
        "FDRE(): a normalising flow, then a binary classifier on its output.",
        _fdre,
        most=((100, 10_000), (300, 5_000)),
        needs=("torch", "zuko"),
    ),
    "nnbd": Method(
        "nnBD",
        "NNBD('binary-kl', bound=1e6): a network, Bregman divergence with non-negative correction.",
        _baseline("NNBD", loss="binary-kl", bound=1e6),
        needs=("torch",),
    ),
    "dre-infinity": Method(
        "DRE-∞",
        "DREInfinity(): time scores, quadratic, integrated along a path from q to p.",
        _baseline("DREInfinity"),
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
        most=((40, 2_000), (100, 1_000)),
    ),
    "infonce": Method(
        "InfoNCE",
        "InfoNCE(): partners told from other rows' partners, 512 in a batch.",
        _info_nce,
        needs=("torch",),
    ),
}


def make(cell: Fields, problem: Any) -> Any:
    """The estimator of a cell's "method", with its number of "steps" where it takes one."""
    model = METHODS[cell["method"]].make(problem, cell["seed"])
    if cell.get("steps") and "steps" in model.get_params(deep=False):
        model.set_params(steps=cell["steps"])
    return model


def measure(cell: Fields) -> Fields:
    """Fit one method to one draw of one problem, and judge it on fresh rows.

    "kl" is the mean log-ratio over fresh rows of p; "rms_p" and "rms_q" are root mean
    square errors of log p/q over fresh rows of p and q where it is finite. For "default" there
    is also the cross-fitted estimate "compare", and the checks that "warned".
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
    else:
        model = make(cell, samples.problem).fit(*samples.stacked)
    found["fit_seconds"] = time.process_time() - begin
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
