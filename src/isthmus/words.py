"""Numbers, names, verdicts and sentences for people: every output takes them from here.

It imports nothing of the package, so that every room can use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .diagnostics import Check
    from .functionals import Estimate

VERDICTS = ("fail", "warn", "ok")
"""Verdicts of a check, the worst first."""

SAID = {"ok": "passed", "warn": "take care", "fail": "failed"}
MARKS = {"ok": "✓", "warn": "!", "fail": "✕"}

LOG_RATIO = "log p(x)/q(x), nats"
"""Name of an axis."""


DIVERGENCES = {
    "kl": ("KL(p‖q), nats", "KL(p‖q)", "nats; how much a row of p says, on average, against q"),
    "reverse-kl": ("KL(q‖p), nats", "KL(q‖p)", "nats; the same with p and q exchanged"),
    "js": (
        "Jensen–Shannon, nats",
        "Jensen–Shannon",
        "nats; 0 if they are alike, 0.69 if no row could be of both",
    ),
    "hellinger": (
        "squared Hellinger",
        "Hellinger, squared",
        "0 if they are alike, 1 if no row could be of both",
    ),
    "tv": (
        "total variation",
        "Total variation",
        "the largest difference in the probability of anything",
    ),
    "chi2": ("χ² of Pearson", "χ² of Pearson", "variance of the importance weights"),
    "pearson": ("χ² of Pearson", "χ² of Pearson", "variance of the importance weights"),
    "neyman": ("χ² of Neyman", "χ² of Neyman", "χ² with p and q exchanged"),
}
"""Name in a table of the terminal, name on the page, and what it says."""

DIRECTIONS = "of very many columns only the directions in which they vary most were compared"
"""Why the upper end of a divergence is not known."""

USUAL_DIVERGENCES = ("kl", "reverse-kl", "js", "hellinger", "tv")
"""Divergences that are shown where none are asked for."""

CHECK_TITLES = {
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
    "balance": "Balance of the weighted rows",
    "tails": "Tail of the log-ratio",
    "precision": "Precision of the KL",
    "bound": "What held-out rows prove",
    "calibration": "Calibration of the probabilities",
    "chasm": "Chasm: rows that no other class visits",
    "agreement": "Agreement of the families",
    "learning": "What is still to be learned",
    "separation": "Rows that could be of either sample",
    "reach": "Rows of p where q has none",
    "family": "Family of the densities",
    "difference": "Two-sample test",
    "mass": "Mass under shuffled pairs",
    "one_row": "Whether one row decides",
    "rows": "Rows for each column",
    "left_over": "What the regression leaves over",
    "ways": "Agreement of the orders of columns",
    "cells": "Rows for each pair of labels",
    "labels": "Labels that repeat",
    "classes": "Rows of every label",
    "strata": "Rows of every stratum",
    "levels": "Columns of levels",
    "sign": "Sign of the estimate",
    "worked_out": "Whether it could be worked out",
}


def divergence(name: str) -> tuple[str, str, str]:
    """How a divergence is called in the terminal and on the page, and what it says."""
    return DIVERGENCES.get(name, (name, name, ""))


def printable(text: object, most: int | None = None) -> str:
    r"""Text on one line with nothing invisible in it, cut in the middle above ``most`` characters.

    Nothing is left that a terminal would obey.

    Examples
    --------
    >>> print(printable("a\nb\x1b[31m"), printable("x" * 50, most=9))
    a\nb\x1b[31m xxxx…xxxx
    """
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
    if most is None or len(shown) <= most:
        return shown
    head = (most - 1) // 2
    return f"{shown[: most - 1 - head]}…{shown[len(shown) - head :]}"


def one_line(text: object, most: int = 160, end: str = "...") -> str:
    """Text with its line breaks taken out, cut at its end above ``most`` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= most else line[: most - len(end)] + end


def rate(rows: int, seconds: float) -> str:
    """Rows a second, in few digits.

    Examples
    --------
    >>> rate(3_200_000, 2.0), rate(500, 1.0)
    ('1,600,000 rows/s', '500 rows/s')
    """
    found = rows / max(seconds, 1e-9)
    digits = max(len(f"{found:.0f}") - 2, 0)
    return f"{round(found, -digits):,.0f} rows/s"


def count(number: int, noun: str) -> str:
    """Number with its noun: 1 row, 2 rows."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(items: Sequence[str], most: int = 5) -> str:
    """List for a sentence, the first few items only."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")


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


