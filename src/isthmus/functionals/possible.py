"""What is possible: every number with an interval passes here on its way out."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.special import ndtri

NO_ERROR_KNOWN = "its standard error is infinite"
"""The reason where a standard error is all that there is, and says nothing."""

NO_LARGEST = "it is above every number"
"""The reason of an infinite value."""

ABSURD = "its standard error is larger than itself"

_SLIGHT = 1.0
"""A value outside what is possible by more than this, and by more than its error, is no noise."""

_LEAST_ERROR = 1.0
"""A standard error above this and above the value says nothing of the upper end."""


class Numbers(NamedTuple):
    """A value with its error and interval, and why the upper end is not known."""

    value: float
    std_error: float
    low: float
    high: float
    reason: str = ""


def possible(
    found: Numbers, level: float, lower: float = -math.inf, upper: float = math.inf
) -> Numbers:
    """The numbers, with what cannot be taken out of them.

    - The value lies within the range of the quantity, and within its interval.
    - A value outside the range says how large the error is at least: the interval is as long.
    - Where that is more than noise the fit is broken and nothing is known: the interval is the
      whole range, with a reason.
    - With an infinite value, or a standard error larger than the value, there is no upper end.
    - An infinite upper end has a reason.

    Parameters
    ----------
    found : Numbers
        As they were worked out.
    level : float
        Level of the interval.
    lower, upper : float
        Range of the quantity.

    Examples
    --------
    >>> noise = possible(Numbers(-0.02, 0.01, 0.0, 0.0), 0.95, lower=0.0)
    >>> noise.value, noise.low, round(noise.high, 2)
    (0.0, 0.0, 0.02)
    >>> possible(Numbers(-1e15, 1e3, 0.0, 0.0), 0.95, lower=0.0).reason
    'the fit gives -1e+15, which is impossible'
    """
    value, error, low, high, reason = found
    if math.isnan(value) or math.isnan(error):
        # No answer is better than one that is not a number.
        return Numbers(max(lower, 0.0), math.inf, lower, upper, reason or "the fit gives no number")
    reach = float(ndtri(0.5 + 0.5 * level)) * error if math.isfinite(error) else math.inf
    outside = max(lower - value, value - upper, 0.0)
    inside = min(max(value, lower), upper)
    if outside > max(reach, _SLIGHT):
        why = f"the fit gives {value:.3g}, which is impossible"
        return Numbers(inside, math.inf, lower, upper, reason or why)
    if math.isinf(inside) and inside > 0:
        low = low if math.isfinite(low) else lower
        return Numbers(inside, math.inf, max(low, lower), upper, reason or NO_LARGEST)
    if outside > 0:
        low, high = min(low, inside - max(reach, outside)), max(high, inside + max(reach, outside))
    low, high = (min(max(end, lower), upper) for end in (low, high))
    low, high = min(low, inside), max(high, inside)
    bounded = math.isfinite(lower)
    if bounded and math.isinf(upper) and error > max(abs(inside), _LEAST_ERROR):
        high, reason = upper, reason or (ABSURD if math.isfinite(error) else NO_ERROR_KNOWN)
    if math.isinf(high) and bounded:
        reason = reason or NO_ERROR_KNOWN
    return Numbers(inside, error, low, high, reason)
