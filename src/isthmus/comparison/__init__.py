"""What a comparison of two samples found, what is measured of it, and how it is shown."""

from .given import GivenRows, TopRows
from .result import Comparison

__all__ = ["Comparison", "GivenRows", "TopRows"]
