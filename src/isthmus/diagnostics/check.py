"""A check: a number, a verdict and a sentence of advice."""

from __future__ import annotations

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
    """

    value: float
    verdict: Verdict
    advice: str
    concerns: Literal["ratio", "weights"] = "ratio"
    details: dict[str, Any] = field(default_factory=dict)
