"""Every test and every example of a docstring begins without open figures of another."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_open_figures():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
