"""What arguments are called at the door that was used: in Python, or on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from ..settings import option


@dataclass(frozen=True)
class Door:
    """Words for the arguments of a table.

    Attributes
    ----------
    command : bool
        Whether the table came by the command line.

    Examples
    --------
    >>> Door().names("drop", ["id", "day"]), Door(command=True).names("drop", ["id", "day"])
    ("drop=['id', 'day']", '--drop id,day')
    """

    command: bool = False

    def names(self, argument: str, names: Sequence[str]) -> str:
        """An argument that names columns."""
        if not self.command:
            return f"{argument}={list(names)!r}"
        return shlex.join(option(self.argument(argument), tuple(names)))

    def word(self, argument: str, value: str) -> str:
        """An argument with one word."""
        return f"{self.argument(argument)} {value}" if self.command else f"{argument}={value!r}"

    def argument(self, argument: str) -> str:
        """An argument by itself."""
        return f"--{argument.replace('_', '-')}" if self.command else argument
