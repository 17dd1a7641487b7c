"""The first pass over tables: columns of numbers are looked at in less time than one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sample import row_hash
from ..data.source import Batch
from ..tables.columns import Column, as_columns
from ..tables.drawn import Drawn
from ..tables.looking import Looking, TableSummary
from ..tables.summary import Summary
from ..tables.tallies import MOST_VALUES
from .pieces import keep_memory, numbers_of

_NUMBERS = 5_000_000
"""Numbers of a table that are looked at together."""


@dataclass(frozen=True)
class QuickLook:
    """What :class:`~isthmus.tables.looking.Looking` finds, sooner where columns are plain numbers.

    Those are columns of fractions without a missing value, of which most differ: only their ends
    are looked for. Some batches are taken as one, so that what is looked at in every batch
    anew, such as its first rows, is looked at less often.

    Attributes
    ----------
    look : Looking
    """

    look: Looking

    def __call__(self, batches: Iterator[Batch], first: int) -> TableSummary:
        """The summary of the rows of a part, the first of which has this number."""
        look = self.look
        if look.weight is not None or look.complete:
            return look(map(_as_one, _some(batches)), first)
        keep_memory()
        found: TableSummary | None = None
        for held in _some(batches):
            one = self._of(held, first)
            first += one.rows
            found = one if found is None else found + one
        # Of no rows it is said what is wrong.
        return look((), first) if found is None else found

    def _of(self, held: list[Any], first: int) -> TableSummary:
        look, n = self.look, sum(len(batch) for batch in held)
        hashes = row_hash(0, n, first)
        at = np.flatnonzero(hashes < np.uint64(look.limit)) if look.limit < 2**64 else np.arange(n)
        summaries: dict[str, Summary] = {}
        drawn: dict[str, Column] = {}
        for name in look.names:
            pieces = [numbers_of(batch.column(name)) for batch in held]
            quick = _fractions(name, [one for one in pieces if one is not None])
            if quick is not None and quick.rows == n:
                numbers = np.concatenate([one for one in pieces if one is not None])[at]
                summaries[name], drawn[name] = quick, Column(name, "number", numbers + 0.0)
        others = [name for name in look.names if name not in summaries]
        if others:
            table = _as_one([batch.select(others) for batch in held])
            columns = as_columns(table, look.label, others, tolerant=True, text=True)
            for name, column in columns.items():
                summaries[name] = Summary.of(column, np.ones(n), hashes, look.dates)
                drawn[name] = column.take(at).seen()
        return TableSummary(
            n,
            0,
            {name: summaries[name] for name in look.names},
            Drawn.of(
                {name: drawn[name] for name in look.names},
                np.ones(len(at)),
                hashes[at],
                at + first,
                look.most,
            ),
        )


def _fractions(name: str, pieces: list[np.ndarray]) -> Summary | None:
    """The summary of a column; None where it takes a closer look."""
    if not pieces or not all(len(one) and one.dtype.kind == "f" for one in pieces):
        return None
    head = pieces[0][: 2 * MOST_VALUES]
    if (head[:64] == np.floor(head[:64])).all() or len(np.unique(head)) <= MOST_VALUES:
        return None
    n = sum(map(len, pieces))
    return Summary(
        name,
        "number",
        n,
        there=(float(n), float(n)),
        low=float(min(one.min() for one in pieces)),
        high=float(max(one.max() for one in pieces)),
        first=float(pieces[0][0]),
        last=float(pieces[-1][-1]),
        whole=False,
    )


def _some(batches: Iterator[Batch]) -> Iterator[list[Any]]:
    """Batches, some at a time."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) * batch.num_columns >= _NUMBERS:
            yield held
            held = []
    if held:
        yield held


def _as_one(held: list[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(held).combine_chunks()
