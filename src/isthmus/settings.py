"""What a fit was asked for, frozen: a search returns new settings, and nothing changes them."""

from __future__ import annotations

import csv
import io
import numbers
import shlex
from dataclasses import dataclass, fields, replace
from typing import Any

CHOICES = ("maps", "anchor", "auxiliaries", "critic", "l2")
"""Settings that may be "auto", which held-out rows decide."""

_RULE = {"maps": None, "anchor": "gaussian", "critic": "quadratic", "auxiliaries": "bridge"}


@dataclass(frozen=True)
class Settings:
    """The parameters of :class:`~isthmus.MDRE` that say how a model is fitted.

    Attributes
    ----------
    auxiliaries, critic, anchor, maps, prior, l2, known_density, oversample, solver, tol, max_iter
        As in :class:`~isthmus.MDRE`.

    Examples
    --------
    >>> settings = Settings(critic="quadratic")
    >>> settings.open_choices
    ('maps', 'anchor', 'auxiliaries', 'l2')
    >>> settings.by_rule().anchor
    'gaussian'
    """

    auxiliaries: Any = "auto"
    critic: Any = "auto"
    anchor: Any = "auto"
    maps: Any = "auto"
    prior: Any = "uniform"
    l2: Any = "auto"
    known_density: bool = True
    oversample: float | str = "auto"
    solver: Any = "newton"
    tol: float = 1e-6
    max_iter: int = 200

    @classmethod
    def of(cls, estimator: Any, **others: Any) -> Settings:
        """Those of an estimator that has parameters of these names; the others by default."""
        given = estimator.get_params(deep=False)
        known = {field.name for field in fields(cls)}
        return cls(**{**{name: given[name] for name in given if name in known}, **others})

    def but(self, **others: Any) -> Settings:
        """The same with other values."""
        return replace(self, **others)

    @property
    def open_choices(self) -> tuple[str, ...]:
        """Names of what is still to be chosen."""
        return tuple(name for name in CHOICES if is_auto(getattr(self, name)))

    @property
    def chosen(self) -> dict[str, Any]:
        """What may be chosen, to be set as parameters of an estimator."""
        return {name: getattr(self, name) for name in CHOICES}

    def by_rule(self) -> Settings:
        """A rule in place of what is still open, except for the penalty."""
        return self.but(**{name: _RULE[name] for name in self.open_choices if name in _RULE})


def is_auto(value: Any) -> bool:
    """Whether a setting is left to be chosen."""
    return isinstance(value, str) and value == "auto"


@dataclass(frozen=True)
class Call:
    """What :func:`isthmus.compare` was called with, to be repeated as code or as a command.

    Attributes
    ----------
    estimator, critic, folds, level, columns, drop, keep, missing, dates, random_state
        As in :func:`isthmus.compare`.
    weighted : bool
        Whether weights were given.
    files : pair of str or None
        The two files, where the command line was used.

    Examples
    --------
    >>> Call(critic="diagonal", random_state=0).arguments
    ['p', 'q', "critic='diagonal'", 'random_state=0']
    >>> Call(files=("a.csv", "b c.csv"), random_state=1).command("--divergence", "js")
    "isthmus compare a.csv 'b c.csv' --seed 1 --divergence js"
    """

    estimator: Any = None
    critic: Any = "auto"
    folds: int | None = None
    level: float = 0.95
    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    missing: str = "indicator"
    dates: tuple[str, ...] = ("days",)
    random_state: Any = None
    weighted: bool = False
    files: tuple[str, str] | None = None

    @property
    def has_seed(self) -> bool:
        """Whether another run gives the same numbers."""
        return isinstance(self.random_state, numbers.Integral)

    @property
    def arguments(self) -> list[str]:
        """Arguments of :func:`isthmus.compare` that are not its defaults, as they are written."""
        out = ["p", "q"]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "weighted" and value:
                out.append("weight_p=weight_p, weight_q=weight_q")
            elif field.name == "random_state" and not self.has_seed:
                continue
            elif field.name not in ("weighted", "files") and value != field.default:
                shown = list(value) if isinstance(value, tuple) else value
                out.append(f"{field.name}={shown!r}")
        return out

    def command(self, *further: str) -> str:
        """The command that does the same, with further options."""
        words = ["isthmus", "compare", *(self.files or ())]
        words += option("--columns", self.columns) + option("--drop", self.drop)
        words += option("--keep", self.keep)
        if self.missing != "indicator":
            words += ["--missing", self.missing]
        if self.dates != ("days",):
            words += option("--dates", self.dates)
        words += ["--seed", str(self.random_state)]
        if self.level != 0.95:
            words += ["--level", f"{self.level:g}"]
        return shlex.join([*words, *further])


def option(name: str, values: tuple[str, ...] | None) -> list[str]:
    """Option of a command with names separated by commas, those with a comma in quotes."""
    if not values:
        return []
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return [name, line.getvalue()]
