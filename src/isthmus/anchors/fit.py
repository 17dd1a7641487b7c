"""How one anchor is fitted."""

from __future__ import annotations

import inspect
from typing import Any

from ..data.sample import Sample
from ..maps.coordinates import Surroundings


def fit_anchor(anchor: Any, sample: Sample, surroundings: Surroundings | None = None) -> Any:
    """Fit an anchor, with the weights and the surroundings where its ``fit`` takes them."""
    given: dict[str, Any] = {"surroundings": surroundings}
    if sample.weighted:
        given["sample_weight"] = sample.weight
    known = inspect.signature(anchor.fit).parameters
    return anchor.fit(
        sample.rows,
        **{name: value for name, value in given.items() if value is not None and name in known},
    )
