"""How many threads linear algebra and trees may take while rows are worked on.

On a busy machine a pool of threads for every small product costs many times the work itself:
threads that wait for each other keep the processor busy. What is parallel here are the folds.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from .telling import settled_filters


class _Inside(threading.local):
    """The limit that holds in a thread, if there is one, and whether it is that of BLAS too."""

    most: int | None = None
    blas: bool = False


# The pool of BLAS is the process's, and so is the right to limit it; threads have their own limits.
_BLAS, _HERE = threading.Lock(), _Inside()


@contextmanager
def limited_threads(n_jobs: int | None = None) -> Iterator[None]:
    """Limit the threads of BLAS and of OpenMP, as a context or as a decorator.

    It stands at the doors. Within another one of the same thread it does nothing, unless it asks
    for fewer by number. OpenMP has a limit for every thread that calls it. BLAS has one for
    the whole process: the thread that comes first sets it, and sets it back when it leaves.

    Parameters
    ----------
    n_jobs : int, optional
        Largest number of threads, as joblib counts them: None is one, or what holds here
        already; -1 is one for each processor. A lower number that the user has set stays.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> import numpy as np
    >>> with limited_threads():
    ...     {pool["num_threads"] for pool in threadpool_info()}
    {1}
    """
    outer, most = _HERE.most, _count(n_jobs)
    if outer is not None and (n_jobs is None or most >= outer):
        yield
        return
    first = not _HERE.blas and _BLAS.acquire(blocking=False)
    try:
        _HERE.most, _HERE.blas = most, _HERE.blas or first
        # A library whose number is set back by a thread that did not set it would keep the limit.
        libraries = _loaded(len(sys.modules))
        if not _HERE.blas:
            libraries = libraries.select(user_api="openmp")
        limits = [{**one, "num_threads": min(most, one["num_threads"])} for one in libraries.info()]
        with libraries.limit(limits=limits), settled_filters():
            yield
    finally:
        _HERE.most = outer
        if first:
            _HERE.blas = False
            _BLAS.release()


@lru_cache(maxsize=1)
def _loaded(n_modules: int) -> ThreadpoolController:
    """The libraries that are loaded, found anew when a module was imported since."""
    return ThreadpoolController()


def _count(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return n_jobs
    return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
