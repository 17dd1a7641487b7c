"""Frames in and out: a series beside the source's rows, a table of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from ..typing import Array


@dataclass(frozen=True)
class Shape:
    """Of which library the source was, and its index if it has one.

    Attributes
    ----------
    library : str or None
        Name of the library as narwhals has it, such as "pandas"; None for arrays and dicts.
    index : object
        The index of a pandas-like source, otherwise None.
    """

    library: Any = None
    index: Any = None

    @classmethod
    def of(cls, source: Any) -> Shape:
        """What the source was."""
        found = nw.from_native(source, allow_series=True, pass_through=True)
        if not isinstance(found, nw.DataFrame | nw.Series):
            return cls()
        return cls(found.implementation.value, nw.maybe_get_index(found))

    def series(self, values: Array, name: str) -> Any:
        """Values beside the source's rows: a series of its library, or an array."""
        if self.library is None:
            return np.array(values)
        made = nw.new_series(name, values.tolist(), backend=self.library)
        return self._indexed(made)

    def frame(self, data: Mapping[str, Any]) -> Any:
        """Columns beside the source's rows: a frame of its library, or as :func:`as_table`."""
        if self.library is None:
            return as_table(data)
        return self._indexed(nw.from_dict(dict(data), backend=self.library))

    def _indexed(self, made: Any) -> Any:
        native = made.to_native()
        if self.index is not None:
            native.index = self.index
        return native


def as_table(data: Mapping[str, Any]) -> Any:
    """Columns as a pandas frame, or as an Arrow table where pandas is not installed."""
    try:
        import pandas as pd
    except ImportError:
        import pyarrow as pa

        return pa.table(dict(data))
    return pd.DataFrame(dict(data))
