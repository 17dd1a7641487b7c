"""Weights that make one sample look like another, with a certificate.

:func:`importance_weights` makes them from a density ratio; :func:`audit_weights` judges
anybody's. Both give :class:`Weights`.
"""

from .auditing import audit_weights
from .making import importance_weights
from .result import WeightingError, Weights

__all__ = ["WeightingError", "Weights", "audit_weights", "importance_weights"]
