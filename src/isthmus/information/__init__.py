"""Mutual information: of two tables, of all pairs of columns, as a score of features."""

from .matrix import InformationMatrix, mi_matrix, mi_scores
from .mutual import mutual_information
from .result import Information

__all__ = ["Information", "InformationMatrix", "mi_matrix", "mi_scores", "mutual_information"]
