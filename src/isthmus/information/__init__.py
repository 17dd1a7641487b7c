"""Mutual information: of two tables, of all pairs of columns, as a score of features."""

from .matrix import mi_matrix
from .mutual import mutual_information
from .pairs import InformationMatrix
from .result import Information
from .scores import InformationRanking, mi_ranking, mi_scores
from .selecting import SelectByInformation

__all__ = [
    "Information",
    "InformationMatrix",
    "InformationRanking",
    "SelectByInformation",
    "mi_matrix",
    "mi_ranking",
    "mi_scores",
    "mutual_information",
]