def rounded(e: Estimate) -> tuple[str, str, str, str]:
    """Value, standard error and both ends, with the digits that the error justifies."""
    numbers = zip((e.value, e.std_error, e.low, e.high), e.rounded(), strict=True)
    value, error, low, high = (
        signed(text) if math.isfinite(raw) else number(raw) for raw, text in numbers
    )
    return value, error, low, high


def interval(e: Estimate) -> str:
    """Name of the interval, such as "95 % interval"."""
    return f"{100 * e.level:g} % interval"


def ends(e: Estimate) -> str:
    """The interval itself: "0.21 to 0.35", or "at least 0.21" where the upper end is unknown."""
    _, _, low, high = rounded(e)
    if math.isinf(e.value):
        # Two digits: no error says how many there should be.
        low = signed(f"{e.low:.2g}")
    return f"at least {low}" if e.one_sided else f"{low} to {high}"


def unknown_ends(found: Mapping[str, Estimate]) -> list[str]:
    """A sentence for every reason why upper ends are not known, with the names it holds for.

    Examples
    --------
    >>> from isthmus import Estimate
    >>> unknown_ends({"kl": Estimate(0.5, 0.1, 0.3, math.inf, reason="trees see more")})
    ['KL(p‖q): how much more is not known, because trees see more.']
    """
    names: dict[str, list[str]] = {}
    for name, e in found.items():
        if e.one_sided:
            names.setdefault(e.unknown, []).append(divergence(name)[1])
    return [f"{', '.join(several)}: {printable(told)}." for told, several in names.items()]


def rest(kl: Estimate, labels: tuple[str, str]) -> str:
    """Say how far apart the rows are whose levels both samples have."""
    p, q = map(printable, labels)
    value = rounded(kl)[0]
    within = f"KL(p‖q) {value} nats, {ends(kl)}"
    return f"Without the rows of levels that only one has, {p} and {q} are apart by {within}"


def rests_on(told: str) -> str:
    """A line on what the answer rests on.

    Examples
    --------
    >>> rests_on("linear (77%), boosted trees (23%)")
    'Rests on: linear (77%), boosted trees (23%).'
    """
    return f"Rests on: {printable(told)}."


def because(e: Estimate) -> str:
    """Why the upper end is not known, to follow the words that it is not."""
    return f", because {printable(e.reason)}" if e.reason else ""


_OBJECTIONS = {
    "convergence": "the solver did not converge",
    "accuracy": "the auxiliaries do not join the samples",
    "bridge": "the auxiliaries do not join the samples",
    "chasm": "no other class visits many of the rows",
    "support": "one sample lacks values that the other has",
    "rising": "more flexible critics see more",
    "difference": "a two-sample test says otherwise",
    "normalisation_q": "p/q does not average to one over q",
    "normalisation_p": "q/p does not average to one over p",
    "calibration": "the log-ratio is not calibrated",
    "agreement": "another estimate from the same rows disagrees",
    "anchors": "several families of tails fit the rows and disagree",
    "flexibility": "more flexible candidates see more",
    "tails": "a few rows decide the answer",
    "learning": "more rows would still change it much",
    "separation": "the samples hardly overlap and no fitted density explains them",
    "reach": "much of p lies where q has no rows",
    "family": "no family of densities that was tried fits the rows",
    "bound": "held-out rows prove more than the fit says",
    "precision": "the interval is too wide to be of use",
    "mass": "the ratio does not average to one over shuffled pairs",
    "one_row": "one row decides the answer",
    "rows": "there are few rows for so many columns",
    "left_over": "trees see more in what the regression leaves over",
    "ways": "columns explained in other orders give another number",
    "cells": "there are too few rows for so many pairs of labels",
    "labels": "labels hardly repeat",
    "classes": "most labels have too few rows",
    "strata": "many rows are of strata with too few rows",
    "sign": "nearest neighbours give a negative number",
    "worked_out": "it could not be worked out",
}


def objection(names: Sequence[str]) -> str:
    """Why an upper end is not known, from the names of the checks that failed.

    Examples
    --------
    >>> objection(["calibration"])
    'the log-ratio is not calibrated'
    """
    told = [_OBJECTIONS.get(name, f"the check {name!r} failed") for name in names]
    return " and ".join(dict.fromkeys(told))


