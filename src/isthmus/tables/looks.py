"""Passes over two tables: in memory, or wherever an engine reads their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..data.engine import Engine, total
from ..data.source import Source
from ..typing import Array
from .columns import Column
from .looking import Looking, TableSummary

Both = tuple[TableSummary, TableSummary]


@dataclass(frozen=True)
class InMemory:
    """A pass over the columns of two tables that are in memory.

    Attributes
    ----------
    tables : pair of mappings of str to Column
    weights : pair of ndarray
    labels : pair of str
        What messages call the tables.
    dates : tuple of str
        Parts of dates that are asked for.
    """

    tables: tuple[Mapping[str, Column], Mapping[str, Column]]
    weights: tuple[Array, Array]
    labels: tuple[str, str]
    dates: tuple[str, ...]

    def __call__(self, names: tuple[str, ...], complete: tuple[str, ...]) -> Both:
        """Look at columns; rows that lack a value of those in ``complete`` are dropped."""
        first, second = (
            Looking.at(len(weight), names, label, dates=self.dates, complete=complete).of(
                columns, weight
            )
            for columns, weight, label in zip(self.tables, self.weights, self.labels, strict=True)
        )
        return first, second


@dataclass(frozen=True)
class InParts:
    """A pass over two sources.

    Attributes
    ----------
    sources : pair of Source
    engine : Engine
    weights : pair of str or None
        Columns that hold the weights of rows.
    labels, dates
        As in :class:`InMemory`.
    """

    sources: tuple[Source, Source]
    engine: Engine
    weights: tuple[str | None, str | None]
    labels: tuple[str, str]
    dates: tuple[str, ...]

    def __call__(self, names: tuple[str, ...], complete: tuple[str, ...]) -> Both:
        """Look at columns; rows that lack a value of those in ``complete`` are dropped."""
        first, second = (
            total(
                self.engine,
                Looking.at(
                    source.rows, names, label, dates=self.dates, complete=complete, weight=weight
                ),
                source.only(names if weight is None else (*names, weight)),
            )
            for source, label, weight in zip(self.sources, self.labels, self.weights, strict=True)
        )
        return first, second
