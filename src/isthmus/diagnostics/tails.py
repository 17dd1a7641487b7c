"""Checks of tails and of precision: whether averages over the rows settle down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..functionals import Estimate, effective_sample_size, get_divergence, lower_end
from ..typing import Array
from ..uncertainty.cross_fitted import few_rows
from .check import Check, Verdict, advised, graded
from .evidence import Evidence
from .pareto import pareto_k

LEAST_KL = 0.1
"""Nats below which an error is no longer relative."""


def check_pareto(log_ratio_q: Array, weight: Array | None = None) -> Check:
    """Whether the tail of the importance weights lets weighted means settle down.

    Parameters
    ----------
    log_ratio_q, weight : ndarray of shape (n,)
        Log p/q at the rows of q, and their weights, if they have some.

    Returns
    -------
    Check
        Its value is the k of :func:`~isthmus.diagnostics.pareto_k`, at least -1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> check_pareto(rng.normal(0, 0.3, 2000)).verdict, check_pareto(rng.normal(0, 9, 2000)).verdict
    ('ok', 'fail')
    """
    k = max(pareto_k(_log_weights(log_ratio_q, weight)), -1.0)
    told = f"The tail of the weights p/q has Pareto's k = {k:.2f}"
    return advised(
        k,
        graded(k, 0.5, 0.7),
        told if np.isfinite(k) else "A few rows of q have all of the weight",
        ok=": weighted means have a finite variance.",
        warn=": weighted means settle down slowly; use weights with care.",
        fail=": means of weighted rows of q are not to be trusted; "
        "do not reweight, the divergences can still be right.",
        concerns="weights",
    )


def check_effective_size(log_ratio_q: Array, weight: Array | None = None) -> Check:
    """Effective number of rows of q after they are weighted to look like p.

    Parameters are those of :func:`check_pareto`.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.diagnostics import check_effective_size
    >>> check = check_effective_size(np.zeros(100))  # p = q: every row counts
    >>> round(check.value), check.verdict
    (100, 'ok')
    """
    log_weights = _log_weights(log_ratio_q, weight)
    # With no weight anywhere, no row counts.
    weighty = bool((log_weights > -np.inf).any())
    size = float(effective_sample_size(log_weights)) if weighty else 0.0
    share = size / len(log_weights)
    verdict: Verdict = "fail" if size < 30 else "ok" if size >= 100 and share >= 0.05 else "warn"
    shown = f"{size:,.0f}" if size >= 100 else f"{size:.2f}"
    return advised(
        size,
        verdict,
        f"Weighted to look like p, {len(log_weights)} rows of q count as {shown}",
        warn=": weighted averages are noisy.",
        fail=": do not reweight q; the log-ratio and the divergences can still be right.",
        concerns="weights",
        details={"share": share},
    )


def _log_weights(log_ratio_q: Array, weight: Array | None) -> Array:
    """Log of what every row of q counts for, without rows that were not there."""
    if weight is None:
        return log_ratio_q
    return np.asarray(log_ratio_q[weight > 0] + np.log(weight[weight > 0]))


def check_tails(log_ratio_p: Array, weight: Array | None = None) -> Check:
    """Whether the average of log p/q over p, which is the KL, settles down.

    A normal anchor makes log p/q quadratic. Rows of a heavy tail then dominate the
    average. Its variance is infinite if the tail of ``|log p/q|`` has k > 1/2, the
    average itself if k > 1.

    Parameters
    ----------
    log_ratio_p, weight : ndarray of shape (n,)
        Log p/q at the rows of p, and their weights, if they have some.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.diagnostics import check_tails
    >>> rng = np.random.default_rng(0)
    >>> check_tails(rng.normal(1, 1, 2000)).verdict
    'ok'
    >>> check_tails(rng.pareto(0.7, 2000)).verdict != "ok"
    True
    """
    if weight is not None:
        log_ratio_p = log_ratio_p[weight > 0]
    if not np.isfinite(log_ratio_p).all():
        return Check(
            np.inf,
            "fail",
            "Log p/q is not finite at rows of p: q is given no chance where p has rows, so that "
            "the KL is infinite, or the anchor of q ends too early; try another one.",
        )
    away = np.abs(log_ratio_p - np.median(log_ratio_p))
    count = min(0.2 * len(away), 3.0 * np.sqrt(len(away)))
    k = 0.0
    if count >= 5 and (away > 0).mean() > 0.5:
        with np.errstate(divide="ignore"):
            k = pareto_k(np.log(away))
    # So few rows in the tail tell k to about (1 + k)/sqrt(M); doubt counts for the ratio.
    k = float(np.clip(k, -1.0, 1e3))
    sure = k - (1.0 + k) / np.sqrt(max(count, 1.0))
    return advised(
        k,
        graded(sure, 0.5, 1.0),
        f"The tail of log p/q over p has Pareto's k = {k:.2f}",
        ok=": its average settles down.",
        warn=": the KL rests on a few rows far out; try anchor='student-t' or a map.",
        fail=": its average does not settle down; use anchor='student-t' or a map.",
    )


def check_precision(kl: Estimate) -> Check:
    """Whether there are rows enough for the KL to mean something.

    What the choice of anchors leaves open is no part of the standard error; the checks of
    anchors and of agreement look at it.

    Parameters
    ----------
    kl : Estimate

    Returns
    -------
    Check
        Its value is the standard error as a share of the KL, or of a tenth of a nat if
        the KL is smaller. An interval from about zero to over three times the KL, or that
        tenth, is a warning whatever makes it so wide. It fails where the fit has no upper end:
        ``kl.reason`` says why.

    Examples
    --------
    >>> from isthmus import Estimate
    >>> from isthmus.diagnostics import check_precision
    >>> check_precision(Estimate.from_std_error(1.0, 0.02, level=0.95)).verdict
    'ok'
    >>> check_precision(Estimate.from_std_error(1.0, 0.5, level=0.95)).verdict
    'warn'
    """
    error = kl.std_error
    share = float(error / max(abs(kl.value), LEAST_KL)) if np.isfinite(kl.value) else np.inf
    told = f"The standard error is {share:.0%} of the KL" if np.isfinite(share) else "KL is unknown"
    if abs(kl.value) < LEAST_KL:
        told = f"The standard error of the KL is {error:.2g} nats"
    # A wide interval says so itself, and is no objection to it.
    verdict: Verdict = "warn" if share > 0.2 else "ok"
    least = max(abs(kl.value), LEAST_KL)
    # An interval from nothing to many times the value, whatever makes it so wide, tells nothing.
    if verdict == "ok" and not kl.one_sided and kl.low < 0.1 * least and kl.high > 3.0 * least:
        verdict = "warn"
        told = f"The interval runs from {kl.low:.2g} to {kl.high:.3g} for a KL of {kl.value:.3g}"
    if kl.reason:
        verdict = "fail"
    return advised(
        share,
        verdict,
        told,
        warn=": read the interval, not the value; more rows would help.",
        fail=f": {kl.unknown}.",
    )


def check_bound(kl: Estimate, bound: float) -> Check:
    """Whether the interval of the KL lies below what held-out rows prove for any ratio.

    Parameters
    ----------
    kl : Estimate
    bound : float
        A lower bound that holds whatever the ratio is.

    Examples
    --------
    >>> check_bound(Estimate(2.1, 0.1, low=1.97, high=2.22), 3.0).verdict
    'fail'
    """
    return advised(
        bound,
        "fail" if bound > kl.high else "ok",
        f"Held-out rows prove at least {bound:.3g} nats",
        fail=f", and the interval ends at {kl.high:.3g}: the log-ratio is too low on average. "
        "Only the lower end is known.",
    )


def bound(e: Evidence) -> Check:
    """By the held-out log-ratios."""
    proven = lower_end(e.p.rows, e.q.rows, e.p.weight, e.q.weight, level=e.comparison.level)
    return check_bound(e.kl, proven.low)


def tails(e: Evidence) -> Check:
    """Of the log-ratio at rows of p, and whether rows enough decide the KL."""
    found = check_tails(e.p.rows, e.p.weight)
    if found.verdict == "fail" or not few_rows(get_divergence("kl"), e.comparison.ratios):
        return found
    told = "Fewer than five rows decide the KL: more of them, or more even weights, are needed."
    return replace(found, verdict="fail", advice=told)


def precision(e: Evidence) -> Check:
    """Of the KL."""
    return check_precision(e.kl)
