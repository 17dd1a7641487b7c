"""Increasing maps of columns, which straighten both samples and leave p/q unchanged."""

from __future__ import annotations

from ._base import ColumnMap, IdentityMap
from ._parametric import AsinhMap, LogMap, SignedLogMap, YeoJohnsonMap
from ._two_normals import TwoNormalsMap
from .quantile import QuantileMap
from .shared import SharedMaps

__all__ = [
    "AsinhMap",
    "ColumnMap",
    "IdentityMap",
    "LogMap",
    "QuantileMap",
    "SharedMaps",
    "SignedLogMap",
    "TwoNormalsMap",
    "YeoJohnsonMap",
]
