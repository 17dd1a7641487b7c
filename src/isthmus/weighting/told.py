"""Weights as text: a table of a dozen lines or so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..words import number, printable, signed

if TYPE_CHECKING:
    from .result import Weights

_MOST = 12


def facts(weights: Weights) -> list[tuple[str, str]]:
    """Names and numbers that every output shows."""
    c = weights.certificate
    return [
        ("rows with weight", f"{c.rows:,} of {len(weights):,}"),
        ("effective sample size", number(round(c.effective_sample_size, 1))),
        ("design effect", number(round(c.design_effect, 3))),
        ("Pareto's k", number(round(c.pareto_k, 2))),
        ("target beyond the source", f"{100 * c.overlap.beyond:.3g} %"),
    ]


def as_text(weights: Weights) -> str:
    """The verdict, the numbers, and the columns that were furthest apart."""
    b = weights.balance
    lines = [weights.verdict, ""]
    lines += [f"{name:<26}{value:>14}" for name, value in facts(weights)]
    lines += [
        "",
        f"{'standardised difference':<26}{'before':>8}{'after':>8}{'unseen':>8}{'± 2 se':>8}",
    ]
    for j in b.order[:_MOST]:
        cells = [signed(f"{v[j]:.3f}") for v in (b.before, b.after, b.unseen, 2 * b.std_error)]
        lines.append(f"{printable(b.labels[j], 25):<26}" + "".join(f"{c:>8}" for c in cells))
    if len(b) > _MOST:
        lines.append(f"... and {len(b) - _MOST} more")
    return "\n".join([*lines, *([""] * bool(weights.notes)), *weights.notes])
