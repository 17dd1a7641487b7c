"""One anchor for both samples, or one shape at two places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from ..typing import Array
from .elliptical import OneComponent


class Pooled(BaseEstimator):
    """What p and q share, fitted to both samples together.

    The critic then has the rest of the difference to learn. Where p and q are alike,
    or rows are few for the number of columns, nothing is to be learned or little,
    and the noise of two separate fits is spared.

    Parameters
    ----------
    anchor : str or anchor
        What to fit.
    places : {"one", "two"}
        "one": the same anchor for p and for q. "two": the same shape around the mean of
        each sample, as in linear discriminant analysis; the anchor must be of
        one component, such as "gaussian" or "student-t".
    """

    def __init__(self, anchor: Any = "gaussian", places: str = "one") -> None:
        self.anchor = anchor
        self.places = places


class Moved(OneComponent):
    """An anchor of one component, at another place.

    Parameters
    ----------
    anchor : anchor
        A fitted one.
    by : ndarray of shape (d,)
        How far to move it.
    """

    def __init__(self, anchor: Any, by: Array) -> None:
        self.anchor, self.by = anchor, by
        self.component_ = replace(anchor.component_, mean=anchor.component_.mean + by)
