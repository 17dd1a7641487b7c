"""Samples of the posterior by the No-U-Turn sampler, through nutpie."""

from __future__ import annotations

import math
import os
import warnings
from functools import cached_property
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_flag, check_number, check_option
from ..typing import Array, RandomState
from .fit import Fit, fit_of
from .influence import Influence
from .laplace import symmetric_root
from .posterior import Posterior
from .target import PRIORS, Target

MOST_RHAT = 1.01
LEAST_ESS = 400
_MISSING = "isthmus.uncertainty.nuts needs {}: pip install 'isthmus[bayes]'."


def nuts(
    mdre: Any,
    *,
    draws: int = 1000,
    tune: int = 300,
    chains: int = 4,
    prior: str = "fit",
    target_accept: float = 0.8,
    cores: int | None = None,
    random_state: RandomState = None,
    progress: bool = True,
) -> NutsPosterior:
    r"""Sample the posterior of a critic's parameters by Hamiltonian Monte Carlo.

    The posterior density is :math:`\exp(-L(\theta))` with L the objective of the
    fit, evaluated by the fit's own code. The sampler moves in
    :math:`z = V^{-1}(\theta - \hat\theta)`, with V V' the inverse of the Hessian at
    the fit, in which the posterior is nearly standard normal; every chain starts at a
    draw of that normal distribution around the fit. Directions along which all critics
    shift together are left out: no ratio depends on them.

    Parameters
    ----------
    mdre : MDRE
        Fitted, with a critic of :mod:`isthmus.critics` of at most 600 parameters.
    draws, tune : int
        Draws of each chain that are kept, and those before, in which the step
        size is adapted.
    chains : int
        Number of chains.
    prior : {"fit", "raw"}
        See :func:`laplace`. The paper's standard normal prior is "raw", or, on
        standardised coefficients, "fit" with ``MDRE(anchor=None, l2=1)``.
    target_accept : float
        Acceptance rate that the step size aims at; raise it against divergences.
    cores : int, optional
        Number of chains that run at a time; by default as many as there are
        cores. The draws do not depend on it.
    random_state : int, Generator, RandomState or None
        Seeds the chains.
    progress : bool
        Show the chains' progress on a terminal.

    Returns
    -------
    NutsPosterior

    Warns
    -----
    UserWarning
        If R-hat is above 1.01, an effective sample size below 400, or a transition
        diverged; the message says what to do.

    References
    ----------
    Hoffman & Gelman (2014), Journal of Machine Learning Research 15. Vehtari,
    Gelman, Simpson, Carpenter & Bürkner (2021), Bayesian Analysis 16, for R-hat and
    effective sample sizes. Srivastava et al. (2023), TMLR, appendix D.

    Examples
    --------
    It needs ``pip install 'isthmus[bayes]'``.

    >>> from isthmus import MDRE, problems, stack, uncertainty
    >>> problem = problems.load("running-example")
    >>> X, y = stack(problem.sample_p(10_000, 0), problem.sample_q(10_000, 1))
    >>> mdre = MDRE.paper("running-example", solver="newton", l2=1.0, random_state=0)
    >>> mdre = mdre.fit(X, y)
    >>> posterior = uncertainty.nuts(mdre, random_state=0)  # doctest: +SKIP
    >>> posterior.rhat <= 1.01, posterior.ess >= 400, posterior.divergences  # doctest: +SKIP
    (True, True, 0)
    >>> mean, std = posterior.log_ratio([-1.0, 0.0, 1.0], return_std=True)  # doctest: +SKIP
    """
    fit = fit_of(mdre, infinite=prior == "raw")
    check_number(draws, "draws", low=4, integer=True)
    check_number(tune, "tune", low=20, integer=True)
    check_number(chains, "chains", low=1, integer=True)
    check_number(target_accept, "target_accept", low=0, high=1, open_low=True, open_high=True)
    check_flag(progress, "progress")
    if cores is None:
        cores = min(chains, os.cpu_count() or 1)
    check_number(cores, "cores", low=1, integer=True)
    nutpie = require_nutpie()
    check_option(prior, "prior", PRIORS)
    target = Target(fit, prior)
    trace = nutpie.sample(
        _compiled(nutpie, target),
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        seed=int(Seeds(random_state)("nuts").integers(2**32)),
        target_accept=target_accept,
        progress_bar=progress,
        save_warmup=False,
    )
    out = NutsPosterior(fit, target, trace, prior)
    out.warn_of_trouble()
    fit.warn_of_weights("calibrated()")
    return out


