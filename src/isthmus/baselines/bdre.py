"""BDRE: density ratio estimation by binary logistic regression.

Sugiyama, Suzuki & Kanamori, "Density Ratio Estimation in Machine Learning",
Cambridge University Press 2012, chapter 4; Menon & Ong, "Linking losses for
density ratio and class-probability estimation", ICML 2016. It is MDRE without
auxiliaries.
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.calibration import CalibratedClassifierCV

from ..data.distinct import hold_out_of_both
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.validation import check_option
from ..estimator import RatioEstimator
from ..maps.shared import check_kinds
from ..model.checks import check_settings, check_verbose
from ..model.classifier import ClassifierModel
from ..settings import is_auto
from ..typing import Array
from .binary import fit_binary, only_penalty_open
from .parameters import ConvexParameters

_FOLDS = 5


@dataclass(eq=False, repr=False)
class BDRE(ConvexParameters, RatioEstimator):
    """Estimate log p/q by classifying p against q.

    The probability of p at x, with p and q equally frequent, is
    p(x) / (p(x) + q(x)), so that the logit of a classifier that knows it is ::

        h(x) = log p(x) / q(x).

    With a critic h that is linear in its parameters this is binary logistic
    regression, ::

        mean over p of log(1 + exp(-h)) + mean over q of log(1 + exp(h)) + l2/2 |theta|^2 / n,

    a convex problem that is solved to convergence. Where p and q hardly overlap,
    classifying them is easy and says little about their ratio: the density chasm
    that TRE and MDRE bridge.

    Parameters
    ----------
    critic : str or critic, default "quadratic"
        The function h: "quadratic", "diagonal", "low-rank", anything in
        :mod:`isthmus.critics`, or "auto".
    classifier : scikit-learn classifier, optional
        Any classifier takes the place of the critic: the ratio is its odds over
        the prior odds that it was trained with. Rows are weighted so that both
        samples count alike, or, if its ``fit`` takes no weights, the sample sizes
        are divided out: unequal sizes never turn the ratio into odds. Probabilities
        are kept above 1e-12, so that no log-ratio lies beyond 27.6.
    calibration : {None, "sigmoid", "isotonic"}, default None
        Recalibrate the classifier on held-out rows, by five stratified folds
        (:class:`sklearn.calibration.CalibratedClassifierCV`). A classifier that has
        only a ``decision_function`` needs it.
    anchor, maps, solver, tol, max_iter
        As in :class:`isthmus.MDRE`; without anchor and maps by default.
    l2 : float or "auto", default "auto"
        Ridge penalty on the coefficients, which are standardised for each class.
        "auto" holds a quarter of the rows out and takes the one under which their
        labels are likeliest; with fewer than 200 rows in a sample it is 1.
    random_state : int, Generator, RandomState or None, default None
        Seeds the split, and the classifier where it has no seed of its own.
    verbose : int, default 0
        Print a line for each solver step if positive.

    Attributes
    ----------
    estimator_ : MDRE
        The fit, without auxiliaries.
    classifier_ : classifier
        The fitted classifier, where one was given.
    l2_, selection_ : float and Selection
        The penalty, and how it was chosen.
    n_iter_ : int
        Number of solver steps; 1 for a classifier.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.baselines import BDRE
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 4000), rng.normal(1, 1, 1000))
    >>> bdre = BDRE(random_state=0).fit(X, y)
    >>> bdre.log_ratio([[0.0], [1.0]]).round(1)  # truth: 0.5 and -0.5
    array([ 0.5, -0.5])
    """

    critic: Any = "quadratic"
    _: KW_ONLY
    classifier: Any = None
    calibration: str | None = None

    @property
    def takes_missing(self) -> bool:
        return self.classifier is not None

    def check_parameters(self) -> None:
        check_settings(self.settings())
        check_verbose(self.verbose)
        check_option(self.calibration, "calibration", [None, "sigmoid", "isotonic"])
        if self.classifier is None:
            if self.calibration is not None:
                raise ValueError(
                    "calibration must be None without a classifier; received "
                    f"{self.calibration!r}. A critic is calibrated as it is."
                )
            return
        wanted = ["fit", "predict_proba"]
        if self.calibration is not None and not hasattr(self.classifier, "predict_proba"):
            wanted[1] = "decision_function"
        for name in wanted:
            if not callable(getattr(self.classifier, name, None)):
                raise ValueError(
                    f"classifier must have {' and '.join(wanted)}; received a "
                    f"{type(self.classifier).__name__} without {name}. One with "
                    "decision_function alone takes calibration='sigmoid' or 'isotonic'."
                )

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        check_kinds(self.maps, samples.n_columns, "maps")
        settings, halves = self.settings(), None
        if self.classifier is not None:
            settings = settings.but(critic=self._calibrated(samples.least))
        elif only_penalty_open(settings) and is_auto(self.l2):
            halves = hold_out_of_both(samples, seeds)
        with warnings.catch_warnings():
            if not samples.weighted:
                # The weights are those that balance the samples; calibration alone sees to that.
                warnings.filterwarnings("ignore", message=".*only be used for the calibration")
            self.estimator_, penalty, self.n_iter_ = fit_binary(samples, settings, seeds, halves)
        model = self.estimator_.model_
        if self.classifier is None:
            self.l2_, self.selection_ = penalty.l2, penalty.selection
        elif isinstance(model, ClassifierModel):
            self.classifier_ = model.classifier

    def _calibrated(self, rows: int) -> Any:
        if self.calibration is None:
            return self.classifier
        if rows < 2 * _FOLDS:
            raise ValueError(
                f"calibration must have at least {2 * _FOLDS} rows in each sample, two for each of "
                f"{_FOLDS} folds; received {rows}."
            )
        return CalibratedClassifierCV(self.classifier, method=self.calibration, cv=_FOLDS)

    def evaluate(self, rows: Array) -> Array:
        return self.estimator_.log_ratio_at(rows)
