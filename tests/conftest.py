"""Property-based tests draw the same examples everywhere and are not timed."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no reason to fail, and a failure must be one that anybody can repeat.
settings.register_profile("isthmus", deadline=None, derandomize=True)
settings.load_profile("isthmus")
