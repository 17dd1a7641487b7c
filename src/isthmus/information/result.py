"""The forms of a mutual information: while it is worked out, and as it is returned."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..functionals import Estimate
from ..typing import Array
from .evaluation import Evaluation


@dataclass(frozen=True)
class Answer:
    """A number with its standard error, and what it rests on."""

    value: float
    std_error: float
    method: str
    terms: Array | None = None
    """Log-ratios of the rows that the number is a mean of, where there are any."""
    held_out: Evaluation | None = None
    """The chosen ratio at held-out pairs."""
    trials: tuple[dict[str, Any], ...] = ()
    """What was tried, by "name" and "score"."""
    infinite: bool = False
    """Whether x and y determine each other."""

    @classmethod
    def of_terms(cls, terms: Array, method: str) -> Answer:
        """The mean of the terms of independent rows."""
        error = float(terms.std() / np.sqrt(len(terms)))
        return cls(float(terms.mean()), error, method, terms)


@dataclass(frozen=True, repr=False, eq=False)
class Information(Estimate):
    """A mutual information in nats, with what it rests on.

    Parameters
    ----------
    value, std_error, low, high, level, method
        As of :class:`isthmus.functionals.Estimate`. Noise around a small information is as
        often negative as positive: ``unclipped`` has it.
    lower_bound : float
        One-sided: the information is at least so large, with probability ``level``,
        however bad the fitted ratio is. From pairs that the ratio has not seen.
    n_rows : int
        Number of rows used.
    trials : tuple of dict
        The ratios that were tried, with the mean log-ratio of held-out rows.
    notes : tuple of str
        What to know about this number.

    Examples
    --------
    >>> from isthmus.information import Information
    >>> i = Information(0.51, 0.01, 0.49, 0.53, lower_bound=0.48, n_rows=2000)
    >>> print(i)
    0.510 ± 0.010 (95 % interval 0.490 to 0.530)
    """

    lower_bound: float = 0.0
    n_rows: int = 0
    trials: tuple[dict[str, Any], ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = ()

    @property
    def bits(self) -> float:
        """The value in bits."""
        return self.value / math.log(2.0)
