"""Problems by name. A factory runs only when its problem is loaded."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from ..typing import Problem

FACTORIES: dict[str, Callable[[], Problem]] = {}


def register(name: str, factory: Callable[[], Problem], *, replace: bool = False) -> None:
    """Add a problem.

    Parameters
    ----------
    name : str
        The name to load it by, which must be its ``name`` as well.
    factory : callable
        Makes the problem.
    replace : bool
        Allow a name that is taken.

    Examples
    --------
    >>> from isthmus.problems import DistributionPair, Gaussian, truths
    >>> def shifted():
    ...     p, q = Gaussian(0.0), Gaussian(3.0)
    ...     return DistributionPair("mine", p, q, truths.gaussians, "Two unit normals.")
    >>> register("mine", shifted, replace=True)
    >>> load("mine").kl
    4.5
    """
    if not (isinstance(name, str) and name):
        raise ValueError(f"name must be a non-empty string; received {name!r}.")
    if not callable(factory):
        raise TypeError(f"factory must be callable; received {factory!r}.")
    if name in FACTORIES and not replace:
        raise ValueError(
            f"name must be new unless replace=True; received {name!r}, which is taken."
        )
    FACTORIES[name] = factory


def names(prefix: str = "") -> list[str]:
    """Names of all problems that start with ``prefix``, in order of registration.

    Examples
    --------
    >>> names("table1/")
    ['table1/row1', 'table1/row2', 'table1/row3']
    """
    return [name for name in FACTORIES if name.startswith(prefix)]


def load(name: str) -> Problem:
    """Make the problem of this name.

    Raises
    ------
    ValueError
        If there is no such problem; the message lists the nearest names.

    Examples
    --------
    >>> round(load("table2/320-shifted").kl, 6)
    240.0
    """
    if not isinstance(name, str) or name not in FACTORIES:
        close = difflib.get_close_matches(str(name), FACTORIES, n=5, cutoff=0.5)
        hint = f"Did you mean {', '.join(map(repr, close))}?" if close else "See problems.names()."
        raise ValueError(f"name must be that of a registered problem; received {name!r}. {hint}")
    problem = FACTORIES[name]()
    if problem.name != name:
        raise ValueError(
            f"the factory registered as {name!r} must make a problem of that name; "
            f"received {problem.name!r}."
        )
    return problem
