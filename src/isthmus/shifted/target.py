"""Rows of the target on their way through scikit-learn's searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False, repr=False)
class Target:
    """Rows of the target, as one thing that nobody cuts into folds.

    scikit-learn's searches and cross-validations take from every array that has as many rows as X
    the rows of a fold. Rows of a target are not those of X, even if there happen to be as many.
    ``fit(X, y, target=Target(rows))`` is the same as ``fit(X, y, target=rows)`` and is safe there.

    Parameters
    ----------
    rows : array-like or frame of shape (m, d)

    Examples
    --------
    >>> from isthmus.shifted import Target
    >>> Target([[1.0], [2.0]]).rows
    [[1.0], [2.0]]
    """

    # Nothing that makes it look like an array: no length, no shape, no index.
    rows: Any

    def __repr__(self) -> str:
        return f"Target({type(self.rows).__name__})"


def target_rows(target: Any) -> Any:
    """The rows of a target, wrapped or not; refuses where there are none."""
    if isinstance(target, Target):
        target = target.rows
    if target is None:
        raise ValueError(
            "target must be rows of the data that the model is for, with the columns of X; "
            "received None. Their labels are not needed: fit(X, y, target=X_target)."
        )
    return target
