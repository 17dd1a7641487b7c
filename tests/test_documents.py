"""What the README and the examples say is run."""

from __future__ import annotations

import json
import re
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

import isthmus

ROOT = Path(__file__).parents[1]


def test_python_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it writes a report
    rng = np.random.default_rng(0)
    p, q = rng.normal(-1, 0.08, (500, 1)), rng.normal(2, 0.15, (500, 1))
    X_test, y_test = isthmus.stack(p[:100], q[:100])
    names = {"p": p, "q": q, "x": q[:5], "u": p, "v": q, "X_test": X_test, "y_test": y_test}
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert isinstance(names["c"], isthmus.Comparison)


def test_the_readme_shows_what_its_first_example_prints(pages):
    text = (ROOT / "README.md").read_text("utf-8")
    told = re.search(r"<!-- shown -->\n(.*?)\n<!-- end of shown -->", text, re.DOTALL)[1]
    found = pages["shown_by_readme"]()
    # Digits may differ in the last place with the linear algebra of the machine.
    number = r"\d+\.?\d*"
    assert re.sub(number, "#", told) == re.sub(number, "#", found)
    values = [[float(one) for one in re.findall(number, page)] for page in (told, found)]
    np.testing.assert_allclose(*values, rtol=0.1)


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return runpy.run_path(str(ROOT / "docs" / "make_accuracy.py"))


def test_tables_of_accuracy_are_those_of_the_records_or_none(pages):
    accuracy = (ROOT / "docs" / "accuracy.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = [(accuracy, mark, *made) for mark, made in pages["BLOCKS"].items()]
    for page, mark, name, make in [*blocks, (readme, "wild", "wild", pages["for_readme"])]:
        told = re.search(rf"<!-- {mark} -->\n(.*?)\n<!-- end of {mark} -->", page, re.DOTALL)[1]
        none = [pages[why].format(name) for why in ("MISSING", "OLD")]
        assert told in none or told == pages["block"](name, make, any_code=True), mark


def test_no_number_of_other_code_is_told(pages, tmp_path):
    record = {"code": "other", "results": []}
    (tmp_path / "wild.json").write_text(json.dumps(record))
    made = [pages["block"]("wild", pages["bars"], False, where) for where in (tmp_path, ROOT)]
    assert made == [pages["OLD"].format("wild"), pages["MISSING"].format("wild")]


def test_tables_of_a_record_say_what_it_says(pages):
    run = {
        **{"problem": "wild/a", "kind": "edges", "seed": 0, "dim": 2, "n_p": 50, "n_q": 60},
        **{"kl": 0.5, "truth": 1.0, "error": -0.5, "low": 0.4, "high": 0.6, "covered": False},
        **{"two_ended": True, "trusted": True, "objections": [], "seconds": 2.0, "loss": 0.6},
        **{"bayes": 0.5, "rivals": {"trees": 0.65, "ridge": 0.55}, "rests_on": "linear"},
    }
    right = {
        **run,
        **{"problem": "wild/b", "kl": 1.05, "error": 0.05, "covered": True, "two_ended": False},
        **{"trusted": False, "rests_on": "linear (60%), boosted trees (40%)"},
    }
    del right["high"]
    record = {"results": [run, right], "failed": [], "summary": []}
    told = pages["failures"](record)
    assert told.startswith("1 of 2 runs are off by more than 20 %.")
    assert "trusted, with an interval that misses the truth: 1." in told
    assert "| a | 0 | 1.000 | 0.500 | [0.4, 0.6] | no | yes | none |" in told
    kinds = pages["by_kind"](record).splitlines()[-1]
    assert kinds == "| edges | 2 | 28 % | 50 % | 50 % | 50 % | 50 % | −0.050 | +0.050 |  |  | 2 |"
    assert "| linear | 2 | 100 % |\n| boosted trees | 1 | 50 % |" in pages["rests_on"](record)
    problems = pages["every_problem"](record)
    assert "| [0.4, ∞] | 1/1 | 0/1 | 0.600 | 0.650 | 0.550 |  |  | 0.500 |" in problems


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_examples_run(path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(path))
    assert "nats" in capsys.readouterr().out or path.stem != "chasm"


def test_accuracy_in_the_readme_is_that_of_the_record():
    record = json.loads((ROOT / "benchmarks/records/accuracy_1d.json").read_text("utf-8"))
    found = {(r["problem"], r["total"], r["method"]): r["rmse"] for r in record["results"]}
    text = (ROOT / "README.md").read_text("utf-8")
    told = [float(number) for number in re.findall(r"\*\*± ([\d.]+)\*\*", text)]
    rows = [found[f"table1/{row}", 100_000, "compare"] for row in ("row1", "row2")]
    assert told == [round(value, 1) for value in rows]


def test_links_in_the_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), (page.name, target)
