"""Critics: the functions h_c(x) that the regression learns, one for each class."""

from .bumps import Bumps
from .diagonal import Diagonal
from .features import FeatureCritic
from .quadratic import Frame, Quadratic
from .radial import Radial
from .splines import Splines
from .sum import Sum

__all__ = [
    "Bumps",
    "Diagonal",
    "FeatureCritic",
    "Frame",
    "Quadratic",
    "Radial",
    "Splines",
    "Sum",
]
