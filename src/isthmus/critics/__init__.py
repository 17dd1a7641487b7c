"""Critics: the functions h_c(x) that the regression learns, one for each class."""

from .diagonal import Diagonal
from .quadratic import Frame, Quadratic

__all__ = ["Diagonal", "Frame", "Quadratic"]
