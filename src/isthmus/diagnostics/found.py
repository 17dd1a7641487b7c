"""What the checks of a comparison found: a mapping that prints as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from .. import words
from .check import Check

_WIDTH = 100


@dataclass(frozen=True, repr=False, eq=False)
class Diagnostics(Mapping[str, Check]):
    """Checks by name, in the order in which they were made; ``print`` shows a table.

    Parameters
    ----------
    checks : mapping of str to Check

    Examples
    --------
    >>> found = Diagnostics(
    ...     {
    ...         "tails": Check(0.1, "ok", "It settles down."),
    ...         "precision": Check(0.4, "warn", "Read the interval, not the value."),
    ...     }
    ... )
    >>> print(found)
    2 checks: 1 take care, 1 passed
    !  precision  0.4  Read the interval, not the value.
    ✓  tails      0.1  It settles down.
    >>> found["tails"].verdict, len(found)
    ('ok', 2)
    """

    checks: Mapping[str, Check]

    def __post_init__(self) -> None:
        object.__setattr__(self, "checks", dict(self.checks))

    def __getitem__(self, name: str) -> Check:
        return self.checks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @property
    def summary(self) -> str:
        """How many checks there are, and how they ended.

        Examples
        --------
        >>> Diagnostics({}).summary
        'no check was made'
        """
        if not self.checks:
            return "no check was made"
        verdicts = [check.verdict for check in self.checks.values()]
        counts = [
            f"{verdicts.count(verdict)} {words.SAID[verdict]}"
            for verdict in words.VERDICTS
            if verdict in verdicts
        ]
        return f"{words.count(len(self), 'check')}: {', '.join(counts)}"

    @property
    def _lines(self) -> list[tuple[str, str, str, str]]:
        """Verdict, name, number and advice of every check, the worst first."""
        order = sorted(self.checks.items(), key=lambda one: words.VERDICTS.index(one[1].verdict))
        return [
            (one.verdict, name, words.number(float(one.value)), one.advice) for name, one in order
        ]

    def __str__(self) -> str:
        lines = self._lines
        name, number = (max((len(line[k]) for line in lines), default=0) for k in (1, 2))
        told = [
            f"{words.MARKS[verdict]}  {one:{name}}  {value:>{number}}  "
            + words.one_line(words.printable(advice), _WIDTH - name - number, "…")
            for verdict, one, value, advice in lines
        ]
        return "\n".join([self.summary, *told])

    def __repr__(self) -> str:
        return f"Diagnostics({self.summary})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{words.MARKS[verdict]} {words.SAID[verdict]}</td>"
            f"<td>{escape(words.CHECK_TITLES.get(name, name))}</td><td>{escape(value)}</td>"
            f'<td style="text-align:left">{escape(words.printable(advice))}</td></tr>'
            for verdict, name, value, advice in self._lines
        )
        return f"<p>{escape(self.summary)}</p><table>{rows}</table>"
