"""Candidates: ways to get log p/q from two samples where they overlap.

A new candidate is a file with a class that has ``name``, ``suits``, ``settled`` and ``fit``, and a
line here.
"""

from .base import Candidate, FittedCandidate, Rows
from .bumps import Bumps
from .focused import Focused
from .levels import LevelDensities
from .neighbours import Neighbours
from .ridge import Ridge
from .sparse import Sparse
from .trees import Trees

LIBRARY: tuple[Candidate, ...] = (
    Ridge(),
    LevelDensities(),
    Sparse(),
    Bumps(),
    Neighbours(),
    Trees(),
    Focused(Bumps(), 4),
    Focused(Trees(), 6),
)
"""Every candidate, the simplest first."""

__all__ = [
    "LIBRARY",
    "Bumps",
    "Candidate",
    "FittedCandidate",
    "Focused",
    "LevelDensities",
    "Neighbours",
    "Ridge",
    "Rows",
    "Sparse",
    "Trees",
]
