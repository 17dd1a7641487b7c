"""A check, and doubt as one number."""

from __future__ import annotations

import numpy as np
import pytest

from isthmus import Check
from isthmus.diagnostics import (
    doubt,
)


def test_doubt_counts_the_ratio_only():
    checks = {
        "a": Check(0.0, "ok", ""),
        "b": Check(0.0, "warn", ""),
        "c": Check(0.0, "fail", ""),
        "d": Check(0.0, "fail", "", concerns="weights"),
        "precision": Check(0.5, "ok", ""),
    }
    assert doubt(checks) == pytest.approx(4.495)
    assert doubt({}) == 0.0
    assert doubt({"precision": Check(np.inf, "fail", "")}) == pytest.approx(3.99)
