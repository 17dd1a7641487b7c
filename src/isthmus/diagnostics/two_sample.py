"""Whether two samples come from one distribution: a test with an exact p-value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincc

from ..data.seeds import Seeds
from ..data.telling import quiet
from ..data.validation import as_two_samples, check_number
from ..functionals import Estimate
from ..tables.frames import TableEncoder, is_table
from ..typing import Array, BoolArray, RandomState
from .check import Check, Verdict
from .evidence import Evidence
from .label_blind import Blind, blind_features

_CHUNK = 250
_GRAM_ROWS = 1000
_PERMUTATIONS = 999
_KINDS = {
    "mean": "where they lie",
    "spread": "their spread and correlations",
    "columns": "the distribution of single columns or of the distance from the centre",
    "kernel": "their shape",
}


@dataclass(frozen=True)
class TwoSampleTest:
    """Outcome of :func:`two_sample_test`.

    Attributes
    ----------
    statistic : float
        The largest of the four statistics, each as minus the log of its own tail
        probability, roughly.
    p_value : float
        Probability of at least that statistic if both samples came from one
        distribution.
    kind : {"mean", "spread", "columns", "kernel"}
        Which statistic was the largest.
    n_permutations : int
    null : ndarray of shape (n_permutations,)
        The statistic under permuted labels.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> test = isthmus.two_sample_test(rng.normal(0, 1, 200), rng.normal(1, 1, 200), random_state=0)
    >>> test.p_value < 0.01, len(test.null) == test.n_permutations
    (True, True)
    """

    statistic: float
    p_value: float
    kind: str
    n_permutations: int
    null: Array

    def rejects(self, level: float = 0.05) -> bool:
        """Whether the samples differ, at that level."""
        return self.p_value <= level

    def __str__(self) -> str:
        told = f"p = {self.p_value:.3g}, {self.n_permutations} permutations"
        if self.rejects():
            return f"The samples differ, most clearly in {_KINDS[self.kind]} ({told})."
        return f"Nothing tells the samples apart ({told})."


def two_sample_test(
    p: Any,
    q: Any,
    *,
    n_permutations: int = 999,
    max_rows: int = 5000,
    random_state: RandomState = None,
) -> TwoSampleTest:
    r"""Test whether two samples come from one distribution.

    Four statistics are each the squared distance between the means, over p and over
    q, of features :math:`\phi` that are made without the labels,

    .. math:: T = \left\| \tfrac1{n_p} \sum_{i \in p} \phi(x_i)
              - \tfrac1{n_q} \sum_{i \in q} \phi(x_i) \right\|^2:

    "mean", of whitened normal scores of the columns (Hotelling's test on ranks);
    "spread", of their squares and products; "columns", of five waves in the ranks of one
    column, the largest over all columns and over two distances from the centre; and
    "kernel", of random waves in all columns, the maximum mean discrepancy with
    Gaussian kernels of three widths (Gretton et al., 2012; Rahimi & Recht, 2007).

    The largest is what counts, each on the scale of a gamma distribution with the mean
    and variance that it has under permutation. Its p-value is the share of permutations of
    the labels, the actual one included, that make it as large. It is exact for any
    number of rows: if both samples come from one distribution, it is below a level at
    most with that probability, whatever the distribution.

    Parameters
    ----------
    p, q : array-like or frame of shape (n, d) or (n,)
        The samples; frames as in :func:`isthmus.compare`. Missing values are
        taken for a value of their own.
    n_permutations : int, default 999
        The least p-value is one over one more than this.
    max_rows : int, default 5000
        Largest number of rows of each sample that are used, drawn at random.
    random_state : int, Generator, RandomState or None
        Seeds permutations, directions and the rows drawn.

    Returns
    -------
    TwoSampleTest

    Notes
    -----
    Rows must be independent. With more than 30 columns "spread" is taken from at most
    1000 rows of each sample, by the kernel :math:`(x^\top y)^2`.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (300, 4)), rng.normal(0, 1.5, (300, 4))
    >>> test = isthmus.two_sample_test(p, q, random_state=0)
    >>> test.p_value, test.kind in ("spread", "columns")
    (0.001, True)
    >>> isthmus.two_sample_test(p[:150], p[150:], random_state=0).p_value > 0.05
    True
    """
    check_number(n_permutations, "n_permutations", low=19, integer=True)
    check_number(max_rows, "max_rows", low=10, integer=True)
    if is_table(p) and is_table(q):
        # Levels that only one sample has are a difference like any other here.
        with quiet("non-overlapping category levels"):
            p, q = TableEncoder(missing="indicator").fit_transform(p, q)
    rows_p, rows_q = (sample.rows for sample in as_two_samples(p, q, missing=True))
    seeds = Seeds(random_state)
    some_p = seeds("rows of p").permutation(len(rows_p))[:max_rows]
    some_q = seeds("rows of q").permutation(len(rows_q))[:max_rows]
    return run_test(rows_p[some_p], rows_q[some_q], n_permutations, seeds)


def run_test(p: Array, q: Array, n_permutations: int, seeds: Seeds) -> TwoSampleTest:
    """Run the test on arrays that have been checked; the parameters are those above."""
    blind = blind_features(np.concatenate([p, q]), seeds("directions"))
    is_p = np.repeat([True, False], [len(p), len(q)])
    found = np.concatenate(list(_statistics(blind, is_p, n_permutations, seeds)))
    scale = tail_scale(found)
    largest = scale.max(axis=1)
    p_value = float(np.mean(largest >= largest[0] * (1.0 - 1e-12)))
    kind = list(_KINDS)[int(scale[0].argmax())]
    return TwoSampleTest(float(largest[0]), p_value, kind, n_permutations, largest[1:])


def _statistics(
    blind: Blind, is_p: BoolArray, n_permutations: int, seeds: Seeds
) -> Iterator[Array]:
    """The four statistics, for the actual labels and then for permuted ones, in chunks."""
    rng, spread = seeds("permutations"), _spread(blind, is_p)
    n, n_p = len(is_p), int(is_p.sum())
    waves = blind.columns.reshape(n, -1)
    actual = np.where(is_p, 1.0 / n_p, -1.0 / (n - n_p))
    for begin in range(0, n_permutations + 1, _CHUNK):
        size = min(_CHUNK, n_permutations + 1 - begin)
        labels = rng.permuted(np.tile(actual, (size, 1)), axis=1)
        if begin == 0:
            labels[0] = actual
        by_column = ((labels @ waves) ** 2).reshape(size, *blind.columns.shape[1:])
        yield np.column_stack([
            _squares(labels @ blind.mean),
            spread(labels),
            by_column.sum(axis=2).max(axis=1),
            _squares(labels @ blind.kernel),
        ])  # fmt: skip


def _spread(blind: Blind, is_p: BoolArray) -> Callable[[Array], Array]:
    """Squared difference of all second moments, as a function of labels in rows.

    Where there are too many of them, it is found from inner products of some rows.
    """
    features = blind.spread
    if features is not None:
        return lambda labels: _squares(labels @ features)
    # A permutation of all labels permutes those of any fixed rows.
    at = np.concatenate([np.flatnonzero(is_p == side)[:_GRAM_ROWS] for side in (True, False)])
    kernel = (blind.mean[at] @ blind.mean[at].T) ** 2

    def from_products(labels: Array) -> Array:
        some = labels[:, at]
        # Among fixed rows the numbers of either label vary, so that each side is averaged anew.
        top, bottom = np.maximum(some, 0.0), np.maximum(-some, 0.0)
        top /= np.maximum(top.sum(axis=1, keepdims=True), 1e-300)
        bottom /= np.maximum(bottom.sum(axis=1, keepdims=True), 1e-300)
        some = top - bottom
        return np.asarray(np.einsum("ij,ij->i", some @ kernel, some))

    return from_products


def _squares(means: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", means, means))


def tail_scale(found: Array) -> Array:
    """Statistics as minus the log of their tail probabilities under gamma distributions.

    The moments are those of all rows of ``found``, the actual one among them: what treats
    it like any other leaves the p-value exact.
    """
    mean, variance = found.mean(axis=0), found.var(axis=0)
    # Features are of the order of one: what is left of equal ones is rounding.
    flat = ~((variance > 1e-24 * mean**2) & (mean > 1e-20))
    variance = np.where(flat, 1.0, variance)
    mean = np.where(flat, 1.0, mean)
    shape, unit = mean**2 / variance, variance / mean
    with np.errstate(divide="ignore"):
        out = -np.log(gammaincc(shape, found / unit))
    # Beyond all digits the order is what is left.
    out = np.where(np.isfinite(out), out, 745.0 + found / unit)
    return np.asarray(np.where(flat, 0.0, out))


def check_difference(test: TwoSampleTest, kl: Estimate, n_p: int, n_q: int) -> Check:
    r"""Whether a two-sample test and the KL tell the same story.

    Near p = q, a test with :math:`n = n_p n_q / (n_p + n_q)` sees a signal, a
    noncentrality, of about 2 n KL. If that is small the test has no business to reject; if it
    is large the test should.

    Parameters
    ----------
    test : TwoSampleTest
    kl : Estimate
    n_p, n_q : int
        Rows that the test was shown.

    Returns
    -------
    Check
        Its value is the p-value of the test.

    Examples
    --------
    >>> import isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (400, 8)), rng.normal(0.28, 1, (400, 8))
    >>> test = isthmus.two_sample_test(p, q, random_state=0)
    >>> zero = isthmus.Estimate.from_std_error(0.0, 0.05)
    >>> check_difference(test, zero, 400, 400).verdict
    'fail'
    """
    rows = n_p * n_q / (n_p + n_q)
    signal = 2.0 * rows * (kl.value if np.isfinite(kl.value) else np.inf)
    verdict: Verdict = "ok"
    advice = str(test)
    if signal < 4.0 and test.p_value <= 0.01:
        verdict = "fail" if test.p_value <= 0.002 else "warn"
        advice += (
            " The KL is nevertheless about zero: the fit misses the difference, often "
            "because there are few rows for so many columns. Give MDRE an anchor, such as "
            "anchor='gaussian', use fewer columns, or more rows."
        )
    elif 2.0 * rows * kl.low > 50.0 and not test.rejects(0.05):
        verdict = "warn"
        advice += " The KL is nevertheless above zero: the ratio may follow noise."
    details = {
        "statistic": test.statistic,
        "kind": test.kind,
        "signal": float(signal),
        "null": test.null.tolist(),
    }
    return Check(test.p_value, verdict, advice, details=details)


def difference(e: Evidence) -> Check | None:
    """By a test on some rows of both samples, where rows count once."""
    if e.weighted:
        return None
    p, q = e.some["p"], e.some["q"]
    return check_difference(run_test(p, q, _PERMUTATIONS, Seeds(0)), e.kl, len(p), len(q))
