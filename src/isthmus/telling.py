"""Warnings of the library, which can be kept quiet without touching Python's filters.

Those are one list for the whole process: what one thread puts there silences the others, and what
it takes back may be another's. What is kept quiet here is so in the thread that asks for it.
"""

from __future__ import annotations

import contextvars
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Heard = tuple[type[Warning], str]

_Listener = Callable[[type[Warning], str], bool]
_LISTENERS: contextvars.ContextVar[tuple[_Listener, ...]] = contextvars.ContextVar(
    "isthmus_listeners", default=()
)


def tell(message: str, category: type[Warning] = UserWarning, stacklevel: int = 1) -> None:
    """Warn, unless a caller keeps it quiet; parameters as of :func:`warnings.warn`.

    Examples
    --------
    >>> with heard() as told:
    ...     tell("The columns are dependent.")
    >>> told
    [(<class 'UserWarning'>, 'The columns are dependent.')]
    """
    if not any(listener(category, message) for listener in reversed(_LISTENERS.get())):
        warnings.warn(message, category, stacklevel=stacklevel + 1)


@contextmanager
def quiet(beginning: str = "") -> Iterator[None]:
    """Keep quiet what begins with some words; without them all, NumPy's warnings too."""
    with _listening(lambda _, message: message.startswith(beginning)):
        if beginning:
            yield
        else:
            with np.errstate(all="ignore"):
                yield


@contextmanager
def heard() -> Iterator[list[Heard]]:
    """Collect what would be warned of, in place of warning."""
    found: list[Heard] = []

    def keep(category: type[Warning], message: str) -> bool:
        found.append((category, message))
        return True

    with _listening(keep):
        yield found


def in_this_context(run: Callable[[int], T]) -> Callable[[int], T]:
    """The same function for another thread, in which as much is kept quiet as here."""
    here = contextvars.copy_context()
    return lambda task: here.copy().run(run, task)


@contextmanager
def _listening(listener: _Listener) -> Iterator[None]:
    before = _LISTENERS.set((*_LISTENERS.get(), listener))
    try:
        yield
    finally:
        _LISTENERS.reset(before)
