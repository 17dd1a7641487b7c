"""Two tables of named columns to two matrices of numbers, and new rows likewise."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from ..data.validation import as_weight
from ..typing import Array, BoolArray
from ..words import count, listed
from .columns import Column, TableError, as_columns, column_names, is_table
from .deciding import LeftOut, Rules, decide, level_rows
from .door import Door
from .encoding import Plan, distinct
from .margins import Margin, margin
from .onesided import OneSided, found_one_sided
from .parts import coerced, date_parts, part_of
from .reading import read_table

__all__ = ["LeftOut", "Margin", "OneSided", "Plan", "TableEncoder", "TableError", "is_table",
           "read_table"]  # fmt: skip

Columns: TypeAlias = dict[str, Column]

MOST_FEATURES = 120
"""0/1 features that categories may have together, which bounds the cost."""

_MOST_LEVELS, _LEAST_LEVELS = 40, 8
_ROWS_PER_LEVEL = 20


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
    one_sided_ : tuple of OneSided
        Levels that only one of the tables has.
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
        names, left = self._choose(column_names(p, first), column_names(q, second))
        ps = as_columns(p, first, names, tolerant=True)
        qs = as_columns(q, second, names, tolerant=True)
        _check_rows(ps, qs, self.labels)
        weights = [
            as_weight(weight, len(next(iter(columns.values()))), argument)
            for weight, columns, argument in (
                (weight_p, ps, "weight_p"),
                (weight_q, qs, "weight_q"),
            )
        ]
        self.margins_ = tuple(
            margin(ps[name], qs[name], *weights)
            for name in names
            if _comparable(ps[name], qs[name])
        )
        left.update(self._unusable(ps, qs))
        plans, further = self._decided(ps, qs, [name for name in names if name not in left])
        left.update(further)
        self.left_out_ = tuple(left[name] for name in sorted(left))
        self._refuse(ps, qs, plans)
        self.kept_p_, self.kept_q_ = (
            self._kept(columns, plans, label) for columns, label in ((ps, first), (qs, second))
        )
        if not (self.kept_p_.all() and self.kept_q_.all()):
            ps = {name: column.take(self.kept_p_) for name, column in ps.items()}
            qs = {name: column.take(self.kept_q_) for name, column in qs.items()}
            sources = list(dict.fromkeys(plan.source for plan in plans))
            plans, further = self._decided(ps, qs, sources)
            self.left_out_ = tuple(sorted((*self.left_out_, *further.values()), key=_name))
        weights = [weights[0][self.kept_p_], weights[1][self.kept_q_]]
        self.plans = _without_repeats(plans, ps, qs)
        self.feature_names_ = distinct(name for plan in self.plans for name in plan.features)
        self.one_sided_ = tuple(
            one
            for plan in self.plans
            for one in _one_sided(plan, _made(plan, ps), _made(plan, qs), weights)
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
        faults = _infinite(columns, labels[1], Door())
        read: Columns = {}
        for plan in self.plans:
            column = coerced(columns[plan.source], plan.source_kind)
            if column is None:
                faults.append(
                    f"Column {plan.source!r} must hold the same kind of values as in {labels[0]}; "
                    f"received {_KINDS[columns[plan.source].kind]} in {labels[1]}."
                )
                continue
            read[plan.source] = column
            if self.missing != "indicator" and column.missing.any():
                faults.append(
                    f"Column {plan.source!r} of {labels[1]} must have a value in every row; "
                    f"received {count(int(column.missing.sum()), 'missing value')}. Leave those "
                    "rows out, or fit with missing='indicator'."
                )
        _raise(faults)
        self._warn(read, labels[0])
        return self._encode(read)

    @contextmanager
    def expected(self) -> Iterator[None]:
        """Keep quiet about what the encoding itself brings about.

        The 0/1 features of a category add up to one, which is a linear dependence
        that nobody needs to be told of.
        """
        with warnings.catch_warnings():
            if any(plan.kind == "category" for plan in self.plans):
                warnings.filterwarnings("ignore", message="The columns are linearly dependent")
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
        if self.one_sided_:
            told = listed([one.in_words(self.labels) for one in self.one_sided_], 3)
            out.append(
                f"non-overlapping category levels: {told}. There p/q is zero or infinite, and "
                "so is a KL divergence."
            )
        return out

    def _choose(self, p: list[str], q: list[str]) -> tuple[list[str], dict[str, LeftOut]]:
        """Columns that both tables have, in alphabetical order, and those that are left out."""
        door, (first, second) = self.door, self.labels
        faults, left = [], {}
        dropped = {*self.drop}
        for argument, names in (("drop", self.drop), ("keep", self.keep)):
            absent = sorted({*names} - {*p, *q})
            if absent:
                faults.append(
                    f"{door.argument(argument)} must name columns of a table; received {absent!r}."
                )
        if self.columns is not None:
            wanted = {*self.columns} - dropped
            for present, label in ((p, first), (q, second)):
                absent = sorted(wanted - {*present})
                if absent:
                    faults.append(
                        f"{door.argument('columns')} must name columns of both tables; received "
                        f"{absent!r}, which {label} does not have. It has "
                        f"{listed([repr(name) for name in present])}."
                    )
        else:
            wanted = {*p, *q} - dropped
            for name in sorted(wanted):
                if name not in p or name not in q:
                    label = first if name in p else second
                    left[name] = LeftOut(name, "one table", f"only {label} has it")
                elif name == "" and name not in self.keep:
                    reason = "it has no name, and is perhaps a saved row index"
                    left[name] = LeftOut(name, "no name", reason)
            for name in dropped:
                left[name] = LeftOut(name, "asked", f"{door.argument('drop')} names it")
        _raise(faults)
        names = sorted(wanted - {*left})
        if not names:
            told = "; ".join(f"{one.name!r}: {one.reason}" for one in left.values())
            raise TableError(
                f"{first} and {second} must have a column in common that is not left out; received "
                f"{told or 'no column'}."
            )
        return names, left

    def _unusable(self, p: Columns, q: Columns) -> dict[str, LeftOut]:
        """Columns that hold neither numbers nor levels, refused if they were asked for."""
        left, faults = {}, []
        for name in p:
            whys = [column.why for column in (p[name], q[name]) if column.kind == "other"]
            if whys and self._wanted(name):
                faults.append(f"{whys[0]} Or leave it out: {self.door.names('drop', [name])}.")
            elif whys:
                left[name] = LeftOut(name, "unusable", whys[0].rstrip("."))
        _raise(faults)
        return left

    def _wanted(self, name: str) -> bool:
        return name in self.keep or self.columns is not None

    def _decided(
        self, p: Columns, q: Columns, names: list[str]
    ) -> tuple[list[Plan], dict[str, LeftOut]]:
        """Plans for the columns, and what is left out; all are back if nothing else remains."""
        plans, left = self._plans(p, q, names, all_kept=False)
        if not plans:
            back = [one.name for one in left.values() if one.because == "separates"]
            back = back or [one.name for one in left.values() if one.because == "constant"]
            names = [name for name in names if name in back]
            plans = self._plans(p, q, names, all_kept=True)[0]
            left = {name: one for name, one in left.items() if name not in names}
        if not plans:
            told = "; ".join(f"{one.name!r}: {one.reason}" for one in left.values())
            raise TableError(
                "There must be a column to compare; received none that can be used. "
                f"{told}. {self.door.names('keep', list(left)[:1])} brings a column back."
            )
        return plans, left

    def _plans(
        self, p: Columns, q: Columns, names: list[str], *, all_kept: bool
    ) -> tuple[list[Plan], dict[str, LeftOut]]:
        plans: list[Plan] = []
        left: dict[str, LeftOut] = {}
        most = self._most_levels(p, q, names)
        for name in names:
            rules = Rules(self.labels, most, all_kept or self._wanted(name))
            parts = self.dates if "date" in (p[name].kind, q[name].kind) else ("days",)
            for part in parts:
                made = decide(part_of(p[name], part), part_of(q[name], part), rules, part)
                if isinstance(made, LeftOut):
                    left[made.name] = made
                else:
                    kind = p[name].kind if part != "days" else made.source_kind
                    plans.append(replace(made, source=name, source_kind=kind))
        return plans, left

    def _most_levels(self, p: Columns, q: Columns, names: list[str]) -> int:
        """Levels of a column that may have a feature, by the rows and by what all would cost."""
        if self.max_levels is not None:
            return self.max_levels
        least = min(len(p[names[0]]), len(q[names[0]])) if names else 0
        most = int(np.clip(least // _ROWS_PER_LEVEL, _LEAST_LEVELS, _MOST_LEVELS))
        sizes = [
            len(p[name].present | q[name].present)
            for name in names
            if p[name].kind == "category" or q[name].kind == "category"
        ]
        while most > _LEAST_LEVELS // 2 and sum(min(k, most) for k in sizes) > MOST_FEATURES:
            most -= 1
        return most

    def _refuse(self, p: Columns, q: Columns, plans: list[Plan]) -> None:
        """All faults of the values at once, each with its remedy."""
        sources = {plan.source for plan in plans}
        faults = []
        for columns, label in ((p, self.labels[0]), (q, self.labels[1])):
            used = {name: column for name, column in columns.items() if name in sources}
            faults += _infinite(used, label, self.door)
        if self.missing == "error":
            for name in sorted(sources):
                numbers = [int(columns[name].missing.sum()) for columns in (p, q)]
                if any(numbers):
                    faults.append(
                        f"Values of column {name!r} must not be missing; received {numbers[0]} in "
                        f"{self.labels[0]}, {numbers[1]} in {self.labels[1]}. Leave those rows out "
                        f"({self.door.word('missing', 'drop')}), mark them "
                        f"({self.door.word('missing', 'indicator')}), or leave the column out "
                        f"({self.door.names('drop', [name])})."
                    )
        _raise(faults)

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
                warnings.warn(
                    f"column {plan.name!r} has {count(number, 'missing value')}, and had none, or "
                    f"too few to count, in {fitted}; replaced by {filled}.",
                    UserWarning,
                    stacklevel=3,
                )
            if plan.kind == "category" and not plan.pooled:
                unknown = [repr(level) for level in sorted(column.present - {*plan.levels})]
                if unknown:
                    warnings.warn(
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


def _name(left: LeftOut) -> str:
    return left.name


def _made(plan: Plan, columns: Columns) -> Column:
    """The column, or part of a date, of which a plan makes features."""
    column = part_of(columns[plan.source], plan.part)
    return coerced(column, plan.kind) or column


def _comparable(p: Column, q: Column) -> bool:
    kinds = {p.kind, q.kind} - {"empty"}
    return len(kinds) <= 1 and "other" not in kinds


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


def _one_sided(plan: Plan, p: Column, q: Column, weights: list[Array]) -> list[OneSided]:
    """Levels, and missing values, that one of the tables lacks."""
    p, q = (column if plan.kind == "category" else _where_missing(column) for column in (p, q))
    names = level_rows(p, q)[0]
    place = {name: k for k, name in enumerate([*names, "missing"])}
    counts, shares = [], []
    for column, weight in zip((p, q), weights, strict=True):
        code = np.array([*(place.get(level, 0) for level in column.levels), len(names)])
        code = code[column.codes]
        counts.append(np.bincount(code[weight > 0], minlength=len(place)))
        shares.append(np.bincount(code, weight, len(place)) / weight.sum())
    return found_one_sided(plan.name, list(place), (counts[0], counts[1]), (shares[0], shares[1]))


def _where_missing(column: Column) -> Column:
    codes = np.where(column.missing, -1, 0)
    return Column(column.name, "category", codes=codes, levels=("a value",))


def _check_rows(p: Columns, q: Columns, labels: tuple[str, str]) -> None:
    faults = [
        f"{label} must have at least one row; received none."
        for columns, label in zip((p, q), labels, strict=True)
        if not len(next(iter(columns.values())))
    ]
    _raise(faults)


def _infinite(columns: Columns, label: str, door: Door) -> list[str]:
    found = []
    for column in columns.values():
        number = int(np.isinf(column.numbers).sum())
        if number:
            found.append(
                f"Column {column.name!r} of {label} must hold finite numbers; received "
                f"{count(number, 'infinite value')}. Make them missing values, or leave the "
                f"column out ({door.names('drop', [column.name])})."
            )
    return found


def _raise(faults: list[str]) -> None:
    """Refuse a table for all that is wrong with it."""
    if len(faults) == 1:
        raise TableError(faults[0])
    if faults:
        told = " ".join(f"({k}) {fault}" for k, fault in enumerate(faults, 1))
        raise TableError(f"{len(faults)} faults. {told}")
