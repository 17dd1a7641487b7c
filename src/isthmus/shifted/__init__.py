"""Models for data that differ from those they were fitted to: covariate shift.

Rows with labels come from a source, rows without from a target; what differs is the distribution
of the columns, not that of the label given the columns. The ratio of the two densities says what
each row of the source counts for on the target.
"""

from .conformal import ShiftedConformal
from .scoring import ShiftedScore, shifted_score
from .target import Target
from .weighted import ShiftWeighted

__all__ = ["ShiftWeighted", "ShiftedConformal", "ShiftedScore", "Target", "shifted_score"]
