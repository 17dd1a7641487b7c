"""A comparison as a dictionary and as a frame."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any

from ..diagnostics import Check
from ..functionals import Estimate


def as_dict(
    found: Mapping[str, Estimate], checks: Mapping[str, Check], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Facts, divergences and checks as strict JSON can hold them.

    Examples
    --------
    >>> made = as_dict({"tv": Estimate(0.5, 0.1, 0.3, 0.7)}, {}, {"trusted": True})
    >>> made["trusted"], made["divergences"]["tv"]["low"], made["diagnostics"]
    (True, 0.3, {})
    """
    return {
        **facts,
        "divergences": {name: estimate.to_dict() for name, estimate in found.items()},
        "diagnostics": {
            name: {
                "value": check.value if math.isfinite(check.value) else str(check.value),
                "verdict": check.verdict,
                "concerns": check.concerns,
                "advice": check.advice,
            }
            for name, check in checks.items()
        },
    }


def as_frame(found: Mapping[str, Estimate]) -> Any:
    """One row for each divergence, in pandas if it is installed, else polars, else pyarrow.

    Examples
    --------
    >>> frame = as_frame({"tv": Estimate(0.5, 0.1, 0.3, 0.7)})
    >>> list(frame.columns)[:4], len(frame)
    (['divergence', 'value', 'std_error', 'low'], 1)
    """
    names = ("value", "std_error", "low", "high", "level", "method", "reason")
    columns: dict[str, list[Any]] = {"divergence": list(found)}
    columns |= {name: [getattr(one, name) for one in found.values()] for name in names}
    for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        try:
            return getattr(importlib.import_module(library), make)(columns)
        except ImportError:
            continue
    raise ImportError(
        "to_frame needs pandas, polars or pyarrow; none is installed. Use to_dict, or install one: "
        "pip install pandas"
    )
