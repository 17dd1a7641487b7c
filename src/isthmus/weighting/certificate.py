"""What the weights are worth, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..diagnostics.pareto import pareto_k
from ..functionals import effective_sample_size
from ..tables.door import Door
from ..typing import Array
from ..words import count, listed, printable
from .balance import Balance
from .overlap import Overlap

_LEAST_SIZE = 30.0
"""Effective rows below which a weighted mean has no standard error to speak of."""

_LEAST_PART = 0.25
"""Part of the rows that is enough even where it is fewer than that."""

_HEAVY, _ENDLESS = 0.7, 1.0
"""Pareto's k above which weighted means settle slowly, and above which they do not."""

_SOME, _MUCH = 0.1, 0.25
"""Standardised mean differences that are worth a word, and that are not balance."""

_BEYOND, _FAR_BEYOND = 0.02, 0.25
"""Shares of the target that no weights stand for: worth a word, and too much."""

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Certificate:
    """What weights of a source are worth.

    Attributes
    ----------
    rows : int
        Rows of the source that may have weight.
    effective_sample_size : float
        Kish's: how many rows of equal weight would tell as much.
    design_effect : float
        By how much weighting multiplies the variance of a mean: rows over effective rows, which
        is 1 + CV² of the weights.
    pareto_k : float
        Shape of the tail of the weights, before the largest were smoothed; means settle down up
        to 0.7. Minus infinity where there is no tail.
    balance : Balance
    overlap : Overlap
    verdict : {"ok", "warn", "fail"}
    reasons : tuple of str
        Sentences that say why the verdict is not "ok".
    """

    rows: int
    effective_sample_size: float
    design_effect: float
    pareto_k: float
    balance: Balance
    overlap: Overlap
    verdict: Verdict
    reasons: tuple[str, ...]

    @property
    def in_words(self) -> str:
        """The verdict in a sentence or a few."""
        size = (
            f"{count(self.rows, 'row')} of the source, weighted, are worth "
            f"{self.effective_sample_size:,.0f}"
        )
        if self.verdict == "fail":
            return f"Do not weight: {' '.join(self.reasons)}"
        if self.verdict == "warn":
            return f"Weight with care: {size}. {' '.join(self.reasons)}"
        return f"The weights can be used: {size}, and every column is balanced."


def certify(
    log_weight: Array,
    raw: Array,
    balance: Balance,
    overlap: Overlap,
    short: str = "",
    apart: str = "",
    door: Door | None = None,
) -> Certificate:
    """Judge weights.

    ``short`` says in which way they are not what was asked for, ``apart`` which columns no weights
    can balance, ``door`` what arguments are called.
    """
    size = float(effective_sample_size(log_weight))
    rows = len(log_weight)
    k = pareto_k(raw)
    bad, some = _objections(size, rows, k, balance, overlap, door or Door())
    bad = [short] * bool(short) + bad
    some += [apart] * bool(apart)
    verdict: Verdict = "fail" if bad else "warn" if some else "ok"
    return Certificate(rows, size, rows / size, k, balance, overlap, verdict, tuple([*bad, *some]))


def _objections(
    size: float, rows: int, k: float, balance: Balance, overlap: Overlap, door: Door
) -> tuple[list[str], list[str]]:
    """What forbids weighting, and what is worth a word."""
    bad: list[str] = []
    some: list[str] = []
    if size < min(_LEAST_SIZE, _LEAST_PART * rows):
        bad.append(
            f"A few rows have all the weight: {count(rows, 'row')} are worth "
            f"{size:.3g}. Trim to a population that both have ({door.argument('least_ess')}), or "
            "find source rows that are like the target."
        )
    if overlap.beyond > _BEYOND:
        told = f"{100 * overlap.beyond:.3g} % of the target lies where the source has no rows"
        if overlap.absent:
            levels = [
                f"{printable(name, 40)} ({100 * share:.3g} %)" for name, share in overlap.absent
            ]
            told += f", among them {listed(levels, 3)}"
        (bad if overlap.beyond > _FAR_BEYOND else some).append(f"{told}: no weights stand for it.")
    if np.isfinite(k) and k > _HEAVY:
        told = f"The largest weights decide (Pareto's k is {k:.2f}, above {_HEAVY}): "
        heavy = k > _ENDLESS and not bad
        (bad if heavy else some).append(
            f"{told}{'no mean settles down' if heavy else 'means settle down slowly'}. Trim with "
            f"{door.argument('least_ess')} or {door.argument('design_effect')}."
        )
    left = np.abs(balance.unseen)
    sure = balance.sure > 0
    off = [j for j in np.argsort(-left) if sure[j] and left[j] > _SOME]
    if off:
        told = listed(
            [
                f"{printable(balance.labels[j], 40)} by {left[j]:.2f} standard deviations, "
                f"{abs(balance.before[j]):.2f} before"
                for j in off
            ],
            3,
        )
        worse = left.max() > max(_MUCH, float(np.abs(balance.before).max()))
        (bad if worse else some).append(
            f"{'Weighting does not help' if worse else 'Means still differ'}: {told}."
        )
    return bad, some
