"""Checks of tails and of precision: whether averages over the rows settle down."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..typing import Array
from .check import Check, Verdict
from .pareto import pareto_k

GOOD_K, USABLE_K = 0.5, 0.7
_WIDE, _USELESS = 0.2, 0.5
LEAST_KL = 0.1
"""Nats below which an error is no longer relative."""


def check_pareto(log_ratio_q: Array, weight: Array | None = None) -> Check:
    """Whether the tail of the importance weights lets weighted means settle down.

    Parameters
    ----------
    log_ratio_q : ndarray of shape (n,)
        Log p/q at the rows of q.
    weight : ndarray of shape (n,), optional
        Weights of the rows.

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
    if weight is not None:
        log_ratio_q = log_ratio_q[weight > 0] + np.log(weight[weight > 0])
    k = max(pareto_k(log_ratio_q), -1.0)
    verdict: Verdict = "ok" if k < GOOD_K else "warn" if k < USABLE_K else "fail"
    told = f"The tail of the weights p/q has Pareto's k = {k:.2f}"
    if not np.isfinite(k):
        told = "A few rows of q have all of the weight"
    advice = {
        "ok": f"{told}: weighted means have a finite variance.",
        "warn": f"{told}: weighted means settle down slowly; use weights with care.",
        "fail": f"{told}: means of weighted rows of q are not to be trusted; "
        "do not reweight, the divergences can still be right.",
    }[verdict]
    return Check(k, verdict, advice, concerns="weights")


def check_tails(log_ratio_p: Array, weight: Array | None = None) -> Check:
    """Whether the average of log p/q over p, which is the KL, settles down.

    A normal anchor makes log p/q quadratic. Rows of a heavy tail then dominate the
    average. Its variance is infinite if the tail of |log p/q| has k > 1/2, the
    average itself if k > 1.

    Parameters
    ----------
    log_ratio_p : ndarray of shape (n,)
        Log p/q at the rows of p.
    weight : ndarray of shape (n,), optional
        Weights of the rows; those of weight zero are left out.
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
    verdict: Verdict = "ok" if sure < 0.5 else "warn" if sure < 1.0 else "fail"
    told = f"The tail of log p/q over p has Pareto's k = {k:.2f}"
    advice = {
        "ok": f"{told}: its average settles down.",
        "warn": f"{told}: the KL rests on a few rows far out; try anchor='student-t' or a map.",
        "fail": f"{told}: its average does not settle down; use anchor='student-t' or a map.",
    }[verdict]
    return Check(k, verdict, advice)


def check_precision(kl: Any, choice: float = 0.0) -> Check:
    """Whether there are rows enough for the KL to mean something.

    Parameters
    ----------
    kl : Estimate
    choice : float
        What of its standard error is there because several anchors fit as well. That is
        taken off here, being what the checks of anchors and of agreement look at.

    Returns
    -------
    Check
        Its value is the standard error as a share of the KL, or of a tenth of a nat if
        the KL is smaller.
    """
    error = kl.std_error
    if np.isfinite(error):
        error = float(np.sqrt(max(error**2 - choice**2, 0.0)))
    share = float(error / max(abs(kl.value), LEAST_KL)) if np.isfinite(kl.value) else np.inf
    verdict: Verdict = "ok" if share <= _WIDE else "warn" if share <= _USELESS else "fail"
    told = f"The standard error is {share:.0%} of the KL" if np.isfinite(share) else "KL is unknown"
    if abs(kl.value) < LEAST_KL:
        told = f"The standard error of the KL is {error:.2g} nats"
    advice = {
        "ok": f"{told}.",
        "warn": f"{told}: read the interval, not the value; more rows would help.",
        "fail": f"{told}: these rows are too few to say how far apart the samples are.",
    }[verdict]
    return Check(share, verdict, advice)
