"""Which classes a file may hold, under which name, and with which of their attributes.

A file names classes by the names here and by nothing else: what is not listed can be neither
written nor read. Names and attributes may be added; a name that was in a release stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from inspect import signature
from typing import Any

from sklearn.base import BaseEstimator


@dataclass(frozen=True)
class Kind:
    """A class that a file may hold.

    Attributes
    ----------
    name : str
        What files call it.
    cls : type
    further : tuple of str
        Attributes that are kept beside the parameters of an estimator, or the fields of a
        dataclass or of a named tuple.
    without : tuple of str
        Attributes that are not kept: rows, and what is worked out from them. A field of a
        dataclass then has its default.
    forms : mapping of str to callable
        Attributes that are kept in another form: what is kept, from the attribute.
    recipes : mapping of str to callable
        Attributes with networks that a function of the library makes: what it was called with,
        from the object.
    """

    name: str
    cls: type
    further: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    forms: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    recipes: Mapping[str, Callable[[Any], list[Any]]] = field(default_factory=dict)

    @property
    def is_tuple(self) -> bool:
        """Whether it is a named tuple."""
        return issubclass(self.cls, tuple)

    @property
    def kept(self) -> tuple[str, ...]:
        """Attributes that a file holds, where the object has them."""
        return tuple(name for name in (*own_names(self.cls), *self.further) if self.keeps(name))

    def keeps(self, name: str) -> bool:
        """Whether an attribute is in the file."""
        return name not in self.without


def own_names(cls: Any) -> tuple[str, ...]:
    """Attributes that a class declares: fields, or the parameters of an estimator."""
    if issubclass(cls, tuple):
        return tuple(cls._fields)
    if is_dataclass(cls):
        return tuple(one.name for one in fields(cls))
    if issubclass(cls, BaseEstimator) and cls.__init__ is not object.__init__:
        return tuple(signature(cls).parameters)
    return ()


@cache
def by_class() -> dict[type, Kind]:
    """Kinds by their class."""
    from .kinds import KINDS

    return {kind.cls: kind for kind in KINDS}


@cache
def by_name() -> dict[str, Kind]:
    """Kinds by their name in files."""
    from .kinds import KINDS

    return {kind.name: kind for kind in KINDS}
