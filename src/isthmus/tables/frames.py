"""Two tables of named columns to two matrices of numbers, and new rows likewise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeAlias

import numpy as np

from ..data.telling import quiet, tell
from ..typing import Array, BoolArray
from ..words import count, listed
from .columns import Column, TableError, as_columns, column_names, is_table
from .encoding import Plan, check_kinds, distinct, make_plan, one_sided
from .reading import read_table

__all__ = ["TableEncoder", "TableError", "is_table", "read_table"]

Columns: TypeAlias = dict[str, Column]


class TableEncoder:
    """Make numbers of two tables in one and the same way.

    Columns are matched by name and come out in alphabetical order, so that the
    order of columns in either table makes no difference.

    - Numbers stay as they are; booleans become 0 and 1.
    - Text and categories become one 0/1 feature for every level that occurs in
      either table, none left out. Levels that occur in one table only give a
      `UserWarning`: the ratio is zero or infinite there.
    - Dates and times are refused: by themselves they often tell two samples
      apart. Leave them out, or make of them the number that matters.
    - A missing value is a null, or NaN among numbers. Infinity is refused.

    Parameters
    ----------
    columns, drop, missing
        As in :func:`isthmus.compare`. With ``"indicator"`` a missing category becomes all
        zeros, and columns with a missing value in either table have a 0/1 feature.
    max_levels : int, default=50
        Most levels that a column of text may have; more is an error, since it
        is probably an identifier.
    labels : tuple of two str, default=("p", "q")
        What messages call the two tables.

    Attributes
    ----------
    plans : list of Plan
        What becomes of every column.
    feature_names_ : list of str
        Names of the columns of the matrices: ``age``, ``town=Bonn``, ``age is missing``.
    kept_p_, kept_q_ : ndarray of bool
        Rows of the two tables that were used; False only with ``missing="drop"``.

    Examples
    --------
    >>> p = {"age": [31, 42, 37], "town": ["Bonn", "Kiel", "Bonn"]}
    >>> q = {"town": ["Kiel", "Bonn"], "age": [50, 61]}
    >>> encoder = TableEncoder()
    >>> P, Q = encoder.fit_transform(p, q)
    >>> encoder.feature_names_
    ['age', 'town=Bonn', 'town=Kiel']
    >>> Q
    array([[50.,  0.,  1.],
           [61.,  1.,  0.]])
    >>> encoder.summary()["town"]
    'text or categories: a 0/1 feature for 2 levels'
    """

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        *,
        missing: str = "error",
        max_levels: int = 50,
        labels: tuple[str, str] = ("p", "q"),
    ) -> None:
        if missing not in ("error", "drop", "indicator"):
            raise ValueError(
                f"missing must be 'error', 'drop' or 'indicator'; received {missing!r}."
            )
        self.columns = columns
        self.drop = drop
        self.missing = missing
        self.max_levels = max_levels
        self.labels = labels
        self.plans: list[Plan] = []

    def fit(self, p: Any, q: Any) -> TableEncoder:
        """Learn columns, levels and medians from the two tables."""
        self.fit_transform(p, q)
        return self

    def fit_transform(self, p: Any, q: Any) -> tuple[Array, Array]:
        """Learn from the two tables and return their matrices, rows dropped if so asked."""
        first, second = self.labels
        present = column_names(p, first), column_names(q, second)
        absent = sorted(set(self.drop) - {*present[0], *present[1]})
        if absent:
            raise TableError(f"drop must name columns of a table; received {absent!r}.")
        names = self._choose(*present, self.labels)
        ps = _checked(as_columns(p, first, names), first)
        qs = _checked(as_columns(q, second, names), second)
        if self.missing == "error":
            _refuse_missing(ps, qs, self.labels)
        self.kept_p_, self.kept_q_ = self._kept(ps, first), self._kept(qs, second)
        ps = {name: column.take(self.kept_p_) for name, column in ps.items()}
        qs = {name: column.take(self.kept_q_) for name, column in qs.items()}
        self.plans = [
            make_plan(ps[name], qs[name], labels=self.labels, max_levels=self.max_levels)
            for name in names
        ]
        self.feature_names_ = distinct(name for plan in self.plans for name in plan.features)
        self._warn(ps, qs)
        return self._encode(ps), self._encode(qs)

    @property
    def dropped_rows(self) -> tuple[int, int]:
        """Number of rows of each table that were left out for missing values."""
        return int((~self.kept_p_).sum()), int((~self.kept_q_).sum())

    def transform(self, table: Any) -> Array:
        """Make numbers of new rows with the remembered columns, levels and medians.

        Every row comes out, so that a missing value is refused with
        ``missing="drop"``, too. A level that was in neither table becomes all
        zeros, with a `UserWarning`.
        """
        if not self.plans:
            raise TableError("The encoder must be fitted before transform; call fit(p, q) first.")
        labels = ("the fitted tables", "the new table")
        names = [plan.name for plan in self.plans]
        self._choose(names, column_names(table, labels[1]), labels)
        columns = _checked(as_columns(table, labels[1], names), labels[1])
        for plan in self.plans:
            self._check_new(plan, columns[plan.name], labels)
        return self._encode(columns)

    @contextmanager
    def expected(self) -> Iterator[None]:
        """Keep quiet about what the encoding itself brings about.

        The 0/1 features of a category add up to one, which is a linear dependence
        that nobody needs to be told of.
        """
        levels = any(plan.kind == "category" for plan in self.plans)
        with quiet("The columns are linearly dependent") if levels else nullcontext():
            yield

    def summary(self) -> dict[str, str]:
        """Say for every column that is used what was made of it."""
        return {plan.name: plan.in_words() for plan in self.plans}

    def _choose(self, p: Sequence[str], q: Sequence[str], labels: tuple[str, str]) -> list[str]:
        """Columns to use, in alphabetical order."""
        dropped = set(self.drop)
        if self.columns is not None:
            chosen = set(self.columns) - dropped
            for present, label in ((p, labels[0]), (q, labels[1])):
                absent = sorted(chosen - set(present))
                if absent:
                    raise TableError(
                        f"columns must name columns of both tables; received {absent!r}, which "
                        f"{label} does not have. It has {listed([repr(n) for n in present])}."
                    )
        else:
            chosen = set(p) - dropped
            others = set(q) - dropped
            told = [
                f"{sorted(only)!r} only in {label}"
                for only, label in ((chosen - others, labels[0]), (others - chosen, labels[1]))
                if only
            ]
            if told:
                raise TableError(
                    f"{labels[0]} and {labels[1]} must have the same columns; received "
                    f"{' and '.join(told)}. Drop them, or choose the columns to use."
                )
        if not chosen:
            raise TableError("There must be a column to use; received none, or all are dropped.")
        if "" in chosen:
            raise TableError(
                "Every column must have a name; received one without, perhaps a saved row index. "
                'Name it, or leave it out (drop=[""]).'
            )
        return sorted(chosen)

    def _kept(self, columns: Columns, label: str) -> BoolArray:
        missing = np.any([column.missing for column in columns.values()], axis=0)
        if self.missing == "drop" and missing.all():
            raise TableError(
                f"missing='drop' must leave rows to use; received {label} with a missing value in "
                f"each of its {count(missing.size, 'row')}."
            )
        return ~missing if self.missing == "drop" else np.ones_like(missing)

    def _check_new(self, plan: Plan, column: Column, labels: tuple[str, str]) -> None:
        check_kinds(Column(plan.name, plan.kind), column, labels)
        number = int(column.missing.sum())
        if number and self.missing != "indicator":
            raise TableError(
                f"Column {plan.name!r} of {labels[1]} must have a value in every row; received "
                f"{count(number, 'missing value')}. Leave those rows out, or fit with "
                "missing='indicator'."
            )
        if number and not plan.indicator:
            filled = "zeros" if plan.kind == "category" else f"the median {plan.fill:.6g}"
            tell(
                f"column {plan.name!r} has {count(number, 'missing value')}, and had none in "
                f"{labels[0]}; replaced by {filled}.",
                UserWarning,
                stacklevel=3,
            )
        unknown = [repr(level) for level in sorted(column.present - set(plan.levels))]
        if unknown:
            tell(
                f"unknown category levels: column {plan.name!r} has {listed(unknown)}, not in "
                f"{labels[0]}; encoded as all zeros.",
                UserWarning,
                stacklevel=3,
            )

    def _warn(self, p: Columns, q: Columns) -> None:
        found = [one_sided(p[plan.name], q[plan.name], self.labels) for plan in self.plans]
        told = [sentence for sentence in found if sentence]
        if told:
            tell(
                f"non-overlapping category levels: {'; '.join(told)}. There p/q is zero or "
                "infinite, and a divergence may be infinite, too.",
                UserWarning,
                stacklevel=3,
            )

    def _encode(self, columns: Columns) -> Array:
        return np.hstack([plan.encode(columns[plan.name]) for plan in self.plans])


def _checked(columns: Columns, label: str) -> Columns:
    for column in columns.values():
        if len(column) == 0:
            raise TableError(f"{label} must have at least one row; received none.")
        infinite = int(np.isinf(column.numbers).sum())
        if infinite:
            raise TableError(
                f"Column {column.name!r} of {label} must hold finite numbers; received "
                f"{count(infinite, 'infinite value')}."
            )
    return columns


def _refuse_missing(p: Columns, q: Columns, labels: tuple[str, str]) -> None:
    told = []
    for name in p:
        numbers = [int(columns[name].missing.sum()) for columns in (p, q)]
        if any(numbers):
            told.append(
                f"column {name!r} with {numbers[0]} in {labels[0]}, {numbers[1]} in {labels[1]}"
            )
    if told:
        raise TableError(
            f"Values must not be missing; received {listed(told)}. Leave those rows out "
            "(missing='drop'), mark them (missing='indicator': the median and a 0/1 feature), or "
            "leave the column out (drop)."
        )
