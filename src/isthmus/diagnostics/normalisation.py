"""Whether densities that were estimated up to a ratio have total mass one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logsumexp

from ..data.sample import Sample
from ..data.seeds import Seeds
from ..functionals import effective_sample_size
from ..typing import Array
from .check import Check, Verdict, advised
from .evidence import Evidence

COVERED = 0.99
"""Share of the rows of one sample whose ratio the other must attain to carry a mean of it."""

UNLIKELY, IMPOSSIBLE = 20.0, 100.0
"""A mean of numbers that are not negative is k times its expectation with a chance of at most
1 / k (Markov), whatever their tail is: one row may carry it and is evidence all the same."""

_FRESH_ROWS = 20_000


def check_normalisation(log_terms: Array, weight: Array | None, what: str, how: str) -> Check:
    """Whether a density that was estimated up to a ratio has total mass one.

    Parameters
    ----------
    log_terms, weight : ndarray of shape (n,)
        Log of the terms whose mean should be one, and weights of the rows, if they have some.
        A mean of 100 and more fails, and one of 20 is a warning, whatever its error is: if
        the ratio were right, chances of that would be at most one in 100 and one in 20.
    what, how : str
        The expectation, such as "E_q[p/q]", and which rows the mean runs over.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.diagnostics import check_normalisation
    >>> rows = np.random.default_rng(0).normal(size=2000)
    >>> terms = 0.1 * rows - 0.005  # log p/q of N(0.1, 1) against N(0, 1), over rows of the second
    >>> check_normalisation(terms, None, "E_q[p/q]", "over the rows of q").verdict
    'ok'
    """
    share = Sample.of(log_terms, weight).share
    log_mean = float(logsumexp(log_terms, b=share))
    value = float(np.exp(min(log_mean, 700.0)))
    terms = np.exp(np.minimum(log_terms, 700.0) - np.clip(log_mean, -700.0, 700.0))
    error = float(np.sqrt((share**2 * (terms - 1.0) ** 2).sum())) * value
    gap = abs(value - 1.0)
    # One row may carry such a mean, and make it much too large, where nothing is wrong.
    known = gap < (0.5 if value < 1.0 else 1.0)
    verdict: Verdict = "ok" if gap <= max(3.0 * error, 0.05) and known else "warn"
    if value >= UNLIKELY:
        verdict = "warn"
    if gap > max(5.0 * error, 0.5) or not value < IMPOSSIBLE:
        verdict = "fail"
    return advised(
        value,
        verdict,
        f"{what} is {value:.3g} ± {error:.2g} over {how} and should be 1",
        ok=", within its error.",
        warn=": the ratio is off somewhere; more rows or other auxiliaries may help.",
        fail=": the critic does not fit these samples; try another critic or anchor.",
        details={"std_error": error},
    )


def reach(log_ratio_p: Array, log_ratio_q: Array, top: str = "p") -> float:
    """Share of the rows of one sample whose ratio the other sample attains too."""
    if top == "p":
        return float((log_ratio_p <= log_ratio_q.max()).mean())
    return float((log_ratio_q >= log_ratio_p.min()).mean())


def normalisation(e: Evidence, top: str, bottom: str) -> Check:
    """Check that E_bottom[top/bottom] is one, on rows that can tell."""
    apart = reach(e.p.rows, e.q.rows, top) < COVERED
    sample = e.q if bottom == "q" else e.p.map(np.negative)
    what, how = f"E_{bottom}[{top}/{bottom}]", f"the rows of {bottom}"
    check = check_normalisation(sample.rows, sample.weight, what, how)
    # Too small a mean is what a chasm makes of it; too large a one is wrong across a chasm too.
    found = _over_auxiliaries(e, top) if apart and check.value < UNLIKELY else None
    if found is not None:
        return found
    if not apart or check.value >= 1.0:
        return check
    told = f"{bottom} has no rows where {top} has most of its mass, which cannot be checked."
    return replace(check, verdict="ok", advice=told)


def _over_auxiliaries(e: Evidence, top: str) -> Check | None:
    """The check over that auxiliary which has most rows where the numerator has its mass.

    Across a chasm no row of the denominator carries the expectation. Over an
    auxiliary the same integral, the total mass of the numerator, can be seen.
    """
    model, most, found = e.facts.model, -1.0, None
    if model is None:
        return None
    bias = dict(zip(model.class_names, model.bias, strict=True))
    for name, auxiliary in zip(model.class_names[2:], e.facts.auxiliaries, strict=True):
        rows = np.asarray(auxiliary.sample(_FRESH_ROWS, Seeds(0)(name)))
        # As densities, before the constant that makes log-ratios unbiased.
        terms = model.log_ratio(rows, top, name) + (bias[top] - bias[name])
        size = float(effective_sample_size(terms)) if (terms > -np.inf).any() else -1.0
        if size > most:
            most, what = size, f"E_{name}[{top}/{name}]"
            found = check_normalisation(terms, None, what, f"rows of {name}")
    return found
