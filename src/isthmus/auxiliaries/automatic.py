"""From what a user passes as ``auxiliaries`` to a list of fitted auxiliaries."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.sample import TwoSamples
from ..data.frames import column_names, select_columns
from ..typing import Auxiliary
from .bridge import Bridge
from .mixing import DimensionWiseMixing, LinearMixing, Samples
from .overlapping import Cauchy, Normal, StudentT, TruncatedNormal, Uniform
from .smoothed import SmoothedMixture

BY_NAME = {
    "auto": Bridge,
    "bridge": Bridge,
    "cauchy": Cauchy,
    "student-t": StudentT,
    "normal": Normal,
    "uniform": Uniform,
    "truncated-normal": TruncatedNormal,
    "smoothed-mixture": SmoothedMixture,
    "linear": LinearMixing,
    "dimension-wise": DimensionWiseMixing,
}


def resolve_auxiliaries(
    spec: Any, n_columns: int, names: Sequence[str] | None = None
) -> list[Auxiliary]:
    """Turn a specification into unfitted auxiliaries, one for each class.

    Parameters
    ----------
    spec : str, auxiliary, array of samples, list of these, or None
    n_columns : int
        Number of columns of the data.
    names : sequence of str, optional
        Their names, by which an auxiliary given as a frame is matched.

    Returns
    -------
    list of auxiliaries
        Copies: the caller's objects are never changed.
    """
    if spec is None:
        return []
    if isinstance(spec, str):
        if spec not in BY_NAME:
            raise ValueError(
                f"auxiliaries must be one of {', '.join(map(repr, BY_NAME))}, an auxiliary, an "
                f"array of samples or a list of these; received {spec!r}."
            )
        spec = BY_NAME[spec]()
    if isinstance(spec, type):
        raise ValueError(
            f"auxiliaries must hold objects, not classes; received {spec.__name__}: write "
            f"{spec.__name__}()."
        )
    if column_names(spec) is not None:
        if names is None:
            raise ValueError(
                "An auxiliary given as a frame must be matched with X by column name; received an "
                "X without names. Give the auxiliary as an array, with its columns as in X."
            )
        spec = select_columns(spec, list(names), "An auxiliary given as a frame")
    if isinstance(spec, np.ndarray) or hasattr(spec, "to_numpy"):
        return [Samples(spec)]
    if _is_auxiliary(spec):
        copy = clone(spec, safe=False)
        return list(copy.split(n_columns)) if hasattr(copy, "split") else [copy]
    if isinstance(spec, Iterable):
        items = list(spec)
        if items and all(isinstance(item, (int, float, np.number)) for item in items):
            return [Samples(np.asarray(items, dtype=float))]
        return [one for item in items for one in resolve_auxiliaries(item, n_columns, names)]
    missing = [name for name in ("fit", "sample") if not callable(getattr(spec, name, None))]
    raise ValueError(
        "An auxiliary must have fit(p, q) and sample(n, rng), and log_density(x) where it is "
        f"known; received a {type(spec).__name__} without {' and '.join(missing)}."
    )


def fit_auxiliary(auxiliary: Any, samples: TwoSamples) -> Any:
    """Fit an auxiliary, with the weights where its ``fit`` takes them."""
    p, q = samples
    if samples.weighted and "weight_p" in inspect.signature(auxiliary.fit).parameters:
        return auxiliary.fit(p.rows, q.rows, weight_p=p.weight, weight_q=q.weight)
    return auxiliary.fit(p.rows, q.rows)


def is_known(auxiliary: Any) -> bool:
    """Whether the auxiliary's log-density can be evaluated."""
    return callable(getattr(auxiliary, "log_density", None))


def _is_auxiliary(spec: Any) -> bool:
    return callable(getattr(spec, "fit", None)) and callable(getattr(spec, "sample", None))
