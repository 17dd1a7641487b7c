"""Whether there are regions of one sample that no other class visits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..model.classes import CriticModel
from ..typing import Array
from .check import Check, Verdict

ALONE = 1e-3
"""Probability of all other classes together below which a row stands alone."""


def check_chasm(
    others: Mapping[str, Array], *, joined: bool, learned: bool, anchored: bool
) -> Check:
    """Whether rows of p lie where neither q nor an auxiliary has rows, or rows of q.

    A classifier learns a ratio only where two classes meet. What it says of a row at
    which all other classes together have a probability below a thousandth is a
    continuation of what it learned elsewhere.

    Parameters
    ----------
    others : mapping of str to ndarray
        For "p" and for "q", the log-probability of all other classes together at rows
        of that sample.
    joined : bool
        Whether there are auxiliaries.
    learned : bool
        Whether the ratio was learned from the classes; that of anchors alone, of waymarks or
        of densities was not.
    anchored : bool
        Whether what is learned departs from anchors.

    Returns
    -------
    Check
        Its value is the larger of the two shares of rows that stand alone.

    Examples
    --------
    >>> near, far = np.log(np.full(100, 0.4)), np.full(100, -50.0)
    >>> how = {"joined": False, "learned": True, "anchored": False}
    >>> check_chasm({"p": near, "q": near}, **how).verdict
    'ok'
    >>> check_chasm({"p": far, "q": near}, **how).verdict
    'fail'
    """
    shares = {name: float(np.mean(values < np.log(ALONE))) for name, values in others.items()}
    worst = max(shares.values())
    told = " and ".join(f"{share:.0%} of the rows of {name}" for name, share in shares.items())
    alone = f"{told} lie where no other class has rows"
    if not learned:
        return Check(worst, "ok", f"{alone}; the ratio does not rest on classes.", details=shares)
    # Auxiliaries are there to leave no row alone; without them far rows are to be expected.
    most, too_many = (0.05, 0.5) if joined else (0.5, 0.9)
    verdict: Verdict = "ok" if worst <= most else "warn"
    if worst > too_many and not anchored:
        verdict = "fail"
    what = "other auxiliaries, or more of them" if joined else "auxiliaries, as MDRE does"
    advice = f"{alone}."
    if verdict != "ok":
        advice = f"{alone}: the ratio there is a continuation that no row supports. Use {what}."
    return Check(worst, verdict, advice, details=shares)


def others_of(comparison: Any, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Log-probability of all classes but its own at rows of p and of q.

    Parameters
    ----------
    comparison : Comparison
    rows : mapping of str to ndarray
        Rows of "p" and of "q".
    """
    model = getattr(comparison.estimator, "model_", None)
    if isinstance(model, CriticModel):
        out = {}
        for name, own in rows.items():
            log_proba = model.log_proba(own)
            log_proba[:, model.class_names.index(name)] = -np.inf
            out[name] = np.logaddexp.reduce(log_proba, axis=1)
        return out
    return {
        "p": -np.logaddexp(0.0, comparison.log_ratio_p),
        "q": -np.logaddexp(0.0, -comparison.log_ratio_q),
    }
