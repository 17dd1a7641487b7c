"""Increasing maps of columns, which straighten both samples and leave p/q unchanged."""

from __future__ import annotations

from ..typing import ColumnMap
from .parametric import AsinhMap, IdentityMap, LogMap, SignedLogMap, YeoJohnsonMap
from .quantile import QuantileMap
from .shared import SharedMaps
from .two_normals import TwoNormalsMap

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
