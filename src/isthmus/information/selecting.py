"""Selection of columns by their mutual information with a target, for frames as they are."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.validation import check_number
from ..typing import BoolArray, RandomState
from .scores import mi_ranking


class SelectByInformation(SelectorMixin, BaseEstimator):
    """The k columns that share most with a target, also of frames with text and missing values.

    scikit-learn's ``SelectKBest`` turns X into numbers before it asks for scores, and refuses text.
    Here text, dates and missing values arrive as they are.

    Parameters
    ----------
    k : int
        How many columns to keep; all if there are fewer.
    discrete : "auto", bool, or sequence of bool, of names or of places
        Which columns are labels; see :func:`isthmus.mi_ranking`.
    discrete_y : "auto" or bool
        Whether the target is a label.
    random_state : int, Generator, RandomState or None
        As of :func:`isthmus.mi_ranking`.

    Attributes
    ----------
    scores_ : ndarray of shape (d,)
    ranking_ : InformationRanking
        The scores with intervals and verdicts.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from isthmus.information import SelectByInformation
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"town": rng.choice(["Bonn", "Kiel"], 300), "size": rng.normal(size=300)})
    >>> select = SelectByInformation(k=1).set_output(transform="pandas")
    >>> list(select.fit_transform(X, X["town"] == "Kiel").columns)
    ['town']
    """

    def __init__(
        self,
        k: int = 10,
        *,
        discrete: Any = "auto",
        discrete_y: bool | str = "auto",
        random_state: RandomState = 0,
    ) -> None:
        self.k = k
        self.discrete = discrete
        self.discrete_y = discrete_y
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Score the columns of X by what they share with y.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
        y : array-like of shape (n,)
        """
        check_number(self.k, "k", low=1, integer=True)
        validate_data(self, X, skip_check_array=True)
        self.ranking_ = mi_ranking(
            X,
            y,
            discrete=self.discrete,
            discrete_y=self.discrete_y,
            random_state=self.random_state,
        )
        self.scores_ = self.ranking_.values
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        kept = np.zeros(len(self.scores_), dtype=bool)
        kept[np.argsort(-self.scores_, kind="stable")[: self.k]] = True
        return kept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
