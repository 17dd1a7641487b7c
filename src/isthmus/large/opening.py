"""Which samples are read in parts, and which are taken as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.memory import array_source, table_source
from ..data.source import Source
from ..data.validation import as_weight
from ..sources import as_source
from ..tables.arrow import arrow_table
from ..tables.columns import TableError, as_columns, as_table, column_names, is_table

LARGE = 200_000
"""Rows of a sample above which it is read in parts, again for every pass."""

_WEIGHT = "weight of the row"

_COPIES = 16
"""How many times its input a comparison as a whole takes in memory, as it was measured."""


@dataclass(frozen=True)
class Opened:
    """Two samples, and the weights of their rows.

    Attributes
    ----------
    samples : pair
        Sources where either is large; otherwise arrays or frames in memory.
    weights : pair
        Of sources the columns that hold them, or None; otherwise arrays, or None.
    large : bool
        Whether the samples are read in parts, again for every pass.
    """

    samples: tuple[Any, Any]
    weights: tuple[Any, Any]
    large: bool


def opened(
    p: Any,
    q: Any,
    weight_p: Any = None,
    weight_q: Any = None,
    labels: Sequence[str] = ("p", "q"),
    memory: float | None = None,
) -> Opened:
    """Two samples as they were given: as sources where either has very many rows.

    So are files of fewer rows where a comparison of them as a whole would take more bytes than
    ``memory``.

    Examples
    --------
    >>> import numpy as np
    >>> opened(np.zeros((3, 1)), np.zeros((4, 1))).large
    False
    """
    both = [_Given.of(*one) for one in zip((p, q), (weight_p, weight_q), labels, strict=True)]
    much = memory is not None and sum(one.bytes for one in both) > memory
    if max(one.rows for one in both) <= LARGE and not much:
        values = [one.whole() for one in both]
        return Opened((values[0][0], values[1][0]), (values[0][1], values[1][1]), False)
    parts = [one.in_parts() for one in both]
    first, second = parts[0][0], parts[1][0]
    if (first.names is None) != (second.names is None):
        kinds = [
            "columns without names" if one.names is None else "names" for one in (first, second)
        ]
        raise ValueError(
            f"{labels[0]} and {labels[1]} must both have names of columns or both have none; "
            f"received {kinds[0]} and {kinds[1]}."
        )
    if first.names is None and first.n_columns != second.n_columns:
        raise ValueError(
            f"{labels[0]} and {labels[1]} must have the same columns; received {first.n_columns} "
            f"columns in {labels[0]} and {second.n_columns} in {labels[1]}."
        )
    return Opened((first, second), (parts[0][1], parts[1][1]), True)


@dataclass(frozen=True)
class _Given:
    """A sample as it was given, and a source where it is none in memory."""

    value: Any
    weight: Any
    label: str
    source: Source | None
    rows: int

    @classmethod
    def of(cls, value: Any, weight: Any, label: str) -> _Given:
        source = as_source(value, label)
        if source is not None:
            return cls(value, weight, label, source, source.rows)
        return cls(as_table(value), weight, label, None, _length(value))

    @property
    def bytes(self) -> int:
        """Bytes that a comparison as a whole would take for what is not in memory yet."""
        return 0 if self.source is None else 8 * _COPIES * self.rows * self.source.n_columns

    def whole(self) -> tuple[Any, Any]:
        """The sample in memory, and its weights."""
        value, weight = self.value, self.weight
        if self.source is not None:
            value = _together(list(self.source.batches()))
        if isinstance(weight, str):
            return self._without_weight(value, weight)
        return value, weight

    def in_parts(self) -> tuple[Source, str | None]:
        """The sample as a source, and the column that holds its weights."""
        if self.source is not None:
            if self.weight is not None:
                self._check_weight(self.source.names)
            return self.source, self.weight
        if is_table(self.value):
            return self._table()
        if isinstance(self.weight, str):
            self._check_weight(None)
        rows = np.asarray(self.value)
        weight = None
        if self.weight is not None:
            weight = as_weight(self.weight, len(rows), f"weight_{self.label}")
        return array_source(rows[:, None] if rows.ndim == 1 else rows, self.label, weight), None

    def _table(self) -> tuple[Source, str | None]:
        names = column_names(self.value, self.label)
        table, weight = arrow_table(self.value, self.label, names), self.weight
        if isinstance(weight, str):
            self._check_weight(names)
        elif weight is not None:
            import pyarrow as pa

            own = as_weight(weight, len(table), f"weight_{self.label}")
            table, weight = table.append_column(_WEIGHT, pa.array(own)), _WEIGHT
        return table_source(table, self.label), weight

    def _check_weight(self, names: Sequence[str] | None) -> None:
        if not isinstance(self.weight, str) or self.weight not in (names or ()):
            received = repr(self.weight) if isinstance(self.weight, str) else "an array"
            raise TableError(
                f"weight_{self.label} must be a column of {self.label}, which is read in parts; "
                f"received {received}."
            )

    def _without_weight(self, value: Any, name: str) -> tuple[Any, Any]:
        """A table without the column that holds the weights, and these."""
        names = column_names(value, self.label) if is_table(value) else []
        self._check_weight(names)
        others = [one for one in names if one != name]
        weight = as_columns(value, self.label, [name])[name].numbers
        return arrow_table(value, self.label, others), weight


def _length(value: Any) -> int:
    """Number of rows; zero where there is no telling, and the door will refuse it in words."""
    if isinstance(value, dict):
        value = next(iter(value.values()), ())
    try:
        return len(value)
    except TypeError:
        return 0


def _together(batches: list[Any]) -> Any:
    if isinstance(batches[0], np.ndarray):
        return np.concatenate(batches)
    import pyarrow as pa

    return pa.concat_tables(batches, promote_options="permissive")
