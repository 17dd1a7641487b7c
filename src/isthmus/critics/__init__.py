"""Critics: the functions h_c(x) that the regression learns, one for each class.

A new critic is a file with a subclass of :class:`FeatureCritic`, and its name here.
"""

from typing import Any

from ..maps.affine import Frame
from .bumps import Bumps
from .features import FeatureCritic, placed
from .mlp import MLP, Network
from .quadratic import Diagonal, Quadratic
from .radial import Radial
from .splines import Splines
from .sum import Sum

BY_NAME: dict[str, Any] = {
    "quadratic": Quadratic(),
    "diagonal": Diagonal(),
    "low-rank": Quadratic(rank=10),
}

__all__ = [
    "BY_NAME",
    "MLP",
    "Bumps",
    "Diagonal",
    "FeatureCritic",
    "Frame",
    "Network",
    "Quadratic",
    "Radial",
    "Splines",
    "Sum",
    "placed",
]
