"""The page about covariate shift says what the record of the benchmark says."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    return runpy.run_path(str(DOCS / "make_shifted.py"))


def test_the_table_is_that_of_the_record(page):
    text = page["PAGE"].read_text("utf-8")
    told = re.search(r"<!-- conformal -->\n(.*?)\n<!-- end of conformal -->", text, re.DOTALL)[1]
    record = json.loads(page["RECORD"].read_text("utf-8"))
    assert told == page["coverage"](record)


def test_the_record_has_what_was_asked_for(page):
    results = json.loads(page["RECORD"].read_text("utf-8"))["results"]
    met = [one for one in results if one["plain_outside"] and one["met"]]
    assert len(met) >= 4
    assert all(one["splits"] == len(one["runs"]) == 100 for one in results)
