"""DRE-infinity: the log-ratio as an integral of time scores.

Choi, Meng, Song & Ermon, "Density Ratio Estimation via Infinitesimal
Classification", AISTATS 2022, arXiv:2111.11010.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..data.distinct import Distinct
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_flag, check_number, check_option
from ..estimator import RatioEstimator
from ..model.checks import check_verbose
from ..neural import require_torch
from ..typing import Array
from .parameters import NetworkParameters, check_unless_auto
from .time_network import fit_network
from .time_quadratic import fit_quadratic
from .time_score import FORMS, fit_path, integrate

CRITICS = ("gaussian", "quadratic", "mlp")


@dataclass(eq=False, repr=False)
class DREInfinity(NetworkParameters, RatioEstimator):
    r"""Estimate log p/q by integrating time scores from q to p.

    A row of q and a row of p make x_t = b(t) x_q + a(t) x_p, whose density p_t goes
    from q at t = 0 to p at t = 1. With the time score s(x, t) = d/dt log p_t(x)

    .. math:: \log \frac{p(x)}{q(x)} = \int_0^1 s(x, t) \, dt .

    The time score is the minimum of

    .. math::
        \int_0^1 \mathrm{E}_{p_t}\bigl[\lambda s^2 + 2 \, \partial_t (\lambda s)\bigr] dt
        + 2 \, \mathrm{E}_q[\lambda(0) s(x, 0)] - 2 \, \mathrm{E}_p[\lambda(1) s(x, 1)] ,

    or, integrated by parts along the line from x_q to x_p, of

    .. math::
        \int_0^1 \lambda(t) \, \mathrm{E}\bigl[s(x_t, t)^2
        - 2 \nabla s(x_t, t)' \, \dot x_t \bigr] dt ,

    which has neither a derivative in time nor terms at the ends, and takes less work.
    The weight is :math:`\lambda = 1 / \sqrt{1 + \mathrm{E} s^2}`, with the mean square
    taken from a path between two normals; times are drawn in proportion to its inverse.

    Parameters
    ----------
    critic : {"quadratic", "gaussian", "mlp"}, default "quadratic"
        The time score. "gaussian" takes p and q as normal, so that every p_t is normal
        and its time score is known from the moments. "quadratic" adds a quadratic
        function of x for each time, found by linear algebra; how much of it, rows that
        are held out decide. "mlp" is the paper's: a network of x and of the time.
    path : {"sqrt", "linear"}, default "sqrt"
        ``b = cos(pi t / 2), a = sin(pi t / 2)``, or ``b = 1 - t, a = t``. The first is
        the paper's sqrt(1 - a^2) x_q + a x_p, at a speed that is bounded at the ends.
    objective : {"path", "time"}, default "path"
        For "mlp": the second or the first formula above. "time" is the paper's.
    joint : bool, default False
        For "mlp": learn the data score grad log p_t with the same network, by sliced
        score matching, as in the paper's joint objective.
    anchor : {"gaussian"} or None, default "gaussian"
        For "quadratic" and "mlp": start from the time score of the path between two fitted
        normals and learn the difference, or start from zero and learn all of it, as the
        paper does.
    l2 : float or "auto", default "auto"
        For "quadratic": ridge penalty on the coefficients of what is learned, in units of
        rows. Infinity learns nothing.
    tol : float, default 1e-4
        Error of the integral, relative to one plus its size; and the relative residual
        at which linear systems count as solved.
    width, depth, steps, batch_size, lr, weight_decay, patience
        For "mlp": as in :class:`NNBD`, but for 3 layers of 256 units, 3000 steps, and a
        patience of 15 looks, one every hundred steps.
    validation : float, default 0.15
        Share of rows to hold out, for the penalty or for early stopping; 0 for none.
    random_state, verbose
        As in :class:`NNBD`; pairs of rows are seeded as well.

    Attributes
    ----------
    path_, map_ : Path and AffineMap
        The path between the fitted normals, and coordinates in which both covariances
        are diagonal.
    score_ : NetworkScore, QuadraticScore or None
        The time score ("mlp"), or what is added to that of the path ("quadratic").
    l2_, times_ : float and ndarray
        The penalty, and times with coefficients of their own ("quadratic"; the latter not
        if ``l2_`` is infinite).
    training_ : Trained
        What happened in training ("mlp").

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import DREInfinity
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(-1, 0.1, 3000), rng.normal(1, 0.2, 3000)
    >>> model = DREInfinity(random_state=0).fit(*isthmus.stack(p, q))
    >>> model.log_ratio([[-1.0], [1.0]]).round(-1)  # truth: 50.7 and -199.3
    array([  50., -200.])
    """

    crosses_chasm = True

    critic: str = "quadratic"
    _: KW_ONLY
    path: str = "sqrt"
    objective: str = "path"
    joint: bool = False
    anchor: str | None = "gaussian"
    l2: float | str = "auto"
    tol: float = 1e-4
    width: int = 256
    depth: int = 3
    steps: int = 3000
    patience: int = 15

    def check_parameters(self) -> None:
        check_option(self.critic, "critic", CRITICS)
        check_option(self.path, "path", FORMS)
        check_option(self.objective, "objective", ["path", "time"])
        check_option(self.anchor, "anchor", ["gaussian", None])
        check_flag(self.joint, "joint")
        check_unless_auto(self.l2, "l2", low=0)
        check_number(self.tol, "tol", low=0, high=1, open_low=True, open_high=True)
        check_verbose(self.verbose)
        self.check_network()
        if self.critic == "mlp":
            require_torch("DREInfinity(critic='mlp')")

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = map(Distinct.of, samples)
        fitted = fit_path(p, q, self.path)
        self.path_, self.map_, self._bias = fitted.path, fitted.where, fitted.bias
        p, q = p.map(self.map_), q.map(self.map_)
        self.score_: Any = None
        if self.critic == "quadratic":
            self.score_, self.l2_ = fit_quadratic(
                self.path_,
                p,
                q,
                l2=self.l2,
                validation=self.validation,
                tol=self.tol,
                seeds=seeds,
                report=self._say,
                anchored=self.anchor is not None,
            )
            if self.score_ is not None:
                self.times_ = self.score_.times
        elif self.critic == "mlp":
            self.score_, self.training_ = fit_network(
                self.path_,
                p,
                q,
                self,
                objective=self.objective,
                joint=self.joint,
                anchored=self.anchor is not None,
                rng=seeds("network"),
                progress=lambda done, total, what: self._say(f"step {done} of {total}: {what}"),
            )

    def _say(self, line: str) -> None:
        if self.verbose:
            print(f"DREInfinity {line}")

    def evaluate(self, rows: Array) -> Array:
        Y = self.map_(rows)
        if self.critic == "mlp":
            found = integrate(self.score_.score, Y, self.tol)
            return found - self._bias if self.anchor is not None else found
        if self.critic == "quadratic" and self.anchor is None:
            return np.zeros(len(Y)) if self.score_ is None else self.score_.integral(Y)
        found = integrate(self.path_.score, Y, self.tol) - self._bias
        return found if self.score_ is None else found + self.score_.integral(Y)
