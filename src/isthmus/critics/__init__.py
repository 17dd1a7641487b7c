"""Critics: the functions h_c(x) that the regression learns, one for each class."""

from .bumps import Bumps
from .diagonal import Diagonal
from .features import FeatureCritic
from .mlp import MLP, Network
from .quadratic import Frame, Quadratic
from .radial import Radial
from .splines import Splines
from .sum import Sum

__all__ = [
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
]
