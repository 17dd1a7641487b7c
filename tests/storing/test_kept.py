"""Files that released versions wrote still load, and give what they gave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isthmus import load

FILES = sorted((Path(__file__).parent / "data").glob("*.isthmus"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_files_of_every_release_load(file):
    found = load(file)
    wanted = json.loads((file.parent / f"{file.stem}.json").read_text())
    # Another machine adds up in another order: the last digits only.
    np.testing.assert_allclose(
        found.log_ratio(wanted["rows"]), wanted["log_ratio"], rtol=1e-9, atol=1e-9
    )


def test_there_are_some():
    assert len(FILES) >= 3
