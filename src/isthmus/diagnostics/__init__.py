"""Diagnostics that say when not to trust an answer."""

from .check import Check, Verdict
from .checks import (
    accuracy_band,
    check_accuracy,
    check_anchors,
    check_bridge,
    check_convergence,
    check_effective_size,
    check_flexibility,
    check_normalisation,
    check_rising,
    check_support,
)
from .columns import ColumnShift, rank_columns

__all__ = [
    "Check",
    "ColumnShift",
    "Verdict",
    "accuracy_band",
    "check_accuracy",
    "check_anchors",
    "check_bridge",
    "check_convergence",
    "check_effective_size",
    "check_flexibility",
    "check_normalisation",
    "check_rising",
    "check_support",
    "rank_columns",
]
