"""The tables of docs/trust.md are those of the records."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("part", ["detector", "two_sample"])
def test_tables_are_those_of_the_record(part, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    blocks = runpy.run_path(str(DOCS / "make_trust.py"))[part]()
    text = (DOCS / "trust.md").read_text("utf-8")
    assert blocks
    for name, block in blocks.items():
        assert f"<!-- {name} -->\n{block}\n<!-- end of {name} -->" in text, name


def test_every_check_is_named_on_the_page():
    from isthmus.words import CHECKS

    text = (DOCS / "trust.md").read_text("utf-8")
    for name in CHECKS:
        assert f"`{name}`" in text, name
