"""Weights as text: a table of a dozen lines or so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..words import number, printable, signed

if TYPE_CHECKING:
    from .result import Weights

_MOST = 12


def facts(weights: Weights) -> list[tuple[str, str]]:
    """Names and numbers that every output shows."""
    c = weights.certificate
    return [
        ("rows with weight", f"{c.rows:,} of {len(weights):,}"),
        ("effective sample size", f"{c.effective_sample_size:,.1f}"),
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


def as_dict(weights: Weights) -> dict[str, Any]:
    """The certificate in plain numbers and text."""
    c, b, o, population = (
        weights.certificate,
        weights.balance,
        weights.overlap,
        weights.population,
    )
    return {
        "verdict": c.verdict,
        "in_words": weights.verdict,
        "rows": len(weights),
        "rows_with_weight": c.rows,
        "effective_sample_size": c.effective_sample_size,
        "design_effect": c.design_effect,
        "pareto_k": _finite(c.pareto_k),
        "normalise": weights.normalise,
        "population": None
        if population is None
        else {
            "in_words": str(population),
            "rules": [str(rule) for rule in population.rules],
            "without": population.without,
            "target_share": population.target_share,
            "source_share": population.source_share,
        },
        "balance": [
            {
                "column": one.column,
                "level": one.level,
                **{name: _finite(float(getattr(b, name)[j])) for name in _NUMBERS},
            }
            for j, one in enumerate(b.quantities)
        ],
        "overlap": {
            "source": o.source.tolist(),
            "target": o.target.tolist(),
            "weighted": o.weighted.tolist(),
            "beyond": o.beyond,
            "absent": dict(o.absent),
        },
        "done": list(weights.notes),
    }


_NUMBERS = (
    "target",
    "source",
    "weighted",
    "before",
    "after",
    "unseen",
    "std_error",
    "variance_before",
    "variance_after",
)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
