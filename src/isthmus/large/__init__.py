"""Comparisons of more rows than memory, or patience, has room for.

What is chosen is chosen on a sample of the rows; what is convex or closed-form is fitted to all
of them, in passes; and every row's log-ratio counts in the answer.
"""

from .comparing import compare_sources
from .opening import opened
from .sampling import LARGE, sample_rows

__all__ = ["LARGE", "compare_sources", "opened", "sample_rows"]
