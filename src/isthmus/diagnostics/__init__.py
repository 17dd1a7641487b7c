"""Diagnostics that say when not to trust an answer."""

from .agreement import check_agreement, check_anchors
from .balance import check_balance
from .calibration import check_calibration
from .chasm import accuracy_band, check_accuracy, check_bridge, check_chasm
from .check import Check, Verdict, doubt
from .columns import ColumnDifference, ColumnShift, column_differences, rank_columns
from .extrapolation import check_extrapolation
from .fitting import check_convergence, check_flexibility, check_rising, check_support
from .found import Diagnostics
from .normalisation import check_normalisation
from .pareto import pareto_k
from .tails import check_effective_size, check_pareto, check_precision, check_tails
from .two_sample import TwoSampleTest, check_difference, two_sample_test

__all__ = [
    "Check",
    "ColumnDifference",
    "ColumnShift",
    "Diagnostics",
    "TwoSampleTest",
    "Verdict",
    "accuracy_band",
    "check_accuracy",
    "check_agreement",
    "check_anchors",
    "check_balance",
    "check_bridge",
    "check_calibration",
    "check_chasm",
    "check_convergence",
    "check_difference",
    "check_effective_size",
    "check_extrapolation",
    "check_flexibility",
    "check_normalisation",
    "check_pareto",
    "check_precision",
    "check_rising",
    "check_support",
    "check_tails",
    "column_differences",
    "doubt",
    "pareto_k",
    "rank_columns",
    "two_sample_test",
]
