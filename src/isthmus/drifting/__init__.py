"""Drift: every window of a table against a reference, how far apart, since when, and where."""

from .began import Began
from .columns import ColumnDrift, LevelChange
from .door import drift
from .pairs import PairDrift
from .reference import Reference, drift_reference
from .result import Drift, Window
from .segments import Segment

__all__ = [
    "Began",
    "ColumnDrift",
    "Drift",
    "LevelChange",
    "PairDrift",
    "Reference",
    "Segment",
    "Window",
    "drift",
    "drift_reference",
]