class NutsPosterior(Posterior):
    """Draws of the parameters by the No-U-Turn sampler; see :func:`nuts`.

    Attributes
    ----------
    inference_data : arviz.InferenceData
        The chains: "theta", in the critic's parametrisation, by class and feature, and
        "z", whitened; for ArviZ's tables and plots.
    target : Target
        The density that was sampled.
    prior : str
        "fit" or "raw".

    Examples
    --------
    >>> from isthmus import uncertainty
    >>> issubclass(uncertainty.NutsPosterior, uncertainty.Posterior)  # what ``nuts`` returns
    True
    """

    def __init__(self, fit: Fit, target: Target, inference_data: Any, prior: str = "fit") -> None:
        z = np.asarray(inference_data.posterior["z"])
        theta = target.theta(z)
        names = [fit.model.class_names[c] for c in fit.model.offsets.learned]
        inference_data.posterior.coords["class"] = names
        inference_data.posterior["theta"] = (
            ("chain", "draw", "class", "feature"),
            theta.reshape(*z.shape[:2], len(names), -1),
        )
        super().__init__(fit, theta.reshape(-1, theta.shape[-1]), "nuts")
        self.target, self.inference_data, self.prior = target, inference_data, prior

    @property
    def z(self) -> Array:
        """Whitened parameters of all draws, shape (S, size)."""
        z = np.asarray(self.inference_data.posterior["z"])
        return z.reshape(-1, z.shape[-1])

    @cached_property
    def rhat(self) -> float:
        """Largest rank-normalised R-hat of the whitened parameters; one chain has none."""
        arviz = require_arviz()
        if self.inference_data.posterior.sizes["chain"] < 2:
            return math.nan
        return float(arviz.rhat(self.inference_data, var_names=["z"])["z"].max())

    @cached_property
    def ess(self) -> float:
        """Smallest effective sample size, of the bulk and of the tails."""
        arviz = require_arviz()
        sizes = [
            float(arviz.ess(self.inference_data, var_names=["z"], method=method)["z"].min())
            for method in ("bulk", "tail")
        ]
        return min(sizes)

    @property
    def divergences(self) -> int:
        """Number of transitions that diverged."""
        return int(self.inference_data.sample_stats["diverging"].sum())

    @property
    def steps(self) -> int:
        """Number of evaluations of the density after the warm-up."""
        return int(self.inference_data.sample_stats["n_steps"].sum())

    def summary(self) -> Any:
        """ArviZ's table of the parameters: mean, sd, interval, R-hat, effective sizes."""
        return require_arviz().summary(self.inference_data, var_names=["theta"])

    def calibrated(self) -> Posterior:
        r"""The draws, stretched around the fit to the covariance over samples.

        With C the sandwich covariance of z, of which a posterior would have the identity,
        :math:`z` becomes :math:`C^{1/2} z` (the "open-faced sandwich"). Weights of the
        objective other than one and the error of normal anchors are then counted.

        References
        ----------
        Shaby (2014), Journal of Computational and Graphical Statistics 23.
        """
        if self.prior != "fit":
            raise ValueError(f"prior must be 'fit' to be calibrated; received {self.prior!r}.")
        self.fit.warn_of_anchors()
        influence = Influence(self.target.point, self.fit.model.anchored)
        root = symmetric_root(influence.covariance(self.target.basis))
        return Posterior(self.fit, self.target.theta(self.z @ root), "nuts")

    def warn_of_trouble(self) -> None:
        """Warn of chains that have not mixed, of few effective draws and of divergences."""
        told = []
        if self.rhat > MOST_RHAT:
            told.append(f"R-hat is {self.rhat:.3f}, above {MOST_RHAT}: raise tune and draws")
        if self.ess < LEAST_ESS:
            told.append(
                f"the effective sample size is {self.ess:.0f}, below {LEAST_ESS}: raise draws"
            )
        if self.divergences:
            told.append(
                f"{self.divergences} transitions diverged: raise target_accept, or a small l2"
            )
        if told:
            tell(f"NUTS: {'; '.join(told)}.", stacklevel=3)


def _compiled(nutpie: Any, target: Target) -> Any:
    """The density in the form that nutpie asks for."""
    size = target.size
    return nutpie.compiled_pyfunc.from_pyfunc(
        size,
        lambda: target.log_density,
        # The sampler goes on with its array.
        lambda *seeds: lambda z: {"z": np.array(z)},
        [np.dtype(np.float64)],
        [(size,)],
        ["z"],
        coords={"direction": np.arange(size)},
        dims={"z": ("direction",)},
        make_initial_point_fn=lambda seed: np.random.default_rng(seed).standard_normal(size),
    )


def require_nutpie() -> Any:
    """Import nutpie, or say how to install it."""
    require_arviz()
    try:
        import nutpie
    except ImportError as error:
        raise ImportError(_MISSING.format("nutpie")) from error
    return nutpie


def require_arviz() -> Any:
    """Import ArviZ, or say how to install it."""
    try:
        with warnings.catch_warnings():
            # Once a day it tells of its next version.
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError as error:
        raise ImportError(_MISSING.format("ArviZ")) from error
    return arviz
