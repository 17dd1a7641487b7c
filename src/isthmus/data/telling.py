"""Warnings of the library, which can be kept quiet without touching Python's filters.

Those are one list for the whole process: what one thread puts there silences the others, and what
it takes back may be another's. What is kept quiet here is so in the thread that asks for it.
"""

from __future__ import annotations

import contextvars
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

_GUARD = threading.Lock()
_AT_WORK: list[None] = []
_BEFORE: list[object] = []
_COMPLEX = np.exceptions.ComplexWarning

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
def settled_filters() -> Iterator[None]:
    """Take away what scikit-learn's checks of arrays leave in Python's filters.

    They turn the warning of complex numbers into an error for a moment. Where threads do so at
    once, one of them may put back what another has put there. When the last of ours is done,
    that is removed; nothing else is touched.
    """
    with _GUARD:
        if not _AT_WORK:
            _BEFORE[:] = warnings.filters
        _AT_WORK.append(None)
    try:
        yield
    finally:
        with _GUARD:
            _AT_WORK.pop()
            if not _AT_WORK:
                left = [one for one in warnings.filters if one[2] is _COMPLEX]
                for one in left:
                    if one not in _BEFORE:
                        warnings.filters.remove(one)  # type: ignore[attr-defined]


@contextmanager
def _listening(listener: _Listener) -> Iterator[None]:
    before = _LISTENERS.set((*_LISTENERS.get(), listener))
    try:
        yield
    finally:
        _LISTENERS.reset(before)
