"""``audit_weights(w, x, target)``: the certificate of anybody's weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.validation import as_weight
from ..typing import RandomState
from .judging import Case, Pair, row_count
from .lacking import table_notes
from .result import Weights, normalised


def audit_weights(
    w: Any,
    x: Any,
    target: Any,
    *,
    weight_target: Any = None,
    estimator: Any = None,
    columns: Any = None,
    drop: Any = (),
    keep: Any = (),
    missing: str = "indicator",
    dates: Any = "days",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> Weights:
    """The certificate of weights that come from anywhere.

    Effective sample size, design effect, Pareto's k and balance are those of the weights. The
    overlap compares them with a ratio of the two samples that is estimated here: if the weights
    are right, the weighted rows have the target's share in every decile of it.

    Parameters
    ----------
    w : array-like of shape (n,)
        Weights of the rows of x, not negative; their scale does not count.
    x : array-like or frame of shape (n, d) or (n,)
        The rows that are weighted.
    target : array-like or frame
        The sample that they shall look like.
    weight_target : array-like, optional
        Weights of the target's rows.
    estimator, columns, drop, keep, missing, dates, random_state, n_jobs, progress
        As in :func:`importance_weights`.

    Returns
    -------
    Weights
        With the weights that were given, of mean one over the rows that count.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> x, target = rng.normal(0, 1, 600), rng.normal(0.5, 1, 600)
    >>> isthmus.audit_weights(np.exp(0.5 * x), x, target, random_state=0).certificate.verdict
    'ok'
    >>> isthmus.audit_weights(np.exp(-0.5 * x), x, target, random_state=0).certificate.verdict
    'fail'
    """
    n = row_count(x)
    weight = as_weight(w, n, "w")
    pair = Pair.of(
        x,
        target,
        None,
        weight_target,
        estimator=estimator,
        columns=columns,
        drop=drop,
        keep=keep,
        missing=missing,
        dates=dates,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    found = pair.compared(progress)
    weight = weight[pair.used]
    every = Case.of(pair, found)
    positive = weight > 0
    case = every.take(np.ones(len(every.target), dtype=bool), positive)
    log_weight = np.log(weight[positive])
    kept, out = np.zeros(n, dtype=bool), np.full(n, -np.inf)
    places = np.flatnonzero(pair.used)[positive]
    kept[places] = True
    out[places] = normalised(log_weight, "mean", 1.0)
    certificate = case.certificate(log_weight, log_weight)
    notes = table_notes(pair.encoder)
    return Weights(out, kept, certificate, found, notes=notes, shape=pair.shape)
