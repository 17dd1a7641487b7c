"""The answer in a sentence, and the names of things for people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

VERDICTS = ("fail", "warn", "ok")
SAID = {"ok": "passed", "warn": "take care", "fail": "failed"}
MARKS = {"ok": "✓", "warn": "!", "fail": "✕"}

DIVERGENCES = {
    "kl": ("KL(p‖q)", "nats; how much a row of p says, on average, against q"),
    "reverse-kl": ("KL(q‖p)", "nats; the same with p and q exchanged"),
    "js": ("Jensen–Shannon", "nats; 0 if they are alike, 0.69 if no row could be of both"),
    "hellinger": ("Hellinger, squared", "0 if they are alike, 1 if no row could be of both"),
    "tv": ("Total variation", "the largest difference in the probability of anything"),
    "chi2": ("χ² of Pearson", "variance of the importance weights"),
    "pearson": ("χ² of Pearson", "variance of the importance weights"),
    "neyman": ("χ² of Neyman", "χ² with p and q exchanged"),
}
CHECKS = {
    "convergence": "Convergence of the fits",
    "accuracy": "Accuracy of the classes",
    "normalisation_q": "Mass of p",
    "normalisation_p": "Mass of q",
    "effective_sample_size": "Effective sample size",
    "support": "Support",
    "flexibility": "Flexibility of the critic",
    "anchors": "Agreement of the anchors",
    "rising": "Held-out likelihood",
    "bridge": "Bridge between the samples",
    "pareto": "Tail of the weights",
    "tails": "Tail of the log-ratio",
    "precision": "Precision of the KL",
    "calibration": "Calibration of the probabilities",
    "chasm": "Chasm: rows that no other class visits",
    "agreement": "Agreement of the families",
    "difference": "Two-sample test",
}


def number(value: float) -> str:
    """Write a number with four digits, the infinite ones too.

    Examples
    --------
    >>> number(3.14159), number(-2.5e-7), number(math.inf), number(12345.6)
    ('3.142', '−2.5e-07', '∞', '12,346')
    """
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return signed(f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}")


def signed(told: str) -> str:
    """Number with a proper minus sign, and none before a zero."""
    if not told.startswith("-"):
        return told
    return f"−{told[1:]}" if told.strip("-0.") else told[1:]


def estimate(e: Any) -> tuple[str, str, str, str]:
    """Value, standard error and both ends, with the digits that the error justifies."""
    told = [
        signed(text) if math.isfinite(raw) else number(raw)
        for raw, text in zip((e.value, e.std_error, e.low, e.high), e._rounded(), strict=True)
    ]
    return told[0], told[1], told[2], told[3]


def level(e: Any) -> str:
    """Name of the interval, such as "95 % interval"."""
    return f"{100 * e.level:g} % interval"


def pair(labels: tuple[str, str]) -> str:
    """The two samples as the subject of a sentence."""
    return "The two samples" if labels == ("p", "q") else f"{labels[0]} and {labels[1]}"


def heading(labels: tuple[str, str]) -> str:
    """The page's title."""
    return "Two samples, compared" if labels == ("p", "q") else f"{labels[0]} against {labels[1]}"


def answer(kl: Any, checks: Mapping[str, Any], labels: tuple[str, str]) -> str:
    """Say how far apart the samples are, and how far that is to be trusted.

    Parameters
    ----------
    kl : Estimate
    checks : mapping of str to Check
    labels : pair of str
    """
    value, _, low, high = estimate(kl)
    told = f"KL(p‖q) is {value} nats ({level(kl)} {low} to {high})"
    if not math.isfinite(kl.value):
        told = "KL(p‖q) is not finite"
    elif not math.isfinite(kl.std_error):
        told = f"KL(p‖q) is {value} nats, with an error that is not known"
    apart = "differ" if kl.low > 0 or not math.isfinite(kl.value) else "cannot be told apart"
    return f"{pair(labels)} {apart}: {told}{_trust(checks)}"


def _trust(checks: Mapping[str, Any]) -> str:
    count = len(checks)
    failed = sum(c.verdict == "fail" and c.concerns == "ratio" for c in checks.values())
    attention = sum(c.verdict != "ok" for c in checks.values())
    if not count:
        return ". No check was made."
    if failed:
        return f", but {failed} of {count} checks failed: read why before you rely on it."
    if all(c.verdict == "ok" for c in checks.values() if c.concerns == "ratio") and attention:
        return ", and every check on it is passed; only importance weights want attention."
    if attention:
        return f", and {attention} of {count} checks want{'s' * (attention == 1)} attention."
    return f", and all {count} checks are passed."
