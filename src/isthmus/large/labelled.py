"""``MDRE().fit(source, "label")``: both samples in one source, told apart by a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..data.engine import engine_of
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.source import Batch, Part, Read, Source
from ..data.telling import tell
from ..data.validation import as_labels, as_weight
from ..maps.affine import check_varies
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..sources import as_source
from ..tables.arrow import arrow_table
from ..tables.columns import TableError, as_columns, as_table, column_names, is_table
from .fitting import Drawn, fit_model
from .opening import LARGE
from .passes import Passes
from .pieces import Pieces
from .sampling import Keep

Estimator = TypeVar("Estimator")


def fit_source(estimator: Estimator, X: Any, label: str, weight: Any = None) -> Estimator:
    """Fit to the rows of a source of which one column says what sample a row is of.

    Parameters
    ----------
    estimator : RatioEstimator
    X : frame, path, dataset or batches
    label : str
        The column with the labels, of which the larger is p's.
    weight : str, optional
        The column with the weights of rows.

    Returns
    -------
    estimator
        The one that was given.
    """
    fitted: Any = estimator
    source = _opened(X)
    names = source.names or ()
    for argument, name in (("y", label), ("sample_weight", weight)):
        if name is not None and (not isinstance(name, str) or name not in names):
            raise TableError(
                f"{argument} must be a column of X where y is one; received "
                f"{name if isinstance(name, str) else type(name).__name__!r}."
            )
    columns = tuple(name for name in names if name not in (label, weight))
    if not columns:
        raise TableError(f"X must have a column besides {label!r}; received none.")
    engine = engine_of(None)
    counted = [
        found for found in engine.map(Labels(label), source.only([label]).parts, (label,)) if found
    ]
    labels = sorted({value for one in counted for value in one})
    # What is wrong with labels is said as of arrays.
    _, classes = as_labels(np.array(labels), len(labels))
    p, q = (
        _class_of(source, counted, Chosen(label, value, columns, weight))
        for value in (classes[1], classes[0])
    )
    pieces = tuple(Pieces(one.label, one.n_columns, missing=fitted.takes_missing) for one in (p, q))
    passes = Passes(engine, (p, q), _silent)
    whole = max(p.rows, q.rows) <= LARGE
    looks = [
        Keep(own, np.arange(one.rows)) if whole else Keep.of(own, one.rows)
        for own, one in zip(pieces, (p, q), strict=True)
    ]
    first, second = passes("first look", looks)
    samples = TwoSamples(first.sample, second.sample, columns)
    check_varies(samples.positive())
    fitted.fit_samples(samples)
    fitted.classes_ = classes
    if whole:
        return estimator
    drawn = Drawn(
        samples,
        (first.numbers, second.numbers),
        (pieces[0], pieces[1]),
        Seeds(fitted.random_state),
    )
    seen = f"{len(first.sample):,} and {len(second.sample):,} of {p.rows:,} and {q.rows:,} rows"
    found = None
    if isinstance(fitted, MDRE) and isinstance(fitted.model_, ClassModel):
        found = fit_model(fitted, drawn, passes)
    if found is None:
        tell(f"The fit is one to {seen}, which were drawn by hashes.", UserWarning, stacklevel=4)
    else:
        fitted.model_ = found[0]
    return estimator


def _opened(X: Any) -> Source:
    source = as_source(X, "X")
    if source is None:
        table = as_table(X)
        if is_table(table):
            names = column_names(table, "X")
            source = as_source([arrow_table(table, "X", names)], "X")
    if source is None or source.names is None:
        raise TableError(
            "X must have named columns where y is the name of one; received "
            f"{type(X).__name__} without names."
        )
    return source


def _class_of(source: Source, counted: list[dict[Any, int]], chosen: Chosen) -> Source:
    """The rows of one label as a source of arrays, with the weights of rows where they have any."""
    parts, first = [], 0
    for part, found in zip(source.parts, counted, strict=True):
        rows = found.get(chosen.value, 0)
        if rows:
            parts.append(Part(first, rows, part.payload, OfClass(part.read, chosen)))
            first += rows
    return Source(tuple(parts), None, len(chosen.columns), "X")


@dataclass(frozen=True)
class Labels:
    """Counts the rows of every label in a part."""

    label: str

    def __call__(self, batches: Iterator[Batch], first: int) -> dict[Any, int]:
        """Labels and the numbers of their rows."""
        found: dict[Any, int] = {}
        for batch in batches:
            values = _labels(batch, self.label)
            for value, rows in zip(*np.unique(values, return_counts=True), strict=True):
                found[value.item()] = found.get(value.item(), 0) + int(rows)
        return found


def _labels(batch: Batch, label: str) -> np.ndarray:
    column = as_columns(batch, "X", [label], text=True)[label]
    if column.missing.any():
        raise TableError(f"y must have no missing values; column {label!r} of X has some.")
    if column.kind == "category":
        return np.asarray(column.levels, dtype=str)[column.codes]
    return column.numbers


@dataclass(frozen=True)
class Chosen:
    """Which rows of a table, and which columns.

    Attributes
    ----------
    label : str
        The column that says what sample a row is of.
    value : object
        What is there in the rows that are wanted.
    columns : tuple of str
    weight : str or None
        The column with the weights of rows.
    """

    label: str
    value: Any
    columns: tuple[str, ...]
    weight: str | None

    def __call__(self, batch: Batch) -> Batch:
        """The rows as an array, or a tuple of it and of their weights."""
        at = _labels(batch, self.label) == self.value
        wanted = self.columns if self.weight is None else (*self.columns, self.weight)
        found = as_columns(batch, "X", wanted)
        for name, column in found.items():
            if column.kind == "category":
                raise TableError(
                    f"Column {name!r} of X must hold numbers; received text. isthmus.compare takes "
                    "tables of any columns."
                )
        rows = np.column_stack([found[name].numbers[at] for name in self.columns])
        if self.weight is None:
            return rows
        own = as_weight(found[self.weight].numbers, len(at), f"Column {self.weight!r} of X")
        return rows, own[at]


@dataclass(frozen=True)
class OfClass:
    """Reads the rows of one class of a part of tables."""

    read: Read
    chosen: Chosen

    def __call__(self, payload: Any, names: tuple[str, ...] | None) -> Iterator[Batch]:
        """Arrays."""
        own = self.chosen
        wanted = (*own.columns, own.label, *([] if own.weight is None else [own.weight]))
        for batch in self.read(payload, wanted):
            found = own(batch)
            if len(found[0] if isinstance(found, tuple) else found):
                yield found


def _silent(what: str, share: float | None = None) -> None:
    """Say nothing."""
