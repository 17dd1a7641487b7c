"""How a comparison is shown: as a dictionary, a frame, a page, and by its clearest rows."""

from __future__ import annotations

from .given import GivenRows, TopRows, clearest
from .shown import Shown

__all__ = ["GivenRows", "Shown", "TopRows", "clearest"]
