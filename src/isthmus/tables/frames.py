"""Two tables of named columns to two matrices of numbers, and new rows likewise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeAlias

import numpy as np

from ..data.engine import Engine
from ..data.source import Source
from ..data.telling import quiet, tell
from ..data.validation import as_weight
from ..typing import Array, BoolArray, IntArray
from ..words import count, listed
from . import faults
from .choosing import Asked, common_columns
from .columns import Column, TableError, as_columns, column_names, is_table
from .deciding import LeftOut
from .door import Door
from .drawn import Drawn
from .encoding import Plan, distinct
from .learning import Learned, Look, learn
from .looking import complete_rows
from .looks import InMemory, InParts
from .margins import Margin
from .onesided import OneSided, OneSidedRows
from .parts import coerced, date_parts, part_of
from .reading import read_table

__all__ = ["LeftOut", "Margin", "OneSided", "OneSidedRows", "Plan", "TableEncoder", "TableError",
           "is_table", "read_table"]  # fmt: skip

Columns: TypeAlias = dict[str, Column]


class TableEncoder:
    """Make numbers of two tables in one and the same way, and say what was made of every column.

    Columns are matched by name and come out in alphabetical order, so that the
    order of columns in either table makes no difference.

    - Numbers stay as they are; booleans become 0 and 1; dates become the number of days since
      1970, durations and times of day a number of seconds or days.
    - Text and categories become one 0/1 feature for every level that occurs in either table. Of
      many levels the most frequent have one of their own, and the others one together.
    - A missing value is a null, or NaN among numbers: a level of its own among levels, the
      median and a 0/1 feature among numbers.
    - Left out, with a reason: columns of one table only, without any value or of one value,
      identifiers, what is neither number, date nor level, and columns that alone tell the
      tables apart by their making, such as the date of two months.

    Parameters
    ----------
    columns, drop, keep, missing, dates
        As in :func:`isthmus.compare`.
    max_levels : int, optional
        Most levels of a column with a feature of their own; by default one for 20 rows of the
        smaller table, at least 8 and at most 40, and fewer if columns of levels are many.
    labels : tuple of two str, default=("p", "q")
        What messages call the two tables.
    door : Door
        What messages call the arguments.

    Attributes
    ----------
    plans : list of Plan
        What becomes of every column that is used.
    left_out_ : tuple of LeftOut
        The other columns, and why.
    one_sided_ : OneSidedRows
        Levels that only one of the tables has, and the rows that have them.
    margins_ : tuple of Margin
        How much each common column differs by itself.
    feature_names_ : list of str
        Names of the columns of the matrices: ``age``, ``town=Bonn``, ``age is missing``.
    kept_p_, kept_q_ : ndarray of bool
        Rows of the two tables that were used; False only with ``missing="drop"``.
    dropped_rows : tuple of int
        Number of rows of each table that were left out for missing values.

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
        keep: Sequence[str] = (),
        missing: str = "indicator",
        dates: str | Sequence[str] = "days",
        max_levels: int | None = None,
        labels: tuple[str, str] = ("p", "q"),
        door: Door | None = None,
    ) -> None:
        self.door = door or Door()
        if missing not in ("error", "drop", "indicator"):
            raise ValueError(
                f"{self.door.argument('missing')} must be 'error', 'drop' or 'indicator'; received "
                f"{missing!r}."
            )
        self.columns = columns
        self.drop = drop
        self.keep = keep
        self.missing = missing
        self.dates = date_parts(dates, self.door.argument("dates"))
        self.max_levels = max_levels
        self.labels = labels
        self.plans: list[Plan] = []

    def fit(self, p: Any, q: Any) -> TableEncoder:
        """Learn columns, levels and medians from the two tables."""
        self.fit_transform(p, q)
        return self

    def fit_transform(
        self, p: Any, q: Any, weight_p: Any = None, weight_q: Any = None
    ) -> tuple[Array, Array]:
        """Learn from the two tables and return their matrices, rows dropped if so asked.

        Weights of rows count in the shares of levels and in the margins.
        """
        first, second = self.labels
        names, left = common_columns(column_names(p, first), column_names(q, second), self._asked)
        tables = (
            as_columns(p, first, names, tolerant=True, text=True),
            as_columns(q, second, names, tolerant=True, text=True),
        )
        sizes = [len(next(iter(columns.values()))) for columns in tables]
        faults.refuse(
            [*faults.without_rows(sizes[0], first), *faults.without_rows(sizes[1], second)]
        )
        weights = (
            as_weight(weight_p, sizes[0], f"weight_{first}"),
            as_weight(weight_q, sizes[1], f"weight_{second}"),
        )
        look = InMemory(tables, weights, self.labels, self.dates)
        learned = self._learn(names, left, look)
        self.kept_p_, self.kept_q_ = (complete_rows(one, learned.complete) for one in tables)
        kept = [
            columns if mask.all() else {k: one.take(mask) for k, one in columns.items()}
            for columns, mask in zip(tables, (self.kept_p_, self.kept_q_), strict=True)
        ]
        self.one_sided_ = OneSidedRows.of(learned.one_sided, *map(self._level_columns, kept))
        return self._encode(kept[0]), self._encode(kept[1])

    def fit_sources(
        self,
        p: Source,
        q: Source,
        engine: Engine,
        weights: tuple[str | None, str | None] = (None, None),
    ) -> Learned:
        """Learn from two sources of tables, in one pass over each, or two where rows are dropped.

        What is decided is the same as for frames with these rows. ``one_sided_`` has the rows of
        the samples that are drawn: those of ``p.drawn`` and ``q.drawn`` of the result. ``weights``
        are the columns that hold the weights of the rows, which are compared in neither.
        """
        first, second = (
            [name for name in one.names or () if name != weight]
            for one, weight in zip((p, q), weights, strict=True)
        )
        names, left = common_columns(first, second, self._asked)
        look = InParts((p, q), engine, weights, self.labels, self.dates)
        learned = self._learn(names, left, look)
        drawn = learned.p.drawn, learned.q.drawn
        self.kept_p_, self.kept_q_ = (np.ones(len(one), dtype=bool) for one in drawn)
        self.one_sided_ = OneSidedRows.of(
            learned.one_sided, *(self._level_columns(one.columns) for one in drawn)
        )
        return learned

    def _learn(self, names: Sequence[str], left: dict[str, LeftOut], look: Look) -> Learned:
        learned = learn(names, self._asked, self.missing, look)
        left.update(learned.left)
        self.plans = learned.plans
        self.left_out_ = tuple(left[name] for name in sorted(left))
        self.margins_ = learned.margins
        self.feature_names_ = distinct(name for plan in self.plans for name in plan.features)
        self.dropped_rows = learned.p.dropped, learned.q.dropped
        return learned

    @property
    def sources(self) -> tuple[str, ...]:
        """Columns of a table that are used, each once."""
        return tuple(dict.fromkeys(plan.source for plan in self.plans))

    def rows_of(self, table: Any, label: str = "the table") -> tuple[Array, BoolArray]:
        """Rows of one of the fitted tables, some at a time, and which of them are used.

        Nothing is checked that was looked at while fitting. With ``missing="drop"``
        rows that lack a value are left out of the first array, and False in the second.
        """
        columns = as_columns(table, label, self.sources, text=True)
        kept = complete_rows(columns, self.sources if self.missing == "drop" else ())
        if not kept.all():
            columns = {name: column.take(kept) for name, column in columns.items()}
        return self._encode(columns), kept

    def sampled(self, drawn: Drawn) -> Array:
        """Rows that were drawn while fitting to sources, as numbers."""
        return self._encode(drawn.columns)

    def bounded(self, at_p: IntArray, at_q: IntArray) -> None:
        """Keep of the rows that were drawn while fitting those at some places."""
        self.kept_p_, self.kept_q_ = self.kept_p_[at_p], self.kept_q_[at_q]
        self.one_sided_ = self.one_sided_.take(at_p, at_q)

    def transform(self, table: Any) -> Array:
        """Make numbers of new rows with the remembered columns, levels and medians.

        Further columns are not looked at. Every row comes out, so that a missing value is
        refused with ``missing="drop"``, too. A level that was in neither table counts among
        the rarer levels, or, where there are none, becomes all zeros, with a `UserWarning`.
        """
        if not self.plans:
            raise TableError("The encoder must be fitted before transform; call fit(p, q) first.")
        labels = ("the fitted tables", "the new table")
        absent = sorted({*self.sources} - {*column_names(table, labels[1])})
        if absent:
            raise TableError(
                f"{labels[1]} must have the columns that were compared; received one without "
                f"{absent!r}."
            )
        columns = as_columns(table, labels[1], self.sources, text=True)
        infinite = {name: column.infinite for name, column in columns.items()}
        found = faults.infinite(infinite, labels[1], Door())
        read: Columns = {}
        for plan in self.plans:
            column = coerced(columns[plan.source], plan.source_kind)
            if column is None:
                found.append(
                    f"Column {plan.source!r} must hold the same kind of values as in {labels[0]}; "
                    f"received {_KINDS[columns[plan.source].kind]} in {labels[1]}."
                )
                continue
            read[plan.source] = column
            if self.missing != "indicator" and column.missing.any():
                found.append(
                    f"Column {plan.source!r} of {labels[1]} must have a value in every row; "
                    f"received {count(int(column.missing.sum()), 'missing value')}. Leave those "
                    "rows out, or fit with missing='indicator'."
                )
        faults.refuse(list(dict.fromkeys(found)))
        self._warn(read, labels[0])
        return self._encode(read)

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
        """Say for every column what was made of it, or why it was left out."""
        told = {plan.name: plan.in_words() for plan in self.plans}
        told.update({left.name: left.in_words() for left in self.left_out_})
        return {name: told[name] for name in sorted(told)}

    def notes(self) -> list[str]:
        """What a user must be told: columns that were left out unasked, and one-sided levels."""
        out = []
        unasked = [left for left in self.left_out_ if left.because != "asked"]
        if unasked:
            told = listed([f"{left.name!r} ({left.reason})" for left in unasked], 4)
            names = [left.name for left in unasked]
            out.append(
                f"left out of the comparison: {told}. {self.door.names('keep', names[:1])} brings "
                "a column back."
            )
        if self.one_sided_.levels:
            told = listed([one.in_words(self.labels) for one in self.one_sided_.levels], 3)
            out.append(
                f"non-overlapping category levels: {told}. There p/q is zero or infinite, and "
                "so is a KL divergence."
            )
        return out

    @property
    def _asked(self) -> Asked:
        return Asked(
            self.columns,
            self.drop,
            self.keep,
            self.dates,
            self.max_levels,
            self.labels,
            self.door,
        )

    def _warn(self, columns: Columns, fitted: str) -> None:
        """Say what new rows have that the fitted tables had not."""
        for plan in self.plans:
            column = part_of(columns[plan.source], plan.part)
            number = int(column.missing.sum())
            if number and not (plan.indicator or plan.told_by):
                filled = "zeros" if plan.kind == "category" else f"the median {plan.fill:.6g}"
                tell(
                    f"column {plan.name!r} has {count(number, 'missing value')}, and had none, or "
                    f"too few to count, in {fitted}; replaced by {filled}.",
                    UserWarning,
                    stacklevel=3,
                )
            if plan.kind == "category" and not plan.pooled:
                unknown = [repr(level) for level in sorted(column.present - {*plan.levels})]
                if unknown:
                    tell(
                        f"unknown category levels: column {plan.name!r} has {listed(unknown)}, not "
                        f"in {fitted}; encoded as all zeros.",
                        UserWarning,
                        stacklevel=3,
                    )

    def _level_columns(self, columns: Mapping[str, Column]) -> dict[str, Column]:
        """Levels of every column that is used; of numbers, whether there is a value."""
        return {plan.name: _levels(plan, columns) for plan in self.plans}

    def _encode(self, columns: Mapping[str, Column]) -> Array:
        rows = len(next(iter(columns.values())))
        out = np.empty((rows, len(self.feature_names_)))
        begin = 0
        for plan in self.plans:
            end = begin + len(plan.features)
            plan.encode(_made(plan, columns), out[:, begin:end])
            begin = end
        return out


_KINDS = {
    "number": "numbers",
    "category": "text or categories",
    "date": "dates",
    "duration": "durations",
    "empty": "no values",
    "other": "others",
}


def _made(plan: Plan, columns: Mapping[str, Column]) -> Column:
    """The column, or part of a date, of which a plan makes features."""
    column = columns[plan.source]
    column = part_of(coerced(column, plan.source_kind) or column, plan.part)
    return coerced(column, plan.kind) or column


def _levels(plan: Plan, columns: Mapping[str, Column]) -> Column:
    """The levels of a column; of numbers, whether there is a value."""
    column = _made(plan, columns)
    if plan.kind == "category":
        return column
    codes = np.where(column.missing, -1, 0)
    return Column(column.name, "category", codes=codes, levels=("a value",))
