"""The forms of a mutual information: while it is worked out, and as it is returned."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..diagnostics.check import Check, objections
from ..diagnostics.found import Diagnostics
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
    further: tuple[float, float] = (0.0, 0.0)
    """How far the number may be too high and too low for other reasons than chance."""
    most: float = math.inf
    """What the information can be at most, such as the entropy of a label."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """What speaks for the number and what against it, by name."""
    notes: tuple[str, ...] = ()
    infinite: bool = False
    """Whether x and y determine each other."""
    proven: tuple[float, float] | None = None
    """What the information is at least, by rows that were not fitted to, and its standard error."""
    unseen: float = 0.0
    """How much of what the interval reaches up for is information that no row shows."""

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
    diagnostics : Diagnostics
        Checks of the number, by name: ``print(i.diagnostics)``. Where one fails, the interval
        has a lower end only.

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
    diagnostics: Diagnostics = field(default_factory=lambda: Diagnostics({}), compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.diagnostics, Diagnostics):
            checks = {name: Check(**one) for name, one in dict(self.diagnostics).items()}
            object.__setattr__(self, "diagnostics", Diagnostics(checks))

    def to_dict(self) -> dict[str, Any]:
        """As of :class:`isthmus.functionals.Estimate`, with the fields of every check."""
        checks = {name: asdict(check) for name, check in self.diagnostics.items()}
        return {**super().to_dict(), "diagnostics": checks}

    @property
    def trusted(self) -> bool:
        """Whether no check speaks against the number.

        Examples
        --------
        >>> from isthmus.information import Information
        >>> Information(0.51, 0.01, 0.49, 0.53).trusted
        True
        """
        return not objections(self.diagnostics)

    @property
    def bits(self) -> float:
        """The value in bits."""
        return self.value / math.log(2.0)
