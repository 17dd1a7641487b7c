"""Scores of some rows: what is asked of a model, and the columns that go with the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..comparison import Comparison
from ..data.blocks import slices
from ..estimator import RatioEstimator
from ..functionals import importance_weights
from ..large.pieces import PIECE_ROWS, keep_memory, plain_columns, side_by_side
from ..large.quick import quick
from ..tables.columns import TableError
from ..tables.door import Door
from ..typing import Array
from ..words import count, listed
from .comparison import SavedComparison

LOG_RATIO, WEIGHT = "log_ratio", "weight"


@dataclass(frozen=True)
class Scores:
    """A function from tables to tables of keys and scores; it can be pickled.

    Attributes
    ----------
    model : SavedComparison or Comparison or estimator
    used, keys : tuple of str
        Columns that the model sees, and those that are written beside the scores.
    weights : bool
        Whether p/q is written as well.
    label : str
        What messages call the rows.
    """

    model: Any
    used: tuple[str, ...]
    keys: tuple[str, ...]
    weights: bool
    label: str

    @classmethod
    def of(
        cls,
        model: Any,
        names: Sequence[str],
        keys: Sequence[str],
        weights: bool,
        label: str,
        door: Door,
    ) -> Scores:
        """For a table with columns of these names."""
        argument = door.argument("columns")
        taken = [name for name in keys if name in made(weights)]
        if taken:
            raise ValueError(
                f"{argument} must not name {taken[0]!r}, which the scores are called; rename it "
                "first."
            )
        absent = [name for name in keys if name not in set(names)]
        if absent:
            raise TableError(
                f"{label}: {argument} must name columns of the table; received "
                f"{listed([repr(name) for name in absent])}. It has "
                f"{listed([repr(name) for name in names])}."
            )
        used = _used(model, names, keys, label, argument)
        if isinstance(model, SavedComparison | Comparison):
            model = replace(model, estimator=quick(model.estimator))
        else:
            model = quick(model)
        return cls(model, tuple(used), tuple(keys), weights, label)

    @property
    def columns(self) -> list[str]:
        """Columns to read."""
        return list(dict.fromkeys([*self.keys, *self.used]))

    def __call__(self, part: Any) -> Any:
        """Keys and scores of some rows."""
        import pyarrow as pa

        part = _complete(part, self.columns)
        rows = part.select(list(self.used))
        if _encoder(self.model) is None and not hasattr(
            _estimator(self.model), "feature_names_in_"
        ):
            rows = np.column_stack([column.to_numpy() for column in rows.columns])
        try:
            log_ratio = self._of_numbers(rows)
            if log_ratio is None:
                log_ratio = self.model.log_ratio(rows)
        except ValueError as error:
            raise TableError(f"{self.label}: {error}") from None
        out = part.select(list(self.keys)).append_column(LOG_RATIO, pa.array(log_ratio))
        if self.weights:
            own = importance_weights(log_ratio, normalise=False)
            out = out.append_column(WEIGHT, pa.array(own))
        return out

    def _of_numbers(self, rows: Any) -> Array | None:
        """Log-ratios of a table of plain numbers; None for any other."""
        encoder, estimator = _encoder(self.model), _estimator(self.model)
        if encoder is None or getattr(self.model, "projection", None) is not None:
            return None
        columns = plain_columns(rows, encoder)
        if columns is None or not isinstance(estimator, RatioEstimator):
            return None
        keep_memory()
        out = np.empty(len(rows))
        for at in slices(len(rows), PIECE_ROWS):
            out[at] = estimator.log_ratio_at(side_by_side(columns, at))
        return out

    def nothing(self) -> Any:
        """A table without rows: an empty day has its scores, too."""
        import pyarrow as pa

        keys = {name: pa.array([], pa.string()) for name in self.keys}
        return pa.table(
            {**keys, **{name: pa.array([], pa.float64()) for name in made(self.weights)}}
        )


def made(weights: bool) -> tuple[str, ...]:
    """Names of the columns that are made."""
    return (LOG_RATIO, WEIGHT) if weights else (LOG_RATIO,)


def known_kinds(model: Any) -> dict[str, list[str]]:
    """Columns that the model knows to be text, or numbers."""
    encoder = _encoder(model)
    if encoder is None:
        return {"numbers": list(getattr(_estimator(model), "feature_names_in_", ()))}
    return {
        "text": [plan.source for plan in encoder.plans if plan.source_kind == "category"],
        "numbers": [plan.source for plan in encoder.plans if plan.source_kind == "number"],
    }


def _complete(part: Any, names: Sequence[str]) -> Any:
    """Some rows with all columns: lines of JSON leave out what is missing."""
    import pyarrow as pa

    for name in names:
        if name not in part.column_names:
            part = part.append_column(name, pa.nulls(part.num_rows))
    return part


def _estimator(model: Any) -> Any:
    return model.estimator if isinstance(model, SavedComparison | Comparison) else model


def _encoder(model: Any) -> Any:
    return model.encoder if isinstance(model, SavedComparison | Comparison) else None


def _used(
    model: Any, names: Sequence[str], keys: Sequence[str], label: str, argument: str
) -> list[str]:
    """Columns of the table that the model sees."""
    encoder, estimator = _encoder(model), _estimator(model)
    if encoder is not None:
        used = list(encoder.sources)
    elif hasattr(estimator, "feature_names_in_"):
        used = list(estimator.feature_names_in_)
    else:
        used = [name for name in names if name not in set(keys)]
        if len(used) != estimator.n_features_in_:
            raise TableError(
                f"{label}: must have {count(estimator.n_features_in_, 'column')} beside "
                f"those of {argument}, as the model was fitted to arrays without names; received "
                f"{len(used)}."
            )
    absent = [name for name in used if name not in set(names)]
    if absent:
        raise TableError(
            f"{label}: must have the columns that the model was fitted to; received a "
            f"table without {listed([repr(name) for name in absent])}."
        )
    return used
