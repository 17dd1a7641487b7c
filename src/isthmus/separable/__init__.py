"""Pairs of images: critics g(u)' W f(v) whose encoders learn to represent what they see.

Needs torch, which is imported when something is fitted.
"""

from .encoders import PUBLISHED, dense_encoder, residual_encoder
from .estimator import SeparableRatio
from .probe import linear_probe
from .rows import CellMixing
from .sources import Batch, OmniglotSource, PairArrays, Source

__all__ = [
    "PUBLISHED",
    "Batch",
    "CellMixing",
    "OmniglotSource",
    "PairArrays",
    "SeparableRatio",
    "Source",
    "dense_encoder",
    "linear_probe",
    "residual_encoder",
]
