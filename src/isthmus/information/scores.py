"""Mutual information of every column with one: scores of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import words
from ..data.seeds import Seeds
from ..data.threads import limited_threads
from ..data.validation import check_number
from ..typing import Array, BoolArray, RandomState
from .matrix import Progress, of_pair
from .reading import read_singles
from .result import Information
from .telling import aligned, ends, is_trusted, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST, _SHOWN = 20, 20


@dataclass(frozen=True, repr=False, eq=False)
class InformationRanking:
    """Mutual information of every column with one, in nats.

    Parameters
    ----------
    names : list of str
        The columns, in their order.
    scores : tuple of Information
        One for each.
    n_rows : int
    level : float
        Coverage of the intervals.
    notes : tuple of str
        What was made of columns, where it may surprise.
    left_out : mapping of str to str
        Columns that hold neither numbers nor levels, and why. Their score is 0.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 1000))
    >>> found = isthmus.mi_ranking({"a": a, "b": b, "one": np.ones(1000)}, a > 0)
    >>> found.values.shape, found.top(1)[0][0], found.scores[2].high
    ((3,), 'a', 0.0)
    """

    names: list[str]
    scores: tuple[Information, ...]
    n_rows: int = 0
    level: float = 0.95
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> Array:
        """The informations, shape (d,), at least 0."""
        return np.array([one.value for one in self.scores])

    @property
    def low(self) -> Array:
        """Lower ends of the intervals, shape (d,)."""
        return np.array([one.low for one in self.scores])

    @property
    def high(self) -> Array:
        """Upper ends, shape (d,); infinite, or the largest possible value, where not known."""
        return np.array([one.high for one in self.scores])

    @property
    def trusted(self) -> BoolArray:
        """Whether nothing speaks against a number, shape (d,)."""
        return np.array([is_trusted(one) for one in self.scores])

    def top(self, most: int = 10) -> list[tuple[str, float]]:
        """Names and values of the columns with the largest values, the largest first."""
        return [(self.names[k], self.scores[k].value) for k in self._order[:most]]

    def to_frame(self) -> Any:
        """One row for every column, as a pandas frame, the largest first."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas, which is not installed.") from None
        return pd.DataFrame(
            [
                {
                    "column": self.names[k],
                    "value": self.scores[k].value,
                    "low": self.scores[k].low,
                    "high": self.scores[k].high,
                    "trusted": is_trusted(self.scores[k]),
                    "reason": self.scores[k].reason,
                    "method": self.scores[k].method,
                }
                for k in self._order
            ]
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the columns with the largest values, with their intervals.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        """
        from ..plots import intervals

        shown = self._order[:_SHOWN]
        found = [self.scores[k] for k in shown]
        return intervals(
            [self.names[k] for k in shown],
            [one.value for one in found],
            [one.low for one in found],
            [np.inf if one.one_sided else one.high for one in found],
            what="mutual information, nats",
            ax=ax,
        )

    def __str__(self) -> str:
        rows = [("column", "nats", f"{100 * self.level:g} % interval", "")]
        for k in self._order[:_SHOWN]:
            one = self.scores[k]
            name = words.printable(self.names[k], 32)
            rows.append((name, f"{one.value:.3f}", ends(one), verdict(one)))
        more = [f"and {len(self.scores) - _SHOWN} more"] * (len(self.scores) > _SHOWN)
        return "\n".join([*aligned(rows, [1, 2]), *more])

    __repr__ = __str__

    @property
    def _order(self) -> list[int]:
        return [int(k) for k in np.argsort(-self.values, kind="stable")]


def mi_ranking(
    X: Any,
    y: Any,
    *,
    discrete: Any = "auto",
    discrete_y: bool | str = "auto",
    level: float = 0.95,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> InformationRanking:
    """Mutual information of every column with y, each with an interval and a verdict.

    It is worked out as by :func:`isthmus.mi_matrix`, quickly: 1,000 columns are no matter.

    Parameters
    ----------
    X : array-like or frame of shape (n, d)
        Text, booleans and numbers with at most 20 values that repeat are labels. A missing value
        is a level of its own.
    y : array-like of shape (n,)
        Labels or numbers.
    discrete : "auto", bool, or sequence of bool, of names or of places
        Which columns of X are labels, where that is not "auto": codes of many levels, for example.
    discrete_y : "auto" or bool
        Whether y is a label.
    level : float
        Coverage of the intervals.
    random_state : int, Generator, RandomState or None
        Draws equal numbers apart, and shuffles.
    progress : callable, optional
        Called with the number of columns that are done, that of all, and the name of the next.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> kind = rng.choice(["new", "old"], 500)
    >>> price = np.where(kind == "new", 2.0, 1.0) + 0.1 * rng.normal(size=500)
    >>> found = isthmus.mi_ranking({"kind": kind, "size": rng.normal(size=500)}, price)
    >>> found.scores[0].low > 0.5, found.scores[1].low
    (True, 0.0)
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    if not (isinstance(discrete_y, bool | np.bool_) or discrete_y == "auto"):
        raise ValueError(f"discrete_y must be True, False or 'auto'; received {discrete_y!r}.")
    seeds = Seeds(random_state)
    read, given = read_singles(X, "X", seeds, discrete), read_singles(y, "y", seeds, discrete_y)
    if read.n_rows != given.n_rows:
        raise ValueError(
            f"X and y must have the same number of rows; received {read.n_rows} and {given.n_rows}."
        )
    if read.n_rows < _LEAST:
        raise ValueError(f"X must have at least {_LEAST} rows; received {read.n_rows}.")
    if len(given.columns) != 1:
        raise ValueError(f"y must be one column; received {len(given.columns)}.")
    target = given.columns[0]
    # A column that is y itself has its equal numbers drawn apart in another way.
    target = replace(target, name=f"y: {target.name}")
    none = Information(0.0, 0.0, 0.0, np.inf, reason="the column holds neither numbers nor levels")
    scores = dict.fromkeys(read.names, none)
    with limited_threads():
        for done, column in enumerate(read.columns):
            if progress is not None:
                progress(done, len(read.columns), column.name)
            # Of a copy, with which goes what was worked out of it: there may be many columns.
            scores[column.name] = of_pair(replace(column), target, level)
    found = tuple(scores.values())
    return InformationRanking(read.names, found, read.n_rows, level, read.notes, read.left_out)


def mi_scores(
    X: Any,
    y: Any,
    *,
    discrete: Any = "auto",
    discrete_y: bool | str = "auto",
    random_state: RandomState = 0,
) -> Array:
    """Mutual information of every column with y: a score for scikit-learn's ``SelectKBest``.

    A constant has exactly 0, repeated values and labels are taken for what they are, and no score
    exceeds the entropy of a label. :func:`mi_ranking` has intervals, too. ``SelectKBest`` itself
    turns X into numbers before any score sees it, and refuses text: encode it first, or take
    :class:`isthmus.information.SelectByInformation`, which takes frames as they are.

    Parameters
    ----------
    X : array-like or frame of shape (n, d)
    y : array-like of shape (n,)
    discrete, discrete_y, random_state
        As of :func:`mi_ranking`.

    Returns
    -------
    ndarray of shape (d,)
        In nats, at least 0.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from sklearn.feature_selection import SelectKBest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 4))
    >>> y = np.abs(X[:, 2]) + 0.1 * rng.normal(size=1000)
    >>> SelectKBest(isthmus.mi_scores, k=1).fit(X, y).get_support(indices=True)
    array([2])
    """
    return mi_ranking(
        X, y, discrete=discrete, discrete_y=discrete_y, random_state=random_state
    ).values
