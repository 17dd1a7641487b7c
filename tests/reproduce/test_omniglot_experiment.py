"""``isthmus reproduce omniglot``: cells, a tiny run, tables and figures."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")

from isthmus import reproduce as experiments
from isthmus.reproduce import run_experiment
from isthmus.reproduce.omniglot_show import (
    PAPER,
    about_the_band,
    beside_tre,
    by_method,
    class_table,
    result_table,
)


def made_up(method, mi, d=4, split="published", seed=0, accuracy=0.9):
    """A result as a run leaves it."""
    return {
        **{"data": "omniglot", "d": d, "method": method, "split": split, "steps": 10, "seed": seed},
        **{"truth": 14.5 * d / 4, "sizes": [40] * d, "mi": mi, "mi_error": 0.1},
        **{"accuracy": accuracy, "cpu_seconds": 3.0, "images_per_step": 310},
        **{"probed": 4000, "probe": [accuracy] * d},
        "classes": {"p": 0.99, "m1": 0.9, "m2": 0.6, "q": 0.4} if method == "mdre" else {"p": 0.9},
    }


def test_every_method_of_a_size_has_the_same_steps_and_the_paper_s_panels_are_there():
    experiment = experiments.load("omniglot")
    cells = experiment.cells(False, 2)
    there = {(cell["d"], cell["method"], cell["split"]) for cell in cells}
    for method in ("mdre", "tre", "single", "infonce", "mdre-1", "mdre-one"):
        assert (4, method, "published") in there
    assert {(9, "mdre", "published"), (25, "mdre", "published")} <= there
    assert {(4, "mdre-whole", "published"), (9, "mdre-1", "published")} <= there
    for d in (4, 9):
        assert {method for size, method, split in there if (size, split) == (d, "honest")} == (
            {"mdre", "tre", "single", "infonce"}
        )
        # Both splits of both sizes: what is compared has the same steps, and seeds as well at 9.
        for split in ("published", "honest"):
            mine = [c for c in cells if (c["split"], c["d"]) == (split, d)]
            assert len({c["steps"] for c in mine if "whole" not in c["method"]}) == 1
    assert {c["seed"] for c in cells if (c["d"], c["method"]) == (9, "tre")} == {0, 1}
    assert {cell["seed"] for cell in cells} == {0, 1}
    assert len({tuple(cell.values()) for cell in cells}) == len(cells)


def test_a_tiny_cell_runs_and_leaves_what_tables_and_figures_need(tmp_path):
    experiment = experiments.load("omniglot")
    cells = [
        {**cell, "steps": 2 if cell["method"] == "mdre-whole" else 6}
        for cell in experiment.cells(True, 1)
        if cell["method"] in ("mdre", "mdre-1", "mdre-one", "mdre-whole")
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
        history = each["history"]
        assert 0 < len(history["mi"]) == len(history["loss"]) == len(history["step"]) <= 6
        whole = each["method"] == "mdre-whole"
        assert each["images_per_step"] == 2 * (64 if whole else 2 * (12 + 11 + 10 + 9))
    text = (tmp_path / "omniglot" / "table.md").read_text("utf-8")
    told = " ".join(experiment.remarks(record["results"]))
    assert "Training loss and held-out loss after 1, 2 steps: " in told
    assert "| truth | 9.38 |" in text and "The paper, on its split" in text


def test_tables_say_how_much_of_the_truth_was_found():
    results = [made_up("mdre", 14.5), made_up("mdre", 13.0, seed=1), made_up("tre", 7.25)]
    results.append(made_up("mdre", 29.0, d=9, accuracy=1.0))
    table = result_table(results, "published", {"mdre": "MDRE", "tre": "TRE", "single": "single"})
    assert table.columns[:4] == ["method", "d = 4: I(u, v)", "of the truth", "probe"]
    rows = {row[0]: row[1:] for row in table.rows}
    assert set(rows) == {"truth", "MDRE", "TRE"}
    assert table.title.endswith("up to 2 seeds at d = 4, 1 seed at d = 9")
    # Over two seeds the error is that of the seeds: half their distance.
    assert rows["MDRE"][:3] == ["13.75 ± 0.75", "94.8 %", "90.00 %"]
    assert rows["TRE"] == ["7.25 ± 0.10", "50.0 %", "90.00 %", "", "", ""]
    told = by_method(results, {"mdre": "MDRE", "tre": "TRE"})
    assert "MDRE −5.2 %, TRE −50.0 %" in told[0]
    experiment = experiments.load("omniglot")
    assert any("The truth differs from the paper's" in each for each in experiment.remarks(results))
    assert set(PAPER["mdre"]) == {4, 9}
    assert len(experiment.tables(results)) == 3


def test_the_page_begins_with_tre_where_its_representation_is_as_good():
    ours = [made_up("mdre", 14.5, accuracy=0.9), made_up("mdre", 30.0, d=9, accuracy=0.9)]
    assert beside_tre(ours) == ""
    theirs = [made_up("tre", 14.0, accuracy=0.8), made_up("tre", 30.0, d=9, accuracy=0.8)]
    told = beside_tre([*ours, *theirs])
    assert told.startswith("The probe of MDRE beside that of TRE is better at d = 4, published")
    assert "(90.00 and 80.00 %)" in told and "as good" not in told
    # 16,000 characters leave a third of a per cent open, and 36,000 a quarter, for each.
    theirs[1]["accuracy"] = 0.901
    told = beside_tre([*ours, *theirs])
    assert told.startswith("TRE's representation is as good as MDRE's, or better, in some of these")
    assert "as good at d = 9, published split (90.00 and 90.10 %)" in told
    theirs[1]["accuracy"] = 0.95
    assert "worse at d = 9" in beside_tre([*ours, *theirs])
    assert experiments.load("omniglot").lead([*ours, *theirs]).startswith("TRE's")


def test_accuracies_of_classes_stand_beside_the_paper_s_band():
    results = [made_up("mdre", 14.5), made_up("tre", 14.0), made_up("mdre", 14.5, seed=1)]
    results[2]["classes"]["q"] = 0.5
    table = class_table(results, {"mdre": "MDRE", "tre": "TRE"})
    # TRE has accuracies of pairs of classes, of which the rule says nothing.
    assert table.rows == [["MDRE, published split", "4", "99.0", "60.0 to 90.0", "45.0", "2 of 4"]]
    # Of 40 characters one in 40 is drawn again.
    assert "97.5, 97.5, 97.5, 97.5 %" in about_the_band(results)[0]


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
