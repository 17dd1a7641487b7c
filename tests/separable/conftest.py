"""Pairs of real drawings."""

from __future__ import annotations

from pathlib import Path

import pytest

from isthmus.problems import omniglot_files as files
from isthmus.problems.omniglot import Alphabet, SpatialMultiOmniglot

TINY = Path(__file__).parents[1] / "data" / "omniglot" / "tiny.zip"


@pytest.fixture(scope="module")
def problem():
    """Grids of 2 x 2 of real drawings: I(u, v) = 2 log 8 + 2 log 7 = 8.05."""
    alphabets = [Alphabet(name, images) for name, images in files.read_zip(TINY).items()]
    return SpatialMultiOmniglot.largest(alphabets, 4)
