"""From what a user passes as ``auxiliaries`` to a list of fitted auxiliaries."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.frames import column_names, select_columns
from ..data.sample import TwoSamples
from ..typing import Auxiliary, SplitAuxiliary
from .mixing import Samples


def resolve_auxiliaries(
    spec: Any, n_columns: int, names: Sequence[str] | None = None
) -> list[Auxiliary]:
    """Turn a specification into unfitted auxiliaries, one for each class.

    ``spec`` is a name, an auxiliary, an array of samples, a list of these, or None; ``names`` are
    those of the columns, by which an auxiliary given as a frame is matched. The caller's objects
    are copied.

    Examples
    --------
    >>> from isthmus.auxiliaries import resolve_auxiliaries
    >>> resolve_auxiliaries(["cauchy", "uniform"], n_columns=2)
    [Cauchy(), Uniform()]
    """
    from . import BY_NAME

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
    missing = [name for name in ("fit", "sample") if not callable(getattr(spec, name, None))]
    if not missing:
        copy: Auxiliary = clone(spec, safe=False)
        return list(copy.split(n_columns)) if isinstance(copy, SplitAuxiliary) else [copy]
    if isinstance(spec, Iterable):
        items = list(spec)
        if items and all(isinstance(item, (int, float, np.number)) for item in items):
            return [Samples(np.asarray(items, dtype=float))]
        return [one for item in items for one in resolve_auxiliaries(item, n_columns, names)]
    raise ValueError(
        "An auxiliary must have fit(p, q) and sample(n, rng), and log_density(x) where it is "
        f"known; received a {type(spec).__name__} without {' and '.join(missing)}."
    )


def fit_auxiliary(auxiliary: Any, samples: TwoSamples) -> Any:
    """Fit an auxiliary, with the weights where its ``fit`` takes them.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.auxiliaries import Normal, fit_auxiliary
    >>> from isthmus.data.validation import as_two_samples
    >>> rng = np.random.default_rng(0)
    >>> samples = as_two_samples(rng.normal(0, 1, (50, 2)), rng.normal(1, 1, (50, 2)))
    >>> fit_auxiliary(Normal(), samples).sample(3, rng).shape
    (3, 2)
    """
    p, q = samples
    if samples.weighted and "weight_p" in inspect.signature(auxiliary.fit).parameters:
        return auxiliary.fit(p.rows, q.rows, weight_p=p.weight, weight_q=q.weight)
    return auxiliary.fit(p.rows, q.rows)


def is_known(auxiliary: Any) -> bool:
    """Whether the auxiliary's log-density can be evaluated.

    Examples
    --------
    >>> from isthmus.auxiliaries import Cauchy, LinearMixing, is_known
    >>> is_known(Cauchy()), is_known(LinearMixing([0.5]))
    (True, False)
    """
    return callable(getattr(auxiliary, "log_density", None))
