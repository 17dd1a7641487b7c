"""Mutual information where a third argument is known."""

from __future__ import annotations

from .combining import Pair, Part, strata, summed
from .result import Answer
from .values import Values


def conditional_information(x: Values, y: Values, z: Values, pair: Pair) -> Answer:
    """I(x; y | z): stratum by stratum where z is a label, otherwise I(x; y, z) - I(x; z).

    Parameters
    ----------
    x, y, z : Values
    pair : callable
        How the information of two arguments is found.
    """
    if z.constant:
        return pair(x, y)
    if z.discrete:
        return strata(x, y, z.array, pair)
    if y.discrete and not x.discrete:
        # A label stands alone; the information is symmetric.
        x, y = y, x
    whole, part = pair(x, y.beside(z)), pair(x, z)
    parts = [Part("x and all others", whole), Part("x and given", part, -1.0)]
    return summed(parts, f"{whole.method} less {part.method}")
