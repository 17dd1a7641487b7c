"""Weights of a source's rows, with their certificate."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparison import Comparison
from ..data.validation import as_rows
from ..tables.columns import as_table, is_table
from ..typing import Array, BoolArray
from .balance import Balance
from .certificate import Certificate
from .frames import Shape
from .lacking import separating
from .overlap import Overlap
from .rules import Population

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NORMALISATIONS = ("mean", "sum", "target")


class WeightingError(ValueError):
    """No weighting of the source's rows makes them look like the target.

    Attributes
    ----------
    weights : Weights
        What was found, with the certificate that says why it is refused.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> try:
    ...     isthmus.importance_weights(rng.normal(0, 1, 300), rng.normal(9, 1, 300), random_state=0)
    ... except isthmus.WeightingError as error:
    ...     error.weights.usable
    False
    """

    def __init__(self, message: str, weights: Weights) -> None:
        super().__init__(message, weights)
        self.weights = weights

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, repr=False, eq=False)
class Weights:
    """Weights of a source's rows under which they look like a target, and what they are worth.

    Attributes
    ----------
    log_weight : ndarray of shape (n,)
        Logarithms of the weights of all rows that were given, on the scale of ``normalise``;
        minus infinity for rows without weight.
    kept : ndarray of bool, shape (n,)
        Rows that may have weight: those in the population without missing values that were asked
        to be dropped.
    certificate : Certificate
        Effective sample size, design effect, Pareto's k, balance, overlap and verdict.
    comparison : Comparison
        The ratio target/source that the weights, or the overlap, come from.
    population : Population or None
        Which rows of source and target remain, where others were left out.
    normalise : {"mean", "sum", "target"}
        Whether the weights average one over the kept rows, add up to one, or add up to the
        target's rows in the population.
    notes : tuple of str
        What was done to the weights, a sentence each.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> source, target = rng.normal(0, 1, 500), rng.normal(0.5, 1, 500)
    >>> w = isthmus.importance_weights(source, target, random_state=0)
    >>> w.usable, bool(abs(np.average(source, weights=w.values) - target.mean()) < 0.15)
    (True, True)
    """

    log_weight: Array
    kept: BoolArray
    certificate: Certificate
    comparison: Comparison
    population: Population | None = None
    normalise: str = "mean"
    notes: tuple[str, ...] = ()
    shape: Shape = field(default_factory=Shape)

    @property
    def values(self) -> Any:
        """Weights of all rows that were given, zero for those that are not kept.

        A pandas series with the source's index, a polars or Arrow series, or an array, as the
        source was.
        """
        return self.shape.series(np.exp(self.log_weight), "weight")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(np.exp(self.log_weight), dtype=dtype)

    def __len__(self) -> int:
        return len(self.log_weight)

    @property
    def usable(self) -> bool:
        """Whether the verdict is not "fail"."""
        return self.certificate.verdict != "fail"

    @property
    def separating(self) -> tuple[str, ...]:
        """Columns that alone tell source and target apart, which no weights can balance."""
        return tuple(one.name for one in separating(self.comparison.encoder))

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return self.certificate.in_words

    @property
    def effective_sample_size(self) -> float:
        """How many rows of equal weight would tell as much."""
        return self.certificate.effective_sample_size

    @property
    def design_effect(self) -> float:
        """By how much weighting multiplies the variance of a mean, 1 + CV²."""
        return self.certificate.design_effect

    @property
    def pareto_k(self) -> float:
        """Shape of the tail of the weights."""
        return self.certificate.pareto_k

    @property
    def balance(self) -> Balance:
        """Columns and levels in source, weighted source and target."""
        return self.certificate.balance

    @property
    def overlap(self) -> Overlap:
        """Where the target lies among the source's rows."""
        return self.certificate.overlap

    def contains(self, x: Any) -> BoolArray:
        """Which rows belong to the population for which the weights stand.

        Parameters
        ----------
        x : array-like or frame
            Rows with the source's columns.

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        encoder, x = self.comparison.encoder, as_table(x)
        encoded = encoder.transform(x) if encoder is not None and is_table(x) else x
        rows = as_rows(encoded, "x", missing=True)
        if self.population is None:
            return np.ones(len(rows), dtype=bool)
        return self.population.holds(rows)

    def to_frame(self) -> Any:
        """One row for each of the source's: weight, log-ratio and whether it is kept.

        Returns
        -------
        frame
            Of the source's library, with its index; for arrays a pandas frame, or an Arrow table
            where pandas is not installed.
        """
        log_ratio = np.full(len(self), np.nan)
        log_ratio[given_rows(self.comparison, len(self))] = self.comparison.log_ratio_q
        return self.shape.frame(
            {"weight": np.exp(self.log_weight), "log_ratio": log_ratio, "kept": self.kept}
        )

    def to_dict(self) -> dict[str, Any]:
        """The certificate in plain numbers and text, without the weights.

        Returns
        -------
        dict
            As strict JSON can hold it: None for what is not finite.
        """
        from .told import as_dict

        return as_dict(self)

    def plot(self, ax: Axes | None = None, most: int = 20) -> Axes:
        """Draw the standardised mean differences before and after weighting.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default a new figure.
        most : int, default 20
            How many columns and levels to show, those furthest apart before weighting first.

        Returns
        -------
        Axes
        """
        from .pictures import love_plot

        return love_plot(self.balance, ax=ax, most=most)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write the certificate as one page of HTML.

        Parameters
        ----------
        path : str or path-like
            Where to write. A file of that name is replaced once the page is complete.
        title : str, optional
            Heading of the page.

        Returns
        -------
        Path
        """
        from .page import write

        return write(self, path, title=title)

    def __str__(self) -> str:
        from .told import as_text

        return as_text(self)

    def __repr__(self) -> str:
        return (
            f"Weights(rows={self.certificate.rows}, "
            f"effective_sample_size={self.effective_sample_size:.1f}, "
            f"verdict={self.certificate.verdict!r})"
        )

    def _repr_html_(self) -> str:
        from .page import summary

        return summary(self)


def given_rows(comparison: Comparison, n: int) -> BoolArray:
    """Which of the source's rows were compared: all but those dropped for missing values."""
    encoder = comparison.encoder
    return np.ones(n, dtype=bool) if encoder is None else np.asarray(encoder.kept_q_)


def normalised(log_weight: Array, normalise: str, target: float) -> Array:
    """Log-weights on the scale that is asked for; ``target`` is the weight of the target's rows."""
    goal = {"mean": float(len(log_weight)), "sum": 1.0, "target": target}[normalise]
    return np.asarray(log_weight - np.logaddexp.reduce(log_weight) + np.log(goal))
