"""The score that a model will have on the target, before any label there is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold

from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.validation import check_number
from ..functionals import Estimate
from ..typing import RandomState
from ..weighting import Weights
from .calibrating import effective_size
from .doors import labelled
from .inner import check_estimator
from .ranges import score_range
from .ratio import Looked, learn_ratio
from .recorded import record
from .reweighed import Reweighed
from .target import target_rows

LEAST_ROWS = 30
"""Rows that weighted rows have to be worth for a mean of them to be about normal."""


@dataclass(frozen=True)
class ShiftedScore:
    """What :func:`shifted_score` found.

    Attributes
    ----------
    target : Estimate
        Score to be expected on the target.
    plain : Estimate
        Score on rows like those that the model is fitted to: cross-validation without weights.
    change : Estimate
        The first less the second, from the same rows.
    effective_sample_size : float
        How many rows of equal weight the rows of X are worth on the target.
    rows : int
        How many there are.
    scoring : str
        What was scored, in words.
    weights : Weights
        What the rows of X count for on the target, with its certificate.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, target = rng.normal(0, 1, (300, 1)), rng.normal(1, 1, (300, 1))
    >>> y = X[:, 0] ** 2 + rng.normal(size=300)
    >>> found = isthmus.shifted_score(
    ...     LinearRegression(), X, y, target, scoring="neg_mean_squared_error", random_state=0
    ... )
    >>> isinstance(found, isthmus.ShiftedScore), bool(found.target < found.plain), found.rows
    (True, True, 300)
    """

    target: Estimate
    plain: Estimate
    change: Estimate
    effective_sample_size: float
    rows: int
    scoring: str
    weights: Weights

    @property
    def enough(self) -> bool:
        """Whether the rows are worth enough on the target for the interval to be one."""
        return self.effective_sample_size >= LEAST_ROWS

    def to_dict(self) -> dict[str, Any]:
        """What strict JSON accepts: the three estimates, what was scored, and the rows' worth."""
        return {
            "scoring": self.scoring,
            "target": self.target.to_dict(),
            "plain": self.plain.to_dict(),
            "change": self.change.to_dict(),
            "rows": self.rows,
            "effective_sample_size": self.effective_sample_size,
            "enough": self.enough,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.scoring}",
            f"on the target  {self.target}",
            f"plain          {self.plain}",
            f"change         {self.change}",
            f"{self.rows:,} rows are worth {self.effective_sample_size:,.0f} on the target"
            + ("." if self.enough else f", fewer than {LEAST_ROWS}: too few to tell."),
        ]
        return "\n".join(lines)


def shifted_score(
    estimator: Any,
    X: Any,
    y: Any,
    X_target: Any,
    *,
    scoring: Any = None,
    cv: Any = 5,
    level: float = 0.95,
    draws: int = 200,
    ratio: Any = None,
    columns: Any = None,
    drop: Any = (),
    keep: Any = (),
    dates: Any = "days",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> ShiftedScore:
    r"""Score to be expected on the target, with an interval, before any label there is known.

    Every labelled row is predicted by a fit without its fold, as in cross-validation, and counts
    for the density of the target over that of the source. The score is that of all rows at once,
    :math:`\sum_i w_i \ell_i / \sum_i w_i` for a score which is a mean. It is right if labels given
    the columns are distributed alike on both sides.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor. One whose ``fit`` takes a ``target``, such as
        :class:`ShiftWeighted`, is given it.
    X : array-like or frame of shape (n, d)
        Rows of the source.
    y : array-like of shape (n,)
        Their labels.
    X_target : array-like or frame of shape (m, d)
        Rows of the target, without labels.
    scoring : str or callable, optional
        As in scikit-learn; by default accuracy of a classifier and R² of a regressor. A
        score that takes no weights is worked out on rows drawn by their weights.
    cv : int or splitter, default 5
        Folds. A number shuffles rows first.
    level : float, default 0.95
        Level of the intervals.
    draws : int, default 200
        Draws of the rows' noise.
    ratio : estimator, optional
        What estimates the ratio of the densities, as ``estimator`` of
        :func:`isthmus.importance_weights`.
    columns, drop, keep, dates
        Which columns of frames the ratio looks at, as in :func:`isthmus.compare`. The estimator
        has all of them.
    random_state : int, Generator, RandomState or None
        Makes the result reproducible.
    n_jobs : int, optional
        Number of fits of the ratio to run at a time.
    progress : callable or bool, optional
        As in :func:`isthmus.compare`, of the fit of the ratio.

    Returns
    -------
    ShiftedScore
        Intervals hold for the noise of the rows, by a Bayesian bootstrap that weighs them
        anew and divides by the sum of their weights each time, and for the error of the
        ratio, by a jackknife over its folds; not for how the model would differ if
        it were fitted to other rows.

    Warns
    -----
    UserWarning
        Where the rows are worth fewer than 30 on the target, or where no weighting helps.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, target = rng.normal(0, 1, (1000, 1)), rng.normal(1, 0.7, (1000, 1))
    >>> y = np.where(X[:, 0] > 1, 3.0, 1.0) * rng.normal(size=1000)  # noisier on the target
    >>> found = isthmus.shifted_score(
    ...     LinearRegression(), X, y, target, scoring="neg_mean_absolute_error", random_state=0
    ... )
    >>> found.target.high < found.plain.low
    True
    """
    check_estimator(estimator)
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    check_number(draws, "draws", low=20, integer=True)
    scoring = _scoring(estimator, scoring)
    scorer, told = check_scoring(estimator, scoring), _name(scoring)
    given = labelled(X, y)
    seeds = Seeds(random_state)
    found = learn_ratio(
        given.rows,
        target_rows(X_target),
        ratio=ratio,
        columns=Looked(columns, drop, keep, dates),
        random_state=int(seeds("ratio").integers(2**31)),
        n_jobs=n_jobs,
        progress=progress,
    )
    if isinstance(cv, int):
        kind = StratifiedKFold if is_classifier(estimator) else KFold
        cv = kind(cv, shuffle=True, random_state=int(seeds("folds").integers(2**31)))
    rows = Reweighed(record(estimator, given, X_target, cv), given, scorer, seeds)
    target, plain, change = rows.estimates(found, level, draws, score_range(scoring))
    size = effective_size(found.held_out)
    out = ShiftedScore(target, plain, change, size, len(given.labels), told, found.weights)
    if not (out.enough and found.weights.usable):
        tell(
            f"The {len(given.labels)} rows of X are worth {size:.0f} on the target: neither "
            f"the score nor its interval can be relied on. {found.weights.verdict}",
            stacklevel=2,
        )
    elif found.blind:
        tell(found.blind, stacklevel=2)
    return out


def _scoring(estimator: Any, scoring: Any) -> Any:
    """The score that is asked for, or the usual one of the estimator."""
    if scoring is None:
        if is_classifier(estimator):
            return "accuracy"
        if is_regressor(estimator):
            return "r2"
        raise ValueError(
            "scoring must be given for what is neither a classifier nor a regressor; received "
            f"None for a {type(estimator).__name__}."
        )
    if not (isinstance(scoring, str) or callable(scoring)):
        raise ValueError(
            "scoring must be the name of one score or a function of estimator, X and y; received "
            f"{scoring!r}."
        )
    return scoring


def _name(scoring: Any) -> str:
    """The score in words."""
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
    return str(name).replace("_", " ")
