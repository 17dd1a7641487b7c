"""``isthmus reproduce omniglot``: cells, a tiny run, tables and figures."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from isthmus import reproduce as experiments
from isthmus.reproduce import run_experiment
from isthmus.reproduce.omniglot_show import PAPER, by_method, result_table


def made_up(method, mi, d=4, split="published", seed=0, accuracy=0.9):
    """A result as a run leaves it."""
    return {
        **{"data": "omniglot", "d": d, "method": method, "split": split, "steps": 10, "seed": seed},
        **{"truth": 14.5 * d / 4, "sizes": [40] * d, "mi": mi, "mi_error": 0.1},
        **{"accuracy": accuracy, "cpu_seconds": 3.0, "images_per_step": 310},
    }


def test_every_method_of_a_size_has_the_same_steps_and_the_paper_s_panels_are_there():
    experiment = experiments.load("omniglot")
    cells = experiment.cells(False, 2)
    there = {(cell["d"], cell["method"], cell["split"]) for cell in cells}
    for method in ("mdre", "tre", "single", "infonce", "mdre-1", "mdre-one"):
        assert (4, method, "published") in there
    assert {(9, "mdre", "published"), (4, "mdre", "honest"), (16, "mdre", "published")} <= there
    for split in ("published", "honest"):
        mine = [cell for cell in cells if cell["split"] == split and "-" not in cell["method"]]
        assert len({cell["steps"] for cell in mine}) == 1
    assert {cell["seed"] for cell in cells} == {0, 1}
    assert len({tuple(cell.values()) for cell in cells}) == len(cells)


def test_a_tiny_cell_runs_and_leaves_what_tables_and_figures_need(tmp_path):
    experiment = experiments.load("omniglot")
    cells = [
        {**cell, "steps": 6}
        for cell in experiment.cells(True, 1)
        if cell["method"] in ("mdre", "mdre-1", "mdre-one")
    ]
    outcome = run_experiment(experiment, tmp_path, quick=True, cells=cells, jobs=1, any_code=True)
    assert not outcome.failed
    record = json.loads((tmp_path / "omniglot" / "record.json").read_text("utf-8"))
    assert set(record["figures"]) == {"omniglot", "omniglot-encoders"}
    for each in record["results"]:
        assert each["truth"] == pytest.approx(9.38, abs=0.01)  # log (12 * 11 * 10 * 9)
        low, high = each["mi_interval"]
        assert low < each["mi"] < high and 0 <= each["accuracy"] <= 1
        assert len(each["probe"]) == 4 and each["cpu_seconds"] > 0
        assert {"p", "q"} <= set(each["classes"])
        assert 0 < len(each["history"]["mi"]) == len(each["history"]["step"]) <= 6
        assert each["images_per_step"] == 2 * 4 * (12 + 11 + 10 + 9)
    text = (tmp_path / "omniglot" / "table.md").read_text("utf-8")
    assert "| truth | 9.38 |" in text and "The paper, on its split" in text


def test_tables_say_how_much_of_the_truth_was_found():
    results = [made_up("mdre", 14.5), made_up("mdre", 13.0, seed=1), made_up("tre", 7.25)]
    results.append(made_up("mdre", 29.0, d=9, accuracy=1.0))
    table = result_table(results, "published", {"mdre": "MDRE", "tre": "TRE", "single": "single"})
    assert table.columns[:4] == ["method", "d = 4: I(u, v)", "of the truth", "probe"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert set(rows) == {"truth", "MDRE", "TRE"} and "2 seeds" in table.title
    # Over two seeds the error is that of the seeds: half their distance.
    assert rows["MDRE"][:3] == ["13.75 ± 0.75", "94.8 %", "90.00 %"]
    assert rows["TRE"] == ["7.25 ± 0.10", "50.0 %", "90.00 %", "", "", ""]
    told = by_method(results, {"mdre": "MDRE", "tre": "TRE"})
    assert "MDRE −5.2 %, TRE −50.0 %" in told[0]
    experiment = experiments.load("omniglot")
    assert any("The truth differs from the paper's" in each for each in experiment.remarks(results))
    assert set(PAPER["mdre"]) == {4, 9}
    assert len(experiment.tables(results)) == 2


def test_figures_are_drawn_of_whatever_is_there():
    experiment = experiments.load("omniglot")
    results = [made_up("mdre", 14.0), made_up("tre", 13.0, split="honest")]
    assert set(experiment.figures(results)) == {"omniglot"}
    results += [made_up("mdre-one", 14.0), made_up("mdre-1", 9.0), made_up("infonce", 5.0, d=9)]
    figures = experiment.figures(results)
    assert set(figures) == {"omniglot", "omniglot-encoders"}
    assert len(figures["omniglot"].axes) == 6 and len(figures["omniglot-encoders"].axes) == 2
    # One bar for each method and size that is there.
    assert [len(axes.patches) for axes in figures["omniglot"].axes] == [2, 2, 2, 1, 1, 0]
