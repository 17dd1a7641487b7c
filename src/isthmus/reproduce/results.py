"""Numbers of many cells: which of them, their mean and spread, and how they are written."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .record import Fields

Numbers: TypeAlias = Sequence[Any] | np.ndarray


def select(results: list[Fields], **wanted: object) -> list[Fields]:
    """Results that have these values."""
    return [each for each in results if all(each[k] == value for k, value in wanted.items())]


def distinct(results: list[Fields], name: str) -> list[Any]:
    """Different values of a field, in the order of the results."""
    return list(dict.fromkeys(each[name] for each in results))


def values(results: list[Fields], *path: Any) -> list[float]:
    """The number at the end of a path of names in every result that has one.

    Examples
    --------
    >>> values([{"kl": {"bdre": 1.0}}, {"kl": {"bdre": None}}], "kl", "bdre")
    [1.0]
    """
    out = []
    for each in results:
        value: Any = each
        for name in path:
            value = value.get(name) if isinstance(value, dict) else value[name]
        if value is not None:
            out.append(value)
    return out


def mean(results: list[Fields], *path: Any) -> float:
    """Mean over the results of the number at the end of a path."""
    return float(np.mean(values(results, *path)))


def averaged(results: list[Fields], *path: Any) -> str:
    """Mean and spread of the number at the end of a path, as it is written."""
    return mean_and_spread(values(results, *path))


def number(value: float) -> str:
    """A number of nats with two digits after the point, or a few where it is enormous."""
    return f"{value:.2f}" if abs(value) < 1e4 else f"{value:.1e}"


def compact(value: float) -> str:
    """A number of nats in few letters: 0.04, 3.1, 183 or 4e+06."""
    if abs(value) < 0.995:
        return f"{value:.2f}"
    if abs(value) < 9.95:
        return f"{value:.1f}"
    return f"{value:.0f}" if abs(value) < 1e5 else f"{value:.0e}"


def mean_and_spread(numbers: Sequence[float]) -> str:
    """Mean ± standard deviation over seeds; a spread needs two.

    Examples
    --------
    >>> mean_and_spread([10.0, 11.0, 12.0]), mean_and_spread([3.0]), mean_and_spread([])
    ('11.00 ± 1.00', '3.00', '')
    """
    if not numbers:
        return ""
    if len(numbers) == 1:
        return number(numbers[0])
    return f"{number(statistics.mean(numbers))} ± {number(statistics.stdev(numbers))}"


def rms(numbers: Numbers) -> float:
    """Root mean square of the numbers that are finite."""
    finite = np.asarray(numbers, dtype=float)
    finite = finite[np.isfinite(finite)]
    return float(np.sqrt(np.mean(finite**2))) if len(finite) else float("nan")


def few(numbers: Numbers, digits: int = 5) -> list[Any]:
    """Numbers with few digits, for a record that only has to be drawn."""
    return [float(f"{float(value):.{digits}g}") for value in numbers]


def few_by_class(by_class: dict[str, Any], most: int | None = None) -> dict[str, list[Any]]:
    """The first numbers of every class with few digits."""
    return {name: few(numbers[:most]) for name, numbers in by_class.items()}
