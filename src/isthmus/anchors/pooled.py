"""One anchor for both samples."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator


class Pooled(BaseEstimator):
    """The same anchor for p and for q, fitted to both samples together.

    The critic then has all of the difference to learn. Where p and q are alike,
    or rows are few for the number of columns, nothing is to be learned or little,
    and the noise of two separate fits is spared.

    Parameters
    ----------
    anchor : str or anchor
        What to fit.
    """

    def __init__(self, anchor: Any = "gaussian") -> None:
        self.anchor = anchor
