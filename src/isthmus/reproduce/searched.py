"""The training that ``isthmus reproduce search`` chose, for the tables.

``searched.json`` holds it by problem, as ``docs/make_reproduction.py`` wrote it from the record of
the search. A table's record says which it was made with.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("searched.json")


@cache
def searched() -> dict[str, dict[str, Any]]:
    """Parameters of :class:`~isthmus.model.adam.Adam` by the name of a problem."""
    found: dict[str, dict[str, Any]] = json.loads(PATH.read_text("utf-8"))
    return found
