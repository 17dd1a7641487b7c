"""Mutual information of two samples that are paired row by row."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..data.validation import check_flag, check_number, check_option
from ..typing import Array, RandomState
from .anchored import estimate
from .bound import lower_bound
from .copulas import gaussian_information, rank_noise
from .discrete import label_information, table_information
from .judge import Judged
from .neighbours import ksg_terms
from .reading import Values, read_side
from .result import Information
from .sides import Side, canonical

METHODS = ("auto", "gaussian", "ksg", "cca", "dv", "mine", "nwj", "smile", "infonce")
_LEAST, _FEW, _PER_COLUMN = 20, 200, 20
# Correlations above this are those of a function: the information is infinite.
_SAME = 1.0 - 1e-10


@dataclass
class Found:
    """A number with the terms of the rows that it is a mean of, where there are any."""

    value: float
    std_error: float
    what: str
    terms: Array | None = None
    judged: Judged | None = None
    trials: list[dict[str, Any]] = field(default_factory=list)
    infinite: bool = False


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

    .. math:: I(x; y) = KL\big(p(x, y) \,\|\, p(x)\,p(y)\big)
        = E_{p(x, y)}\left[\log\frac{p(x, y)}{p(x)\,p(y)}\right]

    The ratio of the joint density to that of shuffled pairs is estimated. Bijections of x
    alone and of y alone do not change I; columns are therefore mapped to normal scores, and
    both sides to canonical directions. Several ratios are tried, the simplest first:
    independence, the normal copula, normal x and y, the t-copula, nearest neighbours (up to
    three columns), and the normal copula of non-linear canonical variates. A later one is taken
    if it gains clearly, by two or three standard errors, on pairs that it was not fitted to. If
    asked for, a neural network learns what is left over, with linear mixtures of joint and
    shuffled pairs as auxiliary classes.

    Parameters
    ----------
    x, y : array-like or frame of shape (n, d) or (n,)
        Row i of x belongs to row i of y.
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
        Of more rows than this so many are drawn at random.
    random_state : int, Generator, RandomState or None
        Seeds folds, shuffles and networks.
    verbose : int
        Print what was tried if positive.

    Returns
    -------
    Information
        An :class:`isthmus.functionals.Estimate` with ``lower_bound``, ``trials`` and
        ``notes``. The value may be slightly negative, which means that it is near zero.

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
    sides = [read_side(x, "x", discrete_x), read_side(y, "y", discrete_y)]
    if given is not None:
        sides.append(read_side(given, "given", "auto"))
    sides = _same_rows(sides, max_rows, seeds)
    how = _How(method, residual, int(folds), seeds, verbose)
    if given is None:
        found = how.pair(sides[0], sides[1])
    else:
        found = how.conditional(*sides)
    return _finish(found, sides, level)


@dataclass
class _How:
    """Options of a call, and the estimate that they lead to for any two sides."""

    method: str
    residual: bool
    folds: int
    seeds: Seeds
    verbose: int = 0

    def pair(self, x: Values, y: Values) -> Found:
        """Mutual information of two sides, each numbers or labels."""
        (x_rows, x_label), (y_rows, y_label) = x, y
        if x_label is not None and y_label is not None:
            self._only_auto("labels")
            return Found(*table_information(x_label, y_label), "table")
        if x_label is not None or y_label is not None:
            self._only_auto("labels")
            rows, label = (y_rows, x_label) if x_label is not None else (x_rows, y_label)
            assert rows is not None and label is not None
            folds = min(self.folds, max(len(rows) // 10, 2))
            value, error, terms, trials = label_information(rows, label, self.seeds, folds)
            return Found(value, error, "classifier", terms, trials=trials)
        assert x_rows is not None and y_rows is not None
        return self.numbers(x_rows, y_rows)

    def numbers(self, x_rows: Array, y_rows: Array) -> Found:
        """Mutual information of two tables of numbers."""
        x, y = Side.of(x_rows), Side.of(y_rows)
        n = len(x_rows)
        if not x.width or not y.width:
            return Found(0.0, 0.0, "constant", np.zeros(n))
        if x.width + y.width >= n - 2:
            raise ValueError(
                f"x and y must have fewer columns together than rows less two; received "
                f"{x.width} and {y.width} columns in {n} rows."
            )
        _warn_of_few(n, x.width + y.width)
        if self.method in ("gaussian", "cca"):
            how = ("scores", "scores") if self.method == "gaussian" else ("raw", "raw")
            a, b = getattr(x, how[0]), getattr(y, how[1])
            found = Found(*gaussian_information(a, b), self.method)
            if self.method == "gaussian":
                found.std_error = float(np.hypot(found.std_error, rank_noise(a, b)))
            found.infinite = canonical(a, b, np.arange(n))[2][0] > _SAME
            return found
        if self.method == "ksg":
            terms = ksg_terms(x.raw, y.raw, k=min(5, n - 1))
            return Found(float(terms.mean()), float(terms.std() / np.sqrt(n)), "ksg", terms)
        if self.method != "auto":
            from .variational import variational_information

            bound = variational_information(x.raw, y.raw, self.method, self.seeds)
            return Found(*bound, self.method)
        top = max(canonical(s, t, np.arange(n))[2][0] for s, t in
                  ((x.scores, y.scores), (x.raw, y.raw)))  # fmt: skip
        folds = min(self.folds, max(n // 10, 2))
        best = estimate(x, y, self.seeds, folds, residual=self.residual, verbose=self.verbose)
        trials = [{"name": each.name, "score": each.score} for each in best.trials]
        judged = best.judged
        return Found(
            best.value, best.std_error, judged.name, judged.joint, judged, trials, top > _SAME
        )

    def conditional(self, x: Values, y: Values, z: Values) -> Found:
        """I(x; y | z) by the chain rule, or stratum by stratum where z is a label."""
        if z[1] is not None:
            return self._strata(x, y, z[1])
        assert z[0] is not None
        if x[1] is None and y[1] is not None:
            # The label has to stand alone; the information is symmetric.
            x, y = y, x
        if y[1] is not None:
            raise ValueError(
                "given must be discrete if x and y are; received numbers. Bin them, such as "
                "with sklearn.preprocessing.KBinsDiscretizer."
            )
        assert y[0] is not None
        whole = self.pair(x, (np.hstack([y[0], z[0]]), None))
        part = self.pair(x, z)
        out = Found(whole.value - part.value, 0.0, f"{whole.what} less {part.what}")
        out.infinite = whole.infinite
        out.trials = [*whole.trials, *part.trials]
        variance = whole.std_error**2 + part.std_error**2
        if whole.terms is not None and part.terms is not None:
            # Both are means over the same rows: their common noise cancels.
            n = len(whole.terms)
            out.terms = whole.terms - part.terms
            own = (whole.terms.var() + part.terms.var()) / n
            variance = max(variance - own, 0.0) + out.terms.var() / n
        out.std_error = float(np.sqrt(variance))
        return out

    def _strata(self, x: Values, y: Values, label: np.ndarray) -> Found:
        n, value, variance, names = len(label), 0.0, 0.0, set()
        for each in np.unique(label):
            own = label == each
            if own.sum() < _LEAST:
                raise ValueError(
                    f"given must have at least {_LEAST} rows of every value; received "
                    f"{own.sum()} rows of one. Join rare values."
                )
            part = self.pair(_take(x, own), _take(y, own))
            share = own.sum() / n
            value += share * part.value
            variance += (share * part.std_error) ** 2
            names.add(part.what)
        return Found(value, float(np.sqrt(variance)), f"strata of {', '.join(sorted(names))}")

    def _only_auto(self, what: str) -> None:
        if self.method != "auto":
            raise ValueError(
                f"method must be 'auto' for {what}; received {self.method!r}. Give "
                "discrete_x=False and discrete_y=False if these are numbers."
            )


def _take(side: Values, rows: np.ndarray) -> Values:
    values, label = side
    if values is not None:
        return values[rows], None
    assert label is not None
    return None, np.unique(label[rows], return_inverse=True)[1].reshape(-1)


def _same_rows(sides: Sequence[Values], most: int, seeds: Seeds) -> list[Values]:
    lengths = [len(next(each for each in side if each is not None)) for side in sides]
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
        return list(sides)
    chosen = np.sort(seeds("rows").permutation(n)[:most])
    return [_take(side, chosen) for side in sides]


def _warn_of_few(n: int, d: int) -> None:
    needed = max(_FEW, _PER_COLUMN * d)
    if n < needed:
        warnings.warn(
            f"n is small: {n} rows for {d} columns. With fewer than {needed} rows the estimate "
            "may be far off, and only strong, simple dependence is seen.",
            stacklevel=5,
        )


def _finish(found: Found, sides: Sequence[Values], level: float) -> Information:
    n = len(next(values for values in sides[0] if values is not None))
    notes = []
    error = found.std_error
    if found.infinite:
        text = (
            "x and y determine each other up to rounding: the mutual information of continuous "
            "variables is then infinite, and the value only says what these rows can show."
        )
        warnings.warn(text, stacklevel=3)
        notes.append(text)
        error = np.inf
    if found.value < 0:
        notes.append(
            f"The estimate is negative ({found.value:.3g}). A mutual information is not: this is "
            "the noise of an information near zero, and it is not hidden by clipping."
        )
    if found.what in ("dv", "mine", "nwj", "smile", "infonce", "ksg"):
        notes.append(
            "The standard error of this method leaves out the bias of its critic; the interval is "
            "too short."
        )
    base = Information.from_std_error(found.value, error, level=level, lower=0.0)
    return Information(
        base.value,
        base.std_error,
        base.low,
        base.high,
        level,
        found.what,
        lower_bound=lower_bound(found.judged, found.value, found.std_error, level),
        n_rows=n,
        trials=tuple(found.trials),
        notes=tuple(notes),
    )