def on_ratio(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Checks on the ratio itself: importance weights fail long before it does."""
    return {name: check for name, check in checks.items() if check.concerns == "ratio"}


def worst_verdict(checks: Mapping[str, Check]) -> str:
    """Worst verdict among the checks on the ratio."""
    found = {check.verdict for check in on_ratio(checks).values()}
    return next((verdict for verdict in VERDICTS if verdict in found), "ok")


def terminal_answer(kl: Estimate, checks: Mapping[str, Check], labels: tuple[str, str]) -> str:
    """Say in one sentence how far apart the samples are, and whether that can be trusted."""
    value, _, low, high = kl.rounded()
    p, q = map(printable, labels)
    within = f"{interval(kl)} {low} to {high}"
    if math.isinf(kl.value):
        told = f"KL(p‖q) of {p} and {q} is {printable(kl.unknown)}"
    elif kl.one_sided and kl.low > 0:
        told = f"{p} and {q} are at least {low} nats apart (KL(p‖q), {100 * kl.level:g} %; "
        told += f"estimate {value}); {printable(kl.unknown)}"
    elif kl.one_sided:
        told = f"how far {p} and {q} are apart is not known (KL(p‖q), estimate {value} nats)"
        told += because(kl)
    elif kl.low > 0:
        told = f"{p} and {q} are {value} nats apart (KL(p‖q), {within})"
    else:
        told = f"{p} and {q} cannot be told apart (KL(p‖q) {value} nats, {within})"
    return f"{told}; {_terminal_trust(on_ratio(checks))}."


def _terminal_trust(checks: Mapping[str, Check]) -> str:
    total = len(checks)
    for verdict, advice, what in (
        ("fail", "do not trust this number", "failed"),
        ("warn", "take it with care", "gave a warning"),
    ):
        names = [name for name, check in checks.items() if check.verdict == verdict]
        if names:
            some = f"{len(names)} of {count(total, 'check')}"
            return f"{advice}, since {some} {what} ({listed(names)})"
    if not checks:
        return "no check was made"
    return f"it can be trusted as far as checks can tell ({total} of {total} passed)"


def heading(labels: tuple[str, str]) -> str:
    """Title of the page."""
    return "Two samples, compared" if labels == ("p", "q") else f"{labels[0]} against {labels[1]}"


def page_answer(kl: Estimate, checks: Mapping[str, Check], labels: tuple[str, str]) -> str:
    """Say on the page how far apart the samples are, and how far that is to be trusted."""
    value, _, low, high = rounded(kl)
    told = f"KL(p‖q) is {value} nats ({interval(kl)} {low} to {high})"
    if not math.isfinite(kl.value):
        told = f"KL(p‖q) is {kl.unknown or 'not finite'}"
    elif not math.isfinite(kl.std_error):
        told = f"KL(p‖q) is {value} nats, with an error that is not known"
    elif kl.one_sided and kl.low > 0:
        told = f"KL(p‖q) is at least {low} nats ({100 * kl.level:g} %), by estimate {value}; "
        told += kl.unknown
    elif kl.one_sided:
        told = f"KL(p‖q) is by estimate {value} nats, and not known{because(kl)}"
    both = "The two samples" if labels == ("p", "q") else f"{labels[0]} and {labels[1]}"
    apart = "cannot be told apart"
    if kl.low > 0 or not math.isfinite(kl.value):
        apart = "differ"
    elif kl.one_sided and math.isfinite(kl.std_error):
        apart = "may differ"
    return f"{both} {apart}: {told}{_page_trust(checks)}"


def _page_trust(checks: Mapping[str, Check]) -> str:
    verdicts = [check.verdict for check in on_ratio(checks).values()]
    # As in the terminal: checks on weights are no verdict on the ratio.
    total, failed = len(verdicts), verdicts.count("fail")
    attention = sum(verdict != "ok" for verdict in verdicts)
    if not checks:
        return ". No check was made."
    if failed:
        return f", but {failed} of {total} checks failed: read why before you rely on it."
    if attention:
        return f", and {attention} of {total} checks want{'s' * (attention == 1)} attention."
    if any(check.verdict != "ok" for check in checks.values()):
        return ", and every check on it is passed; only importance weights want attention."
    return f", and all {total} checks are passed."
