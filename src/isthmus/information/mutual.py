"""Mutual information of two samples that are paired row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..data.telling import tell
from ..data.threads import limited_threads
from ..data.validation import check_flag, check_number, check_option
from ..sources.whole import drawn_together
from ..typing import Array, RandomState
from .copulas import gaussian_information
from .discrete import pair_information
from .finishing import FUNCTION, finished
from .given import conditional_information
from .marginal import Marginal, canonical
from .neighbours import check_sign, ksg_terms
from .numbers import number_information
from .result import Answer, Information
from .sentinels import sentinel_notes
from .values import Values, read_values

BOUNDS = ("dv", "mine", "nwj", "smile", "infonce")
METHODS = ("auto", "gaussian", "ksg", "cca", *BOUNDS)
_LEAST, _FEW, _PER_COLUMN = 20, 200, 20
# Correlations above this are those of a function: the information is infinite.
_SAME = 1.0 - 1e-10


def mutual_information(
    x: Any,
    y: Any,
    *,
    given: Any = None,
    method: str = "auto",
    discrete_x: bool | str = "auto",
    discrete_y: bool | str = "auto",
    residual: bool = False,
    folds: int = 5,
    level: float = 0.95,
    max_rows: int = 100_000,
    random_state: RandomState = None,
    verbose: int = 0,
) -> Information:
    r"""Mutual information of x and y in nats, with an interval.

    .. math:: I(x; y) = KL(p(x, y) \,\|\, p(x)\,p(y))
        = E_{p(x, y)}\left[\log\frac{p(x, y)}{p(x)\,p(y)}\right]

    The ratio of the joint density to that of shuffled pairs is estimated. Bijections of x
    alone and of y alone do not change I; columns are therefore mapped to normal scores, or
    standardised with long tails drawn in. Families of ratios are tried, the simplest first:
    independence, normal and Student copulas, one with a share of independent pairs, conditional
    densities (with trees, where these see more), mixtures of normals, copulas of non-linear
    variates, nearest neighbours. A later one is taken if it gains clearly on pairs that it was
    not fitted to. The candidates of
    :mod:`isthmus.candidates` learn what the chosen one lacks. If asked for, a neural network does,
    with linear mixtures of joint and shuffled pairs as auxiliary classes.

    Parameters
    ----------
    x, y : array-like, frame or source of shape (n, d) or (n,)
        Row i of x belongs to row i of y. A source is a path of a Parquet file or of a folder of
        them, or anything else that :func:`isthmus.compare` reads in parts.
    given : array-like or frame of shape (n, d) or (n,), optional
        Variables z to condition on: the result is
        I(x; y | z) = I(x; y, z) - I(x; z). Where z is discrete, it is the mean over its values.
    method : str
        "auto" as above; "gaussian", which is the exact unbiased estimate of the normal copula; or
        a rival: "cca" (normal x and y), "ksg" (nearest neighbours), "dv", "mine", "nwj", "smile",
        "infonce" (neural bounds, which need torch).
    discrete_x, discrete_y : bool or "auto"
        Whether the values are labels. "auto": text, booleans and categories are, and so are
        numbers with at most 20 values that are repeated ten times or more in the mean. Two
        labels are counted; for a label and numbers a classifier is fitted.
    residual : bool
        Whether to train a network, too, on what the best of these ratios leaves over. It needs
        torch and takes some ten times as long, and sees what no closed form describes.
    folds : int
        Number of folds; every pair is judged by a ratio fitted to the other folds.
    level : float
        Coverage of the interval and of the lower bound.
    max_rows : int
        Of more rows than this so many are drawn at random; of sources by hashes of their places,
        and a note says so.
    random_state : int, Generator, RandomState or None
        Seeds folds, shuffles and networks.
    verbose : int
        Print what was tried if positive.

    Returns
    -------
    Information
        An :class:`isthmus.functionals.Estimate` with ``diagnostics``, ``trusted``,
        ``lower_bound``, ``trials`` and ``notes``. Where what was worked out is negative, the value
        is zero and a note says so.

    Warns
    -----
    UserWarning
        If there are few rows for so many columns, or if y is a function of x, where the
        mutual information of continuous variables is infinite.

    References
    ----------
    Srivastava et al. (2023), TMLR. Czyż et al. (2023), "Beyond Normal", NeurIPS.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> y = np.exp(0.8 * x + 0.6 * rng.normal(size=2000))
    >>> i = isthmus.mutual_information(x, y, random_state=0)  # the truth is -log(0.6) = 0.511
    >>> i.low < 0.511 < i.high, i.method
    (True, 'gaussian')
    """
    check_option(method, "method", METHODS)
    check_flag(residual, "residual")
    check_number(folds, "folds", low=2, integer=True)
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    check_number(max_rows, "max_rows", low=_LEAST, integer=True)
    seeds = Seeds(random_state)
    levels = method == "auto"
    (x, y, given), told = drawn_together({"x": x, "y": y, "given": given}, max_rows)
    read = [read_values(x, "x", discrete_x, levels), read_values(y, "y", discrete_y, levels)]
    if given is not None:
        read.append(read_values(given, "given"))
    read = _same_rows(read, max_rows, seeds)
    options = _Options(method, residual, int(folds), seeds, verbose)
    with limited_threads():
        if given is None:
            found = options.pair(*read)
        else:
            found = conditional_information(read[0], read[1], read[2], options.pair)
    notes = [told] if told else []
    notes += [note for one in read for note in one.notes]
    found = replace(found, notes=(*notes, *sentinel_notes(*read[:2]), *found.notes))
    return _finish(found, len(read[0]), level)


@dataclass(frozen=True)
class _Options:
    """Options of a call, and the estimate that they lead to for any x and y."""

    method: str
    residual: bool
    folds: int
    seeds: Seeds
    verbose: int

    def pair(self, x: Values, y: Values) -> Answer:
        """Mutual information of x and y, each numbers or labels."""
        levels = any(one.discrete or one.categories for one in (x, y))
        if levels and self.method != "auto":
            raise ValueError(
                f"method must be 'auto' for labels and missing values; received {self.method!r}. "
                "Give discrete_x=False and discrete_y=False if these are numbers."
            )
        return pair_information(x, y, self.seeds, self._folds(len(x)), self.numbers)

    def numbers(self, x: Marginal, y: Marginal) -> Answer:
        """Mutual information of two tables of numbers."""
        n = len(x)
        if x.width + y.width >= n - 2:
            raise ValueError(
                f"x and y must have fewer columns together than rows less two; received "
                f"{x.width} and {y.width} columns in {n} rows."
            )
        _warn_of_few(n, x.width + y.width)
        both = {"gaussian": (x.scores, y.scores), "cca": (x.raw, y.raw)}
        if self.method in both:
            a, b = both[self.method]
            normal = gaussian_information(a, b, scores=self.method == "gaussian")
            return Answer(*normal, self.method, infinite=_same(a, b))
        if self.method == "ksg":
            near = Answer.of_terms(ksg_terms(x.raw, y.raw, k=min(5, n - 1)), "ksg")
            return replace(near, checks={"sign": check_sign(near.value, near.std_error)})
        if self.method in BOUNDS:
            from .variational import CriticSettings, variational_information

            settings = CriticSettings()
            bound = variational_information(x.raw, y.raw, self.method, self.seeds, settings)
            return Answer(*bound, self.method)
        found = number_information(x, y, self.seeds, self._folds(n), self.residual, self.verbose)
        return replace(found, infinite=any(_same(*pair) for pair in both.values()))

    def _folds(self, n: int) -> int:
        """Number of folds of n rows: at least ten rows each."""
        return min(self.folds, max(n // 10, 2))


def _same(x: Array, y: Array) -> bool:
    """Whether a direction of x determines one of y."""
    return bool(canonical(x, y).correlations[0] > _SAME)


def _same_rows(read: Sequence[Values], most: int, seeds: Seeds) -> list[Values]:
    """The same rows of each, at most so many."""
    lengths = [len(each) for each in read]
    if len(set(lengths)) > 1:
        names = ("x", "y", "given")[: len(lengths)]
        raise ValueError(
            f"{', '.join(names[:-1])} and {names[-1]} must have the same number of rows; received "
            f"{', '.join(map(str, lengths))}."
        )
    n = lengths[0]
    if n < _LEAST:
        raise ValueError(f"x and y must have at least {_LEAST} rows; received {n}.")
    if n <= most:
        return list(read)
    chosen = np.sort(seeds("rows").permutation(n)[:most])
    return [each.take(chosen) for each in read]


def _warn_of_few(n: int, d: int) -> None:
    needed = max(_FEW, _PER_COLUMN * d)
    if n < needed:
        tell(
            f"n is small: {n} rows for {d} columns. With fewer than {needed} rows the estimate "
            "may be far off, and only strong, simple dependence is seen.",
            stacklevel=6,
        )


def _finish(found: Answer, n_rows: int, level: float) -> Information:
    if found.infinite:
        tell(FUNCTION, stacklevel=3)
    if found.method in (*BOUNDS, "ksg"):
        told = (
            "The standard error of this method leaves out the bias of its critic; the interval is "
            "too short."
        )
        found = replace(found, notes=(*found.notes, told))
    return finished(found, n_rows, level)
