"""The mutual informations of all pairs of columns, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import words
from ..typing import Array, BoolArray, IntArray
from .result import Information
from .telling import aligned, ends, is_trusted, verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Pairs that are printed, and columns that a notebook shows.
_SHOWN, _SHOWN_COLUMNS = 20, 30


@dataclass(frozen=True, repr=False, eq=False)
class InformationMatrix:
    """Mutual information of all pairs of columns, in nats.

    Parameters
    ----------
    names : list of str
        The columns.
    pairs : tuple of Information
        Of the first column and the second, the first and the third, and so on; :meth:`pair` finds
        one by names.
    entropies : ndarray of shape (d,)
        Entropy of each column; infinite for numbers that hardly repeat.
    n_rows : int
    level : float
        Coverage of the intervals.
    notes : tuple of str
        What was made of columns, where it may surprise.
    left_out : mapping of str to str
        Columns that hold neither numbers nor levels, and why.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.normal(size=(2, 500))
    >>> m = isthmus.mi_matrix({"a": a, "b": b, "sum": a + b}, random_state=0)
    >>> m.names, m.values.shape
    (['a', 'b', 'sum'], (3, 3))
    >>> sorted(name for pair in m.top(2) for name in pair[:2])  # the sum shares with both
    ['a', 'b', 'sum', 'sum']
    >>> m.pair("a", "sum").low < 0.3466 < m.pair("a", "sum").high  # truth: log(2) / 2
    True
    """

    names: list[str]
    pairs: tuple[Information, ...]
    entropies: Array
    n_rows: int = 0
    level: float = 0.95
    notes: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def values(self) -> Array:
        """Symmetric, shape (d, d), with the entropies in the diagonal."""
        return self._square(lambda one: one.value, self.entropies)

    @cached_property
    def std_errors(self) -> Array:
        """Standard errors, shape (d, d)."""
        return self._square(lambda one: one.std_error, np.zeros(len(self.names)))

    @cached_property
    def low(self) -> Array:
        """Lower ends of the intervals, shape (d, d)."""
        return self._square(lambda one: one.low, self.entropies)

    @cached_property
    def high(self) -> Array:
        """Upper ends of the intervals, shape (d, d).

        Infinite, or the largest possible value, where an end is not known.
        """
        return self._square(lambda one: one.high, self.entropies)

    @cached_property
    def trusted(self) -> BoolArray:
        """Whether nothing speaks against a number, shape (d, d)."""
        return self._square(is_trusted, np.ones(len(self.names))).astype(bool)

    def pair(self, x: str, y: str) -> Information:
        """Mutual information of two columns, with its interval, its checks and its notes.

        Parameters
        ----------
        x, y : str
            Names of two columns, in either order.
        """
        for name in (x, y):
            if name not in self.names:
                raise ValueError(
                    f"x and y must be columns of the matrix; received {name!r}. It has "
                    f"{words.listed([repr(one) for one in self.names], 12)}."
                )
        i, j = sorted((self.names.index(x), self.names.index(y)))
        if i == j:
            raise ValueError(f"x and y must be two columns; received {x!r} twice.")
        return self.pairs[int(np.flatnonzero((self._first == i) & (self._second == j))[0])]

    def top(self, most: int = 10) -> list[tuple[str, str, float]]:
        """Pairs of names with the largest values, the largest first."""
        return [
            (self.names[self._first[k]], self.names[self._second[k]], self.pairs[k].value)
            for k in self._order[:most]
        ]

    @property
    def answer(self) -> str:
        """The answer in a sentence or two."""
        x, y, _ = self.top(1)[0]
        best = self.pair(x, y)
        told = f"{words.count(len(self.pairs), 'pair')} of {len(self.names)} columns"
        told += f" in {words.count(self.n_rows, 'row')}: "
        sure = sum(one.low > 0 for one in self.pairs)
        if sure:
            told += f"{x!r} and {y!r} share most, {best.value:.3g} nats ({ends(best)}); "
            told += f"{words.count(sure, 'pair')} surely share{'s' * (sure == 1)} something."
        else:
            told += "no pair surely shares anything."
        doubted = [one for one in self.pairs if not is_trusted(one)]
        if doubted:
            count = len(doubted)
            told += f" {words.count(count, 'pair')} {'is' if count == 1 else 'are'} not trusted: "
            open_ends = all(one.one_sided for one in doubted)
            told += "only the lower end is known." if open_ends else "read the interval."
        return told

    def to_frame(self) -> Any:
        """One row for every pair, as a pandas frame, the largest first."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_frame needs pandas, which is not installed; to_dict needs nothing."
            ) from None
        return pd.DataFrame(self._records())

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that strict JSON can hold; what is infinite is None."""
        records = self._records()
        for one in records:
            one["high"] = one["high"] if np.isfinite(one["high"]) else None
            one["std_error"] = one["std_error"] if np.isfinite(one["std_error"]) else None
        entropy = (float(one) if np.isfinite(one) else None for one in self.entropies)
        return {
            "answer": self.answer,
            "names": list(self.names),
            "rows": self.n_rows,
            "level": self.level,
            "entropies": list(entropy),
            "pairs": records,
            "notes": list(self.notes),
            "left_out": dict(self.left_out),
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the matrix as a heat map in which pairs that are not trusted are crossed.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        """
        from ..plots import information_map

        return information_map(self.names, self.values, trusted=self.trusted, ax=ax)

    def __str__(self) -> str:
        rows = [("column", "column", "nats", f"{100 * self.level:g} % interval", "")]
        for k in self._order[:_SHOWN]:
            one = self.pairs[k]
            x, y = (words.printable(self.names[at[k]], 24) for at in (self._first, self._second))
            rows.append((x, y, f"{one.value:.3f}", ends(one), verdict(one)))
        more = [f"and {len(self.pairs) - _SHOWN} more"] * (len(self.pairs) > _SHOWN)
        return "\n".join([words.printable(self.answer), "", *aligned(rows, [2, 3]), *more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self.names[:_SHOWN_COLUMNS]
        head = "".join(f"<th>{_cell(name)}</th>" for name in shown)
        most = max((one.value for one in self.pairs), default=0.0) or 1.0
        rows = []
        for i, name in enumerate(shown):
            cells = [f"<th style='text-align:left'>{_cell(name)}</th>"]
            for j in range(len(shown)):
                value, sure = self.values[i, j], self.trusted[i, j]
                if i == j:
                    cells.append("<td></td>")
                    continue
                colour = f"background:rgba(0,114,178,{0.6 * min(value / most, 1.0):.2f})"
                told = escape(str(self.pair(name, shown[j])), quote=True)
                mark = "" if sure else " ?"
                cells.append(f'<td style="{colour}" title="{told}">{value:.2f}{mark}</td>')
            rows.append(f"<tr>{''.join(cells)}</tr>")
        told = escape(words.printable(self.answer))
        key = "" if self.trusted.all() else "<p>?: not trusted; read the interval.</p>"
        return f"<p>{told}</p><table><tr><th></th>{head}</tr>{''.join(rows)}</table>{key}"

    @cached_property
    def _first(self) -> IntArray:
        return np.triu_indices(len(self.names), 1)[0]

    @cached_property
    def _second(self) -> IntArray:
        return np.triu_indices(len(self.names), 1)[1]

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort([-one.value for one in self.pairs], kind="stable")

    def _square(self, get: Callable[[Information], float], diagonal: Array) -> Array:
        out = np.diag(np.asarray(diagonal, dtype=np.float64))
        out[self._first, self._second] = found = [get(one) for one in self.pairs]
        out[self._second, self._first] = found
        return out

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "x": self.names[self._first[k]],
                "y": self.names[self._second[k]],
                "value": self.pairs[k].value,
                "low": self.pairs[k].low,
                "high": self.pairs[k].high,
                "std_error": self.pairs[k].std_error,
                "trusted": is_trusted(self.pairs[k]),
                "reason": self.pairs[k].reason,
                "method": self.pairs[k].method,
            }
            for k in self._order
        ]


def _cell(name: str) -> str:
    return escape(words.printable(name, 24))
