"""From a number as it was worked out to one that is returned, within what is possible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from .. import words
from ..diagnostics.check import Check, objections
from ..diagnostics.found import Diagnostics
from .checks import check_precision
from .evaluation import lower_bound
from .result import Answer, Information

FUNCTION = (
    "x and y determine each other up to rounding: the mutual information of continuous "
    "variables is then infinite, and the value only says what these rows can show."
)
"""What is told where x is a function of y and y one of x."""


def finished(found: Answer, n_rows: int, level: float) -> Information:
    """The number with an interval, of which the upper end is known if no check speaks against it.

    Examples
    --------
    >>> i = finished(Answer(0.5, 0.01, "gaussian", most=0.6), 1000, 0.95)
    >>> round(i.low, 2), round(i.high, 2), i.trusted
    (0.48, 0.52, True)
    """
    notes, error, checks = list(found.notes), found.std_error, dict(found.checks)
    against = objections(found.checks)
    reason = words.objection(list(against)) if against else ""
    if found.infinite:
        notes.append(FUNCTION)
        error, reason = np.inf, "x and y determine each other up to rounding"
        checks["function"] = Check(found.value, "fail", FUNCTION)
    if found.value < 0:
        notes.append(
            f"What was worked out is negative ({found.value:.3g}). A mutual information is not: "
            "this is the noise of an information near zero."
        )
    proven = lower_bound(found.held_out, *(found.proven or (found.value, found.std_error)), level)
    half = float(ndtri(0.5 + 0.5 * level)) * error
    # By how much chance and the choice of a family lift a number are two errors that do not know
    # of each other; what has not been learned is missing whatever chance does.
    below, above = found.further
    low, high = found.value - float(np.hypot(half, below)), found.value + half + above
    if reason:
        # What speaks against the value speaks against the interval that goes with it. What
        # held-out pairs prove asks no ratio to be right.
        sure = found.infinite or found.held_out is not None
        low, high = proven if sure else min(low, proven), np.inf
    else:
        at = float(np.clip(found.value, 0.0, found.most))
        ends = float(np.clip(low, 0.0, at)), float(np.clip(high, at, found.most))
        checks["precision"] = check_precision(at, *ends)
    made = Information.within(
        found.value,
        error,
        low,
        high,
        level=level,
        lower=0.0,
        upper=found.most,
        method=found.method,
        reason=reason,
    )
    return replace(
        made,
        lower_bound=min(proven, found.most),
        n_rows=n_rows,
        trials=found.trials,
        notes=tuple(notes),
        diagnostics=Diagnostics(checks),
    )
