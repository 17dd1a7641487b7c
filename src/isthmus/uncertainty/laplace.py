"""The normal approximation of the posterior, from the Hessian at the fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..data.blocks import Block
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..model.objective import Point
from ..model.solvers import solve_hessian
from ..typing import Array, RandomState
from .influence import Influence, is_small
from .posterior import Posterior, own_offsets, ratio_gradients
from .target import PRIORS, Fit, Target, fit_of

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
    factorised. Beyond, each draw is a solve by conjugate gradients,
    :math:`H^{-1} b` with b from N(0, H): the likelihood's part of b is a sum over
    rows of standard normal numbers, the prior's is one more. The standard deviation at
    a few rows is a solve for each.

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
        warn_of_anchors(fit)
    else:
        warn_of_weights(fit, "covariance='sandwich'")
    rng = Seeds(random_state)("laplace")
    if not is_small(fit.objective) and prior == "fit":
        point = fit.objective.at(fit.theta)
        influence = Influence(point, fit.anchored) if sandwich else None
        return ManyLaplace(fit, draws or 200, rng, point, influence)
    target = Target(fit, prior)
    root = target.basis
    if sandwich:
        root = root @ symmetric_root(Influence(target.point, fit.anchored).covariance(root))
    return LaplacePosterior(fit, target.mode, draws or 1000, rng, root)


class LaplacePosterior(Posterior):
    """A normal distribution of the parameters; see :func:`laplace`.

    Attributes
    ----------
    mode : ndarray of shape (n_parameters,)
        Its mean.
    root : ndarray of shape (n_parameters, k)
        A root of its covariance, which is ``root @ root.T``.
    """

    def __init__(
        self, fit: Fit, mode: Array, count: int, rng: np.random.Generator, root: Array
    ) -> None:
        z = rng.standard_normal((count, root.shape[1]))
        super().__init__(fit.mdre, fit.objective.critic, mode + z @ root.T, "laplace")
        self.mode, self.root = mode, root

    def log_ratio(
        self, X: Any, return_std: bool = False, numerator: str = "p", denominator: str = "q"
    ) -> Any:
        """Mean of the log-ratio at the rows of X, and its standard deviation.

        Both are those of the normal distribution, not of its draws.

        Parameters
        ----------
        X : array-like or frame of shape (n, d) or (n,)
        return_std : bool
            Whether to return the standard deviation too.
        numerator, denominator : str
            Names of two classes.

        Returns
        -------
        mean, std : ndarrays of shape (n,)
            Or the mean alone.
        """
        rows, pair = self._read(X, numerator, denominator)
        mean = at_mode(self, self.mode, rows, pair)
        if not return_std:
            return mean
        std = np.empty(len(rows))
        step = max(1, 2_000_000 // len(self.root))
        for begin in range(0, len(rows), step):
            offsets = own_offsets(self.model)
            Z = offsets.where(rows[begin : begin + step])
            spread = ratio_gradients(self.critic, offsets.learned, Z, pair) @ self.root
            std[begin : begin + step] = np.sqrt(np.einsum("ij,ij->i", spread, spread))
        return mean, std


class ManyLaplace(Posterior):
    """The same for more parameters than a dense Hessian allows: draws and solves.

    Attributes
    ----------
    mode : ndarray of shape (n_parameters,)
        Its mean.
    """

    def __init__(
        self,
        fit: Fit,
        count: int,
        rng: np.random.Generator,
        point: Point,
        influence: Influence | None,
    ) -> None:
        super().__init__(fit.mdre, point.objective.critic, np.empty((0, len(fit.theta))), "laplace")
        self.mode, self._count, self._rng = fit.theta, count, rng
        self._point, self._influence = point, influence

    @property
    def draws(self) -> Array:
        """Parameters of every draw, shape (S, n_parameters), made when first asked for."""
        if not len(self._draws):
            if self._influence is None:
                noise = [perturbation(self._point, self._rng) for _ in range(self._count)]
            else:
                pairs = self._influence.draws(self._count, (np.empty(0), np.empty(0)), self._rng)
                noise = [each for each, _ in pairs]
            self._draws = self.mode + np.array(noise)
        return self._draws

    def log_ratio(
        self, X: Any, return_std: bool = False, numerator: str = "p", denominator: str = "q"
    ) -> Any:
        """Mean of the log-ratio at the rows of X, and its standard deviation.

        The mean is exact. At 64 rows or fewer the standard deviation is a solve
        for each, to a part in a thousand; at more rows it is that of the draws.

        Parameters
        ----------
        X, return_std, numerator, denominator
            As in :meth:`LaplacePosterior.log_ratio`.

        Returns
        -------
        mean, std : ndarrays of shape (n,)
            Or the mean alone.
        """
        rows, pair = self._read(X, numerator, denominator)
        mean = at_mode(self, self.mode, rows, pair)
        if not return_std:
            return mean
        if len(rows) <= _FEW_ROWS:
            return mean, np.array([self._solved(row[None], pair) for row in rows])
        return mean, super().log_ratio(X, True, numerator, denominator)[1]

    def _solved(self, row: Array, pair: tuple[int, int]) -> float:
        """Standard deviation at one row, by one solve with the Hessian."""
        offsets, critic = own_offsets(self.model), self.critic
        learned = list(offsets.learned)
        R = np.zeros((1, len(learned)))
        for c, sign in zip(pair, (1.0, -1.0), strict=True):
            if c in learned:
                R[0, learned.index(c)] += sign
        total = critic.accumulator()
        critic.accumulate(total, R, offsets.where(row))
        slope = critic.contract(total)
        if self._influence is not None:
            return self._influence.std(slope)
        # The variance converges twice as fast as the solution.
        variance = float(slope @ solve_hessian(self._point, slope, tol=3e-3))
        return float(np.sqrt(max(variance, 0.0)))


def at_mode(posterior: Posterior, mode: Array, rows: Array, pair: tuple[int, int]) -> Array:
    """Log-ratio at the mode, which is the mean of a normal distribution of parameters."""
    names = posterior.model.class_names_
    alone = Posterior(posterior.model, posterior.critic, mode[None], posterior.method)
    return np.asarray(alone.log_ratio_draws(rows, names[pair[0]], names[pair[1]])[0])


def perturbation(point: Point, rng: np.random.Generator) -> Array:
    """A draw of N(0, H^-1) by one solve; see the notes of :func:`laplace`.

    At a row with class probabilities P the likelihood's curvature is diag(P) - P P',
    whose root is (I - P 1') diag(sqrt P). All known classes together are one, whose
    logit does not move.
    """
    objective = point.objective
    critic = objective.critic

    def moments(block: Block) -> Any:
        P = point.probability(block)
        noise = rng.standard_normal((len(P) + 1, len(block)))
        scaled = np.sqrt(P) * noise[1:]
        rest = np.sqrt(np.maximum(1.0 - P.sum(axis=0), 0.0)) * noise[0]
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


def warn_of_weights(fit: Fit, way: str) -> None:
    """Warn where rows of p and q count more than once in the likelihood."""
    given = np.array([sample.weight.sum() for sample in fit.rows.samples])
    factor = float((fit.objective.blocks.mass[:2] / given).max())
    if factor > 1.05:
        warnings.warn(
            f"Rows of p or q weigh {factor:.2g} each in the objective, as another class has more "
            f"rows: the posterior is too narrow by up to {np.sqrt(factor):.2g}. Fit MDRE with "
            f"prior='counts', in which every row weighs one, or use {way}.",
            stacklevel=3,
        )


def warn_of_anchors(fit: Fit) -> None:
    """Warn where anchors were fitted in a way whose error has no formula."""
    if not fit.model.has_influence:
        kinds = sorted({type(anchor).__name__ for anchor in fit.model.offsets.anchors})
        warnings.warn(
            f"The error of the anchors ({', '.join(kinds)}) is not counted: use "
            "isthmus.uncertainty.bootstrap, which fits them again.",
            stacklevel=3,
        )
