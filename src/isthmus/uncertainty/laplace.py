"""The normal approximation of the posterior, from the Hessian at the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.blocks import Block, slices
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..model.objective import Point
from ..model.solvers import solve_hessian
from ..typing import Array, RandomState
from .fit import Fit, fit_of
from .influence import Influence, Noise, is_small
from .posterior import Posterior, learned_pair, ratio_gradients
from .target import PRIORS, Target

# Up to so many rows a solve for each costs less than draws of all parameters.
_FEW_ROWS = 64


def laplace(
    mdre: Any,
    *,
    draws: int | None = None,
    prior: str = "fit",
    covariance: str = "posterior",
    random_state: RandomState = None,
) -> LaplacePosterior | ManyLaplace:
    r"""Approximate the posterior of a critic's parameters by a normal distribution.

    The posterior density is :math:`\exp(-L(\theta))` with L the objective of the
    fit, a multinomial likelihood and the normal prior that is its ridge. Its
    approximation is :math:`N(\hat\theta, H^{-1})` with the Hessian H of L at the fit.
    Log-ratios are linear in the parameters, so that each has a normal distribution around
    the fitted value.

    Parameters
    ----------
    mdre : MDRE
        Fitted, with a critic of :mod:`isthmus.critics`.
    draws : int, optional
        Number of draws; by default 1000, and 200 where there are more than 600
        parameters.
    prior : {"fit", "raw"}
        "fit" is the penalty of the fit: a normal prior of precision l2 on the
        standardised coefficients, around the anchors if there are any. "raw" is
        the paper's standard normal prior on the coefficients of x², x and 1 in
        the data's own units; it needs a quadratic critic without maps and anchors, and moves the
        mode away from the fit.
    covariance : {"posterior", "sandwich"}
        "posterior" is :math:`H^{-1}`. It takes the weights of the objective at
        their word: auxiliary rows that are drawn more often than p and q make rows of p
        and q weigh more than one each, and the posterior narrower. "sandwich" is the
        covariance over samples of the same size, with the error of normal anchors; it
        has the right width whatever the weights and the penalty.
    random_state : int, Generator, RandomState or None
        Seeds the draws.

    Returns
    -------
    LaplacePosterior or ManyLaplace

    Warns
    -----
    UserWarning
        If rows of p and q weigh more than one each in the likelihood, or if anchors
        have an error that cannot be counted.

    Notes
    -----
    Up to 600 parameters (:data:`isthmus.model.solvers.EXACT_LIMIT`) the Hessian is formed and
    factorised. Beyond, each draw is a solve by conjugate gradients.

    References
    ----------
    MacKay (1992), Neural Computation 4. Papandreou & Yuille (2010), NeurIPS 23, for
    draws by perturbation.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 500), rng.normal(1, 1, 500))
    >>> settings = dict(critic="quadratic", anchor=None, prior="counts", l2=1.0)
    >>> mdre = isthmus.MDRE(**settings, random_state=0).fit(X, y)
    >>> from isthmus import uncertainty
    >>> mean, std = uncertainty.laplace(mdre).log_ratio([0.5, 5.0], return_std=True)
    >>> bool(std[0] < std[1])  # far from the rows less is known
    True
    """
    check_option(prior, "prior", PRIORS)
    check_option(covariance, "covariance", ["posterior", "sandwich"])
    if draws is not None:
        check_number(draws, "draws", low=2, integer=True)
    sandwich = covariance == "sandwich"
    if sandwich and prior == "raw":
        raise ValueError("prior must be 'fit' with covariance='sandwich'; received 'raw'.")
    fit = fit_of(mdre, infinite=sandwich or prior == "raw")
    if sandwich:
        fit.warn_of_anchors()
    else:
        fit.warn_of_weights("covariance='sandwich'")
    rng = Seeds(random_state)("laplace")
    if not is_small(fit.objective) and prior == "fit":
        return ManyLaplace(fit, draws or 200, rng, sandwich)
    target = Target(fit, prior)
    root = target.basis
    if sandwich:
        root = root @ symmetric_root(Influence(target.point, fit.model.anchored).covariance(root))
    return LaplacePosterior(fit, target.mode, draws or 1000, rng, root)


class LaplacePosterior(Posterior):
    """A normal distribution of the parameters; see :func:`laplace`.

    Mean and standard deviation of :meth:`log_ratio` are its own, not those of its draws.

    Attributes
    ----------
    mode : ndarray of shape (n_parameters,)
        Its mean.
    root : ndarray of shape (n_parameters, k)
        A root of its covariance, which is ``root @ root.T``.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus import uncertainty
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 300), rng.normal(1, 1, 300))
    >>> mdre = isthmus.MDRE(
    ...     critic="quadratic", anchor="gaussian", maps=None, l2=5.0, random_state=0
    ... )
    >>> mdre.set_params(prior="counts").fit(X, y)  # doctest: +ELLIPSIS
    MDRE(...)
    >>> posterior = uncertainty.laplace(mdre, random_state=0)
    >>> type(posterior).__name__, posterior.log_ratio([0.5], return_std=True)[1].shape
    ('LaplacePosterior', (1,))
    """

    def __init__(
        self, fit: Fit, mode: Array, count: int, rng: np.random.Generator, root: Array
    ) -> None:
        z = rng.standard_normal((count, root.shape[1]))
        super().__init__(fit, mode + z @ root.T, "laplace")
        self.mode, self.root = mode, root

    def _moments(
        self, rows: Array, pair: tuple[int, int], with_std: bool = True
    ) -> tuple[Array, Array]:
        std = np.empty(len(rows))
        for at in slices(len(rows) if with_std else 0, max(1, 2_000_000 // len(self.root))):
            Z = self.fit.model.offsets.where(rows[at])
            spread = ratio_gradients(self.fit, Z, pair) @ self.root
            std[at] = np.sqrt(np.einsum("ij,ij->i", spread, spread))
        return self._at(self.mode, rows, pair), std


class ManyLaplace(Posterior):
    """The same for more parameters than a dense Hessian allows: draws and solves.

    The mean of :meth:`log_ratio` is exact. At 64 rows or fewer the standard deviation is a
    solve for each, to a part in a thousand; at more rows it is that of the draws.

    Attributes
    ----------
    mode : ndarray of shape (n_parameters,)
        Its mean.

    Examples
    --------
    >>> from isthmus import uncertainty
    >>> issubclass(uncertainty.ManyLaplace, uncertainty.Posterior)  # what ``laplace`` may return
    True
    """

    def __init__(self, fit: Fit, count: int, rng: np.random.Generator, sandwich: bool) -> None:
        super().__init__(fit, np.empty((0, len(fit.theta))), "laplace")
        self.mode, self._count, self._rng, self._sandwich = fit.theta, count, rng, sandwich

    @property
    def draws(self) -> Array:
        """Parameters of every draw, shape (S, n_parameters), made when first asked for."""
        if not len(self._draws):
            if self._sandwich:
                noise = [each for each, _ in self.fit.influence.draws(self._count, self._rng)]
            else:
                noise = [perturbation(self.fit.point, self._rng) for _ in range(self._count)]
            self._draws = self.mode + np.array(noise)
        return self._draws

    def _moments(
        self, rows: Array, pair: tuple[int, int], with_std: bool = True
    ) -> tuple[Array, Array]:
        mean = std = self._at(self.mode, rows, pair)
        if with_std and len(rows) <= _FEW_ROWS:
            std = np.array([self._solved(row[None], pair) for row in rows])
        elif with_std:
            std = super()._moments(rows, pair)[1]
        return mean, std

    def _solved(self, row: Array, pair: tuple[int, int]) -> float:
        """Standard deviation at one row, by one solve with the Hessian."""
        offsets, critic = self.fit.model.offsets, self.fit.objective.critic
        R = np.zeros((1, len(offsets.learned)))
        for place, sign in learned_pair(offsets, pair):
            R[0, place] = sign
        total = critic.accumulator()
        critic.accumulate(total, R, offsets.where(row))
        slope = critic.contract(total)
        if self._sandwich:
            return self.fit.influence.std(slope)
        # The variance converges twice as fast as the solution.
        variance = float(slope @ solve_hessian(self.fit.point, slope, tol=3e-3))
        return float(np.sqrt(max(variance, 0.0)))


def perturbation(point: Point, rng: np.random.Generator) -> Array:
    """A draw of N(0, H^-1): a solve with H of a draw of N(0, H), which is a sum over rows.

    At a row with class probabilities P the likelihood's curvature is diag(P) - P P',
    whose root is (I - P 1') diag(sqrt P). All known classes together are one, whose
    logit does not move.
    """
    objective, noise = point.objective, Noise(rng)
    critic = objective.critic

    def moments(block: Block) -> Any:
        P = point.probability(block)
        z = noise(block, len(P) + 1)
        scaled = np.sqrt(P) * z[1:]
        rest = np.sqrt(np.maximum(1.0 - P.sum(axis=0), 0.0)) * z[0]
        R = scaled - P * (scaled.sum(axis=0) + rest)
        R *= np.sqrt(block.weight)
        total = critic.accumulator()
        critic.accumulate(total, R.T, block.X)
        return total

    right = critic.contract(objective.blocks.sum(moments))
    right += np.sqrt(objective.l2) * rng.standard_normal(objective.n_parameters)
    return solve_hessian(point, right, tol=1e-3)


def symmetric_root(covariance: Array) -> Array:
    """The symmetric root of a covariance that may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
