"""Property-based tests draw the same examples everywhere and are not timed."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

# A busy machine is no reason to fail, and a failure must be one that anybody can repeat.
settings.register_profile("isthmus", deadline=None, derandomize=True)
settings.load_profile("isthmus")

# Processes that tests start import the package that is tested, wherever another is installed.
os.environ["PYTHONPATH"] = str(Path(__file__).parents[1] / "src")
