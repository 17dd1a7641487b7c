"""Dimension-wise mixing of the cells of v: which cells of a row belong to another pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.validation import check_number, check_option
from ..neural.lazy_torch import require_torch

MIXINGS = ("nested", "count", "cells", "merged")


class CellMixing:
    """Classes between p, whose v is that of u, and q, whose v is that of another pair.

    A row of an auxiliary class has some cells of its own pair's v and some of another's.

    Parameters
    ----------
    kind : {"nested", "count", "cells", "merged"}
        Class k of d - 1 mixes the first k cells ("nested", as TRE does), or k cells at
        random ("count"). Class k of d mixes cell k alone ("cells"). One class holds the
        nested mixtures of all k together ("merged", K = 1).
    d : int
        Number of cells.

    Attributes
    ----------
    n_classes : int
        K + 2: p, the auxiliaries and q.

    Examples
    --------
    >>> CellMixing("nested", 4).fixed.astype(int)
    array([[0, 0, 0, 0],
           [1, 0, 0, 0],
           [1, 1, 0, 0],
           [1, 1, 1, 0],
           [1, 1, 1, 1]])
    >>> [CellMixing(kind, 4).n_classes for kind in ("count", "cells", "merged")]
    [5, 6, 3]
    """

    def __init__(self, kind: str, d: int) -> None:
        check_option(kind, "mixing", MIXINGS)
        check_number(d, "d", low=1, integer=True)
        self.kind, self.d = kind, int(d)
        between = {"cells": self.d if self.d > 1 else 0, "merged": min(self.d - 1, 1)}
        self.n_classes = between.get(kind, self.d - 1) + 2

    @property
    def fixed(self) -> np.ndarray | None:
        """Which cells each class mixes, shape (classes, d), or None if that is random."""
        if self.kind == "nested":
            return np.tri(self.d + 1, self.d, -1, dtype=bool)
        if self.kind == "cells":
            inner = np.eye(self.d, dtype=bool)[: self.n_classes - 2]
            return np.vstack([np.zeros(self.d, bool), inner, np.ones(self.d, bool)])
        return None

    def draw(self, n: int, generator: Any) -> Any:
        """Which cells n rows of each class mix, shape (classes, n, d), as a bool tensor."""
        torch = require_torch("CellMixing")
        if self.fixed is not None:
            return torch.from_numpy(self.fixed)[:, None].expand(-1, n, -1)
        if self.kind == "count":
            # Each row's cells in an order of their own; class k mixes the first k of them.
            order = torch.rand(n, self.d, generator=generator).argsort(1).argsort(1)
            return order < torch.arange(self.d + 1)[:, None, None]
        inner = torch.randint(1, max(self.d, 2), (n, 1), generator=generator)
        counts = [torch.zeros(n, 1), inner, torch.full((n, 1), self.d)]
        if self.n_classes == 2:
            counts = [counts[0], counts[2]]
        return torch.arange(self.d) < torch.stack(counts)
