"""MDRE: density ratio estimation by multinomial logistic regression.

Srivastava, Han, Xu, Rhodes & Gutmann, "Estimating the Density Ratio between
Distributions with High Discrepancy using Multinomial Logistic Regression",
TMLR 2023.

A classifier learns to tell samples of p, of q and of K auxiliary distributions
apart. Its unnormalised log-probabilities h_c satisfy

    log p(x) / q(x) = h_p(x) - h_q(x)

wherever any of the K + 2 distributions has mass, and likewise for every other
pair of classes.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ._classes import ClassEstimator
from ._estimator import TwoSamples, chunks
from ._parts import SOLVERS, check_parameters, parts_of, report_step, warn_unless_converged
from ._sample import LabelledSample
from ._setup import Setup
from ._typing import Array, RandomState
from .critics.classifier import ClassifierSetup, is_classifier
from .maps.shared import check_kinds
from .objective import Objective
from .selection import choose
from .solvers import Solution

# An infinite penalty, for the curvature of an objective: critics stay at their anchors.
_FIRM = 1e12


class MDRE(ClassEstimator):
    """Estimate log p/q by classifying p, q and auxiliary distributions.

    Parameters
    ----------
    auxiliaries : str, auxiliary, array, or list of these, default "auto"
        What joins p and q. "auto" measures how well the classes can be told apart
        and builds a chain in which neighbours overlap; most often that is "bridge",
        a heavy-tailed mixture of known density on both samples. Others: "cauchy",
        "student-t", "normal", "uniform", "truncated-normal", "smoothed-mixture",
        "linear", "dimension-wise", the classes in :mod:`isthmus.auxiliaries`, any
        object with ``fit(p, q)`` and ``sample(n, rng)``, or an array of samples. An
        empty list or None leaves the binary classifier.
    critic : str, critic or classifier, default "auto"
        The functions h_c: "quadratic", "diagonal", "low-rank" (which is
        ``Quadratic(rank=10)``), anything in :mod:`isthmus.critics`, or any
        scikit-learn classifier with ``predict_proba``, which takes the rows as they
        are, with missing values if it can; "mlp", :class:`~isthmus.critics.MLP` or any
        ``torch.nn.Module`` for a network that learns what anchors and convex critics leave
        over. "auto" tries quadratics, logarithms of distances, splines and bumps, trees where
        values repeat, and a network where trees see more than these and torch is installed.
    anchor : str, density, pair of these or None, default "auto"
        Density that each learned class's critic starts from, so that only the rest
        is learned and penalised: "gaussian", "student-t", "mixture", "copula",
        those in :mod:`isthmus.anchors`, or any object with ``fit(X)`` and
        ``score_samples(X)``, such as scikit-learn's mixtures and kernel densities.
        A pair is one for p and one for q. "auto" is the simplest family that is
        good enough for each. None is the paper's model.
    maps : str, list of str or None, default "auto"
        Increasing maps of the columns, the same for all classes, which leave p/q
        unchanged: "log", "signed-log", "asinh", "yeo-johnson", "quantile" or None,
        one for all columns or one for each. "auto" chooses for each column.
    prior : {"uniform", "counts"} or sequence of float, default "uniform"
        Class priors, for p, q and the auxiliaries in this order. They are not
        part of a log-ratio: unequal sample sizes never turn a ratio into odds.
    l2 : float or "auto", default "auto"
        Ridge penalty on the coefficients, which are standardised for each class:
        l2 is the precision of a normal prior on them. "auto" follows a path from
        strong to weak for as long as held-out rows are predicted better. Infinity
        leaves the critics at their anchors; the paper's value is 0.
    known_density : bool, default True
        Fix the critic of an auxiliary whose density is known at that density.
        False learns it, as in the paper.
    oversample : float or "auto", default "auto"
        How many samples to draw of an auxiliary of known density, for each row of
        the larger of the two samples. "auto" takes 2 to 5, fewer where the
        data are large, but 20,000 rows where they are small.
    solver : {"newton", "lbfgs"}, default "newton"
        Newton's method is exact for few parameters and uses conjugate gradients
        for many.
    tol : float, default 1e-6
        Largest component of the gradient, per unit of weight, at the solution.
    max_iter : int, default 200
        Largest number of solver steps.
    random_state : int, Generator, RandomState or None, default None
        Seeds the draws of the auxiliaries.
    verbose : int, default 0
        Print a line for each solver step if positive.

    Attributes
    ----------
    class_names_ : list of str
        "p", "q", "m1", ..., "mK": the columns of :meth:`predict_proba`.
    classes_ : ndarray of shape (2,)
        Labels in y: of the denominator, then of the numerator.
    best_params_ : dict
        What every "auto" became, to be set as parameters of another estimator.
    selection_ : Selection
        How it was chosen; ``print(mdre.selection_.summary())``.
    auxiliaries_ : list
        Fitted auxiliaries, one for each class.
    log_prior_ : ndarray of shape (K + 2,)
        Log of the class priors.
    solution_ : Solution
        Parameters, status, number of steps and gradient norm.
    n_iter_ : int
        Number of solver steps, and of steps of the network's training.
    network_ : NetworkFit or None
        The neural part of the critic: ``module``, and ``report`` of its training.
    objective_ : Objective
        The objective over the labelled sample, for uncertainties.
    map_ : Coordinates
        The shared coordinates: column maps, then an affine map.
    l2_ : float
        The penalty.
    anchors_ : list
        Fitted anchors of the learned classes (empty without anchors).
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where X was a frame.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(-1, 0.1, 3000), rng.normal(1, 0.2, 3000)
    >>> X, y = isthmus.stack(p, q)
    >>> mdre = isthmus.MDRE(random_state=0).fit(X, y)
    >>> mdre.log_ratio([[-1.0], [1.0]]).round(-1)  # truth: 50.7 and -199.3
    array([  50., -200.])
    """

    def __init__(
        self,
        auxiliaries: Any = "auto",
        *,
        critic: Any = "auto",
        anchor: Any = "auto",
        maps: Any = "auto",
        prior: Any = "uniform",
        l2: float | str = "auto",
        known_density: bool = True,
        oversample: float | str = "auto",
        solver: str = "newton",
        tol: float = 1e-6,
        max_iter: int = 200,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.auxiliaries = auxiliaries
        self.critic = critic
        self.anchor = anchor
        self.maps = maps
        self.prior = prior
        self.l2 = l2
        self.known_density = known_density
        self.oversample = oversample
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, problem: str, **parameters: Any) -> MDRE:
        """The paper's own settings for one of its problems.

        Parameters
        ----------
        problem : str
            Name in :mod:`isthmus.problems`, such as "table2/40-shifted".
        **parameters
            Others to set, such as ``random_state``.

        Returns
        -------
        MDRE
            Unfitted: the paper's auxiliaries, learned like any class and sampled as
            often as p and q; neither maps, anchors nor penalty.

        Examples
        --------
        >>> MDRE.paper("table1/row1").auxiliaries
        (Cauchy(loc=0.0, scale=1.0),)
        """
        from .problems import load

        auxiliaries = load(problem).auxiliaries
        if not auxiliaries:
            raise ValueError(f"problem must be one of the paper's; received {problem!r}.")
        paper: dict[str, Any] = {"critic": "quadratic", "anchor": None, "maps": None, "l2": 0.0}
        return cls(auxiliaries, **{**paper, "known_density": False, **parameters})

    def fit(self, X: Any, y: Any, sample_weight: Any = None, start: Solution | None = None) -> MDRE:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Rows of both samples; see :func:`isthmus.stack`.
        y : array-like of shape (n,)
            1 for rows of the numerator p, 0 for rows of the denominator q. Of
            any other two labels the larger is the numerator.
        sample_weight : array-like of shape (n,), optional
            A weight of two counts as the row given twice.
        start : Solution, optional
            Where to start from: the ``solution_`` of a fit to similar rows with the
            same settings.

        Returns
        -------
        self
        """
        return self._fit_aside(X, y, sample_weight, start=start)

    def _check_parameters(self) -> None:
        check_parameters(self, neural=True)

    @property
    def _takes_missing(self) -> bool:
        return is_classifier(self.critic)

    def _fit_samples(self, samples: TwoSamples, start: Solution | None = None) -> None:
        p, q, weights = samples.p, samples.q, samples.weights
        seeds, names = samples.seeds, samples.names
        check_kinds(self.maps, p.shape[1], "maps")

        # 1. What is left to be chosen, by held-out likelihood.
        given = self.get_params(deep=False)
        self.best_params_, self.selection_ = choose(given, p, q, weights, seeds, names)
        settings = {**given, **self.best_params_}
        network, critic = parts_of(settings["critic"])
        self.network_: Any = None
        if is_classifier(critic):
            self._setup: Any = ClassifierSetup(critic, p, q, weights, settings, seeds, names)
            self.auxiliaries_, self.class_names_ = self._setup.auxiliaries, self._setup.class_names
            self.log_prior_ = np.log(self._setup.prior)
            return

        # 2. Coordinates, anchors, auxiliaries: rows of every class with all that is known of them.
        setup = Setup(
            p,
            q,
            weights,
            settings,
            kind=critic.coordinates,
            covariance=critic.covariance,
            seeds=seeds,
            names=names,
        )
        self._setup = setup
        self.map_, self.anchors_ = setup.where, setup.anchors
        self.auxiliaries_, self.class_names_ = setup.auxiliaries, setup.class_names
        self.log_prior_ = np.log(setup.prior)

        # 3. The critic of the learned classes, the objective, and its minimum.
        self._critic, self._seeds = critic, seeds
        self.l2_ = settings["l2"]
        if self.l2_ == "auto":
            # A rule, where no rows were held out: a residual of about one nat.
            self.l2_ = float(self.critic_.n_features) if self.anchors_ else 1.0
        if np.isinf(self.l2_):
            self.solution_ = Solution(np.zeros(0), "converged", 0, 0.0, np.nan)
        else:
            theta = np.zeros(self.critic_.n_parameters)
            if start is not None and len(start.theta) == len(theta):
                theta = start.theta
            elif not self.anchors_:
                theta = self.critic_.normal_start()
            self.solution_ = SOLVERS[self.solver](
                self.objective_,
                theta,
                tol=self.tol,
                max_iter=self.max_iter,
                callback=report_step if self.verbose else None,
            )
            self._raw = self.critic_.expand(self.solution_.theta)
        self.n_iter_ = self.solution_.iterations
        warn_unless_converged(self.solution_, self.tol, stacklevel=4)

        # 4. A network, for what is left over.
        if network is not None:
            from .neural.critic import fit_network

            self.network_ = fit_network(
                network,
                setup,
                self._offset,
                seeds,
                plain=not self.anchors_ and np.isinf(self.l2_),
                verbose=self.verbose,
            )
            self.n_iter_ += self.network_.report.steps
            # It says nothing of the network, and posteriors would take it for the whole.
            self.__dict__.pop("objective_", None)

    @cached_property
    def critic_(self) -> Any:
        """The critic, tied to the classes."""
        if not isinstance(getattr(self, "_setup", None), Setup):
            raise AttributeError("critic_ is there after a fit, unless the critic is a classifier.")
        return self._setup.bind(self._critic, self._seeds)

    @property
    def _labelled(self) -> LabelledSample | None:
        """The labelled sample, unless the critic is a classifier."""
        setup = getattr(self, "_setup", None)
        return setup.sample if isinstance(setup, Setup) else None

    @cached_property
    def objective_(self) -> Objective:
        """The objective over the labelled sample, where all that is learned is convex."""
        if self.network_ is not None:
            raise AttributeError("objective_ is there unless the critic is a network.")
        return Objective(self.critic_, self._setup.sample, min(self.l2_, _FIRM))

    def _critics(self, X: Any) -> Array:
        rows = self._rows(X)
        if isinstance(self._setup, ClassifierSetup):
            return self._setup.critics(rows)
        out = np.empty((len(rows), len(self.class_names_)))
        for part in chunks(len(rows)):
            Z = self.map_(rows[part])
            h = self._offset(rows[part], Z)
            if self.network_ is not None:
                h[:, self._setup.learned] += self.network_.values(rows[part], Z)
            out[part] = h - self._setup.bias
        return out

    def _offset(self, rows: Array, Z: Array) -> Array:
        """Anchors, known densities and the convex critic, shape (n, K + 2)."""
        h: Array = self._setup.offset(rows, Z)
        if np.isfinite(self.l2_):
            h[:, self._setup.learned] += self.critic_.values(self._raw, Z)
        return h
