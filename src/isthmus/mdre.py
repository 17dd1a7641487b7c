"""MDRE: density ratio estimation by multinomial logistic regression.

Srivastava, Han, Xu, Rhodes & Gutmann, "Estimating the Density Ratio between
Distributions with High Discrepancy using Multinomial Logistic Regression",
TMLR 2023.

A classifier learns to tell samples of p, of q and of K auxiliary distributions
apart. Its unnormalised log-probabilities h_c satisfy ::

    log p(x) / q(x) = h_p(x) - h_q(x)

wherever any of the K + 2 distributions has mass, and likewise for every other
pair of classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .critics.resolve import critic_parts
from .data.sample import TwoSamples
from .data.seeds import Seeds
from .data.telling import tell
from .estimator import ClassEstimator, fitted
from .maps.coordinates import Coordinates
from .maps.shared import check_kinds
from .model.adam import Adam
from .model.checks import check_settings, check_verbose
from .model.classes import ClassModel
from .model.classifier import fit_classifier, is_classifier
from .model.objective import Objective
from .model.rows import ClassRows, FittedTo, prepare
from .model.solvers import SOLVERS, Solution
from .selection import choose
from .settings import Settings, is_auto
from .typing import BoundCritic, Critic, LinearCritic, RandomState

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
        "shuffled", "linear", "dimension-wise", the classes in :mod:`isthmus.auxiliaries`, any
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
        strong to weak for as long as held-out rows are predicted better, with anchors
        or without. Infinity leaves the critics at their anchors; the paper's value is 0.
    known_density : bool, default True
        Fix the critic of an auxiliary whose density is known at that density.
        False learns it, as in the paper.
    oversample : float or "auto", default "auto"
        How many samples to draw of an auxiliary of known density, for each row of
        the larger of the two samples. "auto" takes 2 to 5, fewer where the
        data are large, but 20,000 rows where they are small.
    solver : {"newton", "lbfgs"} or Adam, default "newton"
        Newton's method is exact for few parameters and uses conjugate gradients
        for many. :class:`isthmus.model.adam.Adam` makes a number of steps on batches, as
        the paper did; intervals take their end for a minimum, which it need not be.
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
    model_ : CriticModel
        The fitted model: ``critics(X)``, ``log_ratio(X, "p", "m1")`` and no rows.
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
        Number of solver steps, and of steps of the network's training; one where there was
        nothing to solve, as scikit-learn asks for. ``solution_.iterations`` is then zero.
    network_ : NetworkFit or None
        The neural part of the critic: ``module``, and ``report`` of its training.
    fitted_to_ : FittedTo
        The samples and settings of the fit, for uncertainties.
    objective_ : Objective
        The objective over the rows of the fit, made anew each time it is asked for.
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

    takes_start = True

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
        solver: Any = "newton",
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
            Others to set, such as ``random_state``. ``solver="newton"`` solves the paper's
            model, in its convex form of free quadratic functions, in place of its training.

        Returns
        -------
        MDRE
            Unfitted: the paper's auxiliaries, learned like any class and sampled as
            often as p and q, its critics and its training (see
            :class:`~isthmus.model.adam.Adam`); neither maps, anchors nor penalty.

        Examples
        --------
        >>> paper = MDRE.paper("table2/40-shifted")
        >>> paper.auxiliaries
        (LinearMixing(alphas=(0.35, 0.5, 0.85), form='sqrt', paired=True),)
        >>> paper.solver
        Adam(lr=0.05, steps=2000, batch_size=500, decay=True, replacement=True, stop=None)
        """
        from .problems import load

        its = load(problem)
        if not its.auxiliaries:
            raise ValueError(f"problem must be one of the paper's; received {problem!r}.")
        paper: dict[str, Any] = {"critic": "quadratic", "anchor": None, "maps": None, "l2": 0.0}
        paper |= {"known_density": False, "solver": Adam(**getattr(its, "training", {}))}
        return cls(its.auxiliaries, **{**paper, **parameters})

    def fit(self, X: Any, y: Any, sample_weight: Any = None, start: Solution | None = None) -> MDRE:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or frame of shape (n, d), path, dataset or batches
            Rows of both samples; see :func:`isthmus.stack`.
        y : array-like of shape (n,), or str
            1 for rows of the numerator p, 0 for rows of the denominator q. Of
            any other two labels the larger is the numerator. Or the column of X that holds them:
            X may then be whatever :func:`isthmus.compare` takes, such as a Parquet file. Of more
            than 200,000 rows of a class what is chosen is chosen on a sample, and anchors
            and convex critics are fitted to all.
        sample_weight : array-like of shape (n,), optional
            A weight of two counts as the row given twice.
        start : Solution, optional
            Where to start from: the ``solution_`` of a fit to similar rows with the
            same settings.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, sample_weight, start=start)

    def check_parameters(self) -> None:
        """Refuse parameters that do not fit, before the data are looked at."""
        check_settings(Settings.of(self), neural=True)
        check_verbose(self.verbose)

    @property
    def takes_missing(self) -> bool:
        """Whether rows may hold NaN: a classifier decides for itself."""
        return is_classifier(self.critic)

    def learn(
        self,
        samples: TwoSamples,
        seeds: Seeds,
        start: Solution | None = None,
        rows: ClassRows | None = None,
    ) -> None:
        """The algorithm, on two samples that are checked, and on rows where they are prepared."""
        check_kinds(self.maps, samples.n_columns, "maps")

        # 1. What is left to be chosen, by held-out likelihood.
        settings, self.selection_ = choose(Settings.of(self), samples, seeds)
        network, critic = critic_parts(settings.critic)
        if is_classifier(critic):
            self.best_params_ = settings.chosen
            self.model_, self.auxiliaries_ = fit_classifier(critic, samples, settings, seeds)
            self.n_iter_ = 1
            return

        # 2. Coordinates, anchors, auxiliaries: rows of every class with all that is known of them.
        if rows is None:
            rows = prepare(samples, settings, critic, seeds)
        self.auxiliaries_ = list(rows.offsets.auxiliaries)

        # 3. The critic of the learned classes, the objective, and its minimum.
        bound, self.l2_, self.solution_ = self._solve(rows, critic, settings, start)
        settings = settings.but(l2=self.l2_)
        self.best_params_ = settings.chosen
        steps = self.solution_.iterations
        known = rows.offsets.without_rows()
        model = ClassModel(known, np.log(rows.prior), bound, self.solution_.theta)
        if not self.solution_.converged and isinstance(self.solver, str):
            _warn_of(self.solution_, self.tol)

        # 4. A network, for what is left over.
        if network is not None:
            from .model.network import fit_network

            added = fit_network(
                network,
                rows,
                model.convex,
                seeds,
                from_zero=bool(known.anchors) or bound is not None,
                verbose=self.verbose,
            )
            steps += added.report.steps
            model = ClassModel(known, model.log_prior, bound, model.theta, added)
        self.model_, self.n_iter_ = model, max(steps, 1)
        self.fitted_to_ = FittedTo(samples, settings, critic, seeds)

    def _solve(
        self, rows: ClassRows, critic: Critic, settings: Settings, start: Solution | None
    ) -> tuple[BoundCritic | None, float, Solution]:
        """The critic, tied to the classes, the penalty and the minimum."""
        anchored, l2 = bool(rows.offsets.anchors), settings.l2
        if not is_auto(l2) and np.isinf(l2):
            return None, l2, Solution(np.zeros(0), "converged", 0, 0.0, np.nan)
        bound = rows.bind(critic)
        if not isinstance(settings.solver, str):
            return bound, l2, settings.solver.train(rows, bound)
        if is_auto(l2):
            # A rule, where no rows were held out: a residual of about one nat.
            l2 = float(bound.n_features) if anchored else 1.0
        theta = np.zeros(bound.n_parameters)
        if start is not None and len(start.theta) == len(theta):
            theta = start.theta
        elif not anchored:
            theta = bound.normal_start()
        solution = SOLVERS[settings.solver](
            Objective(bound, rows.blocks, l2),
            theta,
            tol=settings.tol,
            max_iter=settings.max_iter,
            callback=_report_step if self.verbose else None,
        )
        return bound, l2, solution

    @property
    def map_(self) -> Coordinates:
        """The shared coordinates."""
        return self._own_model().offsets.where

    @property
    def anchors_(self) -> list[Any]:
        """Fitted anchors of the learned classes."""
        return list(self._own_model().offsets.anchors)

    @property
    def network_(self) -> Any:
        """The neural part of the critic, or None."""
        model = fitted(self)
        return model.network if isinstance(model, ClassModel) else None

    @property
    def critic_(self) -> LinearCritic:
        """The critic, tied to the classes; also where the penalty keeps it at zero."""
        model = self._own_model()
        if model.critic is not None:
            return model.critic
        return self.fitted_to_.rows(model.offsets).bind(self.fitted_to_.critic)

    @property
    def objective_(self) -> Objective:
        """The objective over the rows of the fit, where all that is learned is convex."""
        model = self._own_model()
        return self.objective_over(self.fitted_to_.rows(model.offsets))

    def objective_over(self, rows: ClassRows) -> Objective:
        """The objective over rows of every class; see :meth:`FittedTo.rows`."""
        model = self._own_model()
        if model.network is not None:
            # It says nothing of the network, and posteriors would take it for the whole.
            raise AttributeError("objective_ is there unless the critic is a network.")
        critic = rows.bind(self.fitted_to_.critic) if model.critic is None else model.critic
        return Objective(critic, rows.blocks, min(self.l2_, _FIRM))

    def _own_model(self) -> ClassModel:
        model = fitted(self)
        if not isinstance(model, ClassModel):
            raise AttributeError("This is there after a fit, unless the critic is a classifier.")
        return model


def _warn_of(solution: Solution, tol: float) -> None:
    """Say how a solver ended that did not reach its tolerance."""
    tell(
        f"MDRE did not converge in {solution.iterations} steps (gradient "
        f"{solution.gradient_norm:.1e}, tol {tol:.1e}): {solution.status}.",
        ConvergenceWarning,
        stacklevel=5,
    )


def _report_step(iteration: int, norm: float) -> None:
    """Print a line for a step of a solver."""
    print(f"MDRE step {iteration:3d}   gradient {norm:.2e}")
