"""Two tables of named columns to two matrices of numbers, and new rows likewise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ..data.telling import quiet, tell
from ..data.validation import as_weight
from ..typing import Array, BoolArray
from ..words import count, listed
from . import faults
from .choosing import Asked, choose, common_columns
from .columns import Column, TableError, as_columns, column_names, is_table
from .deciding import LeftOut
from .door import Door
from .encoding import Plan, distinct
from .margins import Margin, margin
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
        ps = as_columns(p, first, names, tolerant=True)
        qs = as_columns(q, second, names, tolerant=True)
        faults.refuse([*faults.without_rows(ps, first), *faults.without_rows(qs, second)])
        weights = [
            as_weight(weight, len(next(iter(columns.values()))), argument)
            for weight, columns, argument in (
                (weight_p, ps, f"weight_{first}"),
                (weight_q, qs, f"weight_{second}"),
            )
        ]
        choice = choose(ps, qs, names, self._asked)
        plans = choice.plans
        left.update(choice.left)
        self._refuse(ps, qs, plans)
        self.margins_ = tuple(
            margin(ps[name], qs[name], *weights)
            for name in names
            if _comparable(ps[name], qs[name])
        )
        self.kept_p_, self.kept_q_ = (
            self._kept(columns, plans, label) for columns, label in ((ps, first), (qs, second))
        )
        if not (self.kept_p_.all() and self.kept_q_.all()):
            ps = {name: column.take(self.kept_p_) for name, column in ps.items()}
            qs = {name: column.take(self.kept_q_) for name, column in qs.items()}
            sources = list(dict.fromkeys(plan.source for plan in plans))
            choice = choose(ps, qs, sources, self._asked)
            plans = choice.plans
            left.update(choice.left)
        self.left_out_ = tuple(left[name] for name in sorted(left))
        weights = [weights[0][self.kept_p_], weights[1][self.kept_q_]]
        self.plans = _without_repeats(plans, ps, qs)
        self.feature_names_ = distinct(name for plan in self.plans for name in plan.features)
        self.one_sided_ = OneSidedRows.of(
            ((_levels(plan, ps), _levels(plan, qs)) for plan in self.plans), weights
        )
        return self._encode(ps), self._encode(qs)

    @property
    def dropped_rows(self) -> tuple[int, int]:
        """Number of rows of each table that were left out for missing values."""
        return int((~self.kept_p_).sum()), int((~self.kept_q_).sum())

    def transform(self, table: Any) -> Array:
        """Make numbers of new rows with the remembered columns, levels and medians.

        Further columns are not looked at. Every row comes out, so that a missing value is
        refused with ``missing="drop"``, too. A level that was in neither table counts among
        the rarer levels, or, where there are none, becomes all zeros, with a `UserWarning`.
        """
        if not self.plans:
            raise TableError("The encoder must be fitted before transform; call fit(p, q) first.")
        labels = ("the fitted tables", "the new table")
        names = list(dict.fromkeys(plan.source for plan in self.plans))
        absent = sorted({*names} - {*column_names(table, labels[1])})
        if absent:
            raise TableError(
                f"{labels[1]} must have the columns that were compared; received one without "
                f"{absent!r}."
            )
        columns = as_columns(table, labels[1], names)
        found = faults.infinite(columns.values(), labels[1], Door())
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

    def _refuse(self, p: Columns, q: Columns, plans: list[Plan]) -> None:
        """All faults of the values at once, each with its remedy."""
        sources = sorted({plan.source for plan in plans})
        found = []
        for columns, label in ((p, self.labels[0]), (q, self.labels[1])):
            found += faults.infinite([columns[name] for name in sources], label, self.door)
        if self.missing == "error":
            for name in sources:
                found += faults.missing(p[name], q[name], self.labels, self.door)
        faults.refuse(found)

    def _kept(self, columns: Columns, plans: list[Plan], label: str) -> BoolArray:
        rows = len(next(iter(columns.values())))
        if self.missing != "drop":
            return np.ones(rows, dtype=bool)
        missing = np.any([columns[plan.source].missing for plan in plans], axis=0)
        if missing.all():
            most = max(plans, key=lambda plan: columns[plan.source].missing.sum()).source
            raise TableError(
                f"{self.door.word('missing', 'drop')} must leave rows to use; received {label} "
                f"with a missing value in each of its {count(rows, 'row')}, most of them in "
                f"{most!r}: {self.door.names('drop', [most])}."
            )
        return np.asarray(~missing)

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

    def _encode(self, columns: Columns) -> Array:
        return np.hstack([plan.encode(_made(plan, columns)) for plan in self.plans])


_KINDS = {
    "number": "numbers",
    "category": "text or categories",
    "date": "dates",
    "duration": "durations",
    "empty": "no values",
    "other": "others",
}


def _made(plan: Plan, columns: Columns) -> Column:
    """The column, or part of a date, of which a plan makes features."""
    column = part_of(columns[plan.source], plan.part)
    return coerced(column, plan.kind) or column


def _comparable(p: Column, q: Column) -> bool:
    kinds = {p.kind, q.kind} - {"empty"}
    infinite = any(np.isinf(column.numbers).any() for column in (p, q))
    return len(kinds) <= 1 and "other" not in kinds and not infinite


def _without_repeats(plans: list[Plan], p: Columns, q: Columns) -> list[Plan]:
    """One 0/1 feature where numbers of several columns are missing in the same rows."""
    seen: dict[bytes, str] = {}
    out = []
    for plan in plans:
        if plan.indicator and plan.kind == "number":
            gone = np.concatenate([columns[plan.source].missing for columns in (p, q)]).tobytes()
            first = seen.setdefault(gone, plan.name)
            if first != plan.name:
                plan = replace(plan, indicator=False, told_by=first)
        out.append(plan)
    return out


def _levels(plan: Plan, columns: Columns) -> Column:
    """The levels of a column; of numbers, whether there is a value."""
    column = _made(plan, columns)
    if plan.kind == "category":
        return column
    codes = np.where(column.missing, -1, 0)
    return Column(column.name, "category", codes=codes, levels=("a value",))
