"""Diagnostics that say when not to trust an answer."""

from .check import Check, Verdict
from .checks import (
    check_accuracy,
    check_convergence,
    check_effective_size,
    check_flexibility,
    check_normalisation,
    check_support,
)

__all__ = [
    "Check",
    "Verdict",
    "check_accuracy",
    "check_convergence",
    "check_effective_size",
    "check_flexibility",
    "check_normalisation",
    "check_support",
]
