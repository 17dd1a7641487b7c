"""Increasing maps of columns, which straighten both samples and leave p/q unchanged."""

from __future__ import annotations

from .parametric import AsinhMap, LogMap, SignedLogMap, YeoJohnsonMap
from .quantile import QuantileMap
from .shared import SharedMaps
from .two_normals import TwoNormalsMap
from .unit_map import ColumnMap, IdentityMap

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
