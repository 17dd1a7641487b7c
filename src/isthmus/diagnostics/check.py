"""A check: a number, a verdict and a sentence of advice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Check:
    """Outcome of one diagnostic.

    Attributes
    ----------
    value : float
        The number that was judged.
    verdict : {"ok", "warn", "fail"}
    advice : str
        What the number means and what to do.
    concerns : {"ratio", "weights"}
        Whether the verdict is on the log-ratio and the divergences, or only on
        importance weights, which fail long before the ratio does.
    details : dict
        Further numbers by name.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.diagnostics import Check, check_tails
    >>> check = check_tails(np.random.default_rng(0).normal(1, 1, 2000))
    >>> isinstance(check, Check), check.verdict, check.concerns
    (True, 'ok', 'ratio')
    """

    value: float
    verdict: Verdict
    advice: str
    concerns: Literal["ratio", "weights"] = "ratio"
    details: dict[str, Any] = field(default_factory=dict)


def graded(value: float, good: float, usable: float) -> Verdict:
    """Verdict on a number that should be small: "warn" above one limit, "fail" above another."""
    return "ok" if value <= good else "warn" if value <= usable else "fail"


def advised(
    value: float,
    verdict: Verdict,
    told: str = "",
    *,
    ok: str = ".",
    warn: str = "",
    fail: str | None = None,
    concerns: Literal["ratio", "weights"] = "ratio",
    details: Mapping[str, Any] | None = None,
) -> Check:
    """A check whose advice is what was found, ``told``, and what follows from the verdict.

    What follows from "fail" is what follows from "warn" if it is left out.
    """
    ends = {"ok": ok, "warn": warn, "fail": warn if fail is None else fail}
    return Check(value, verdict, told + ends[verdict], concerns, dict(details or {}))


def doubt(checks: Mapping[str, Check]) -> float:
    """How much there is to doubt an answer, as one number.

    Parameters
    ----------
    checks : mapping of str to Check
        Such as ``comparison.diagnostics``.

    Returns
    -------
    float
        A point for every warning and three for every failure among the checks on the
        ratio; and, below one, the relative standard error of the KL where it was checked.

    Examples
    --------
    >>> doubt({"a": Check(0.1, "warn", "Look."), "b": Check(2.0, "fail", "Stop.")})
    4.0
    """
    points = {"ok": 0.0, "warn": 1.0, "fail": 3.0}
    total = sum(points[one.verdict] for one in checks.values() if one.concerns == "ratio")
    share = checks["precision"].value if "precision" in checks else 0.0
    return total + 0.99 * min(share, 1.0)


def objections(checks: Mapping[str, Check]) -> dict[str, Check]:
    """Checks on the ratio that failed, by name: then the upper end is not known."""
    return {
        name: check
        for name, check in checks.items()
        if check.concerns == "ratio" and check.verdict == "fail"
    }
