"""What the README, the pages and the examples say is so."""

from __future__ import annotations

import inspect
import json
import re
import runpy
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["README.md", "docs/start.md"])
def test_first_examples_print_what_is_shown(page, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    text = (ROOT / page).read_text("utf-8")
    told = re.search(r"<!-- shown -->\n(.*?)\n<!-- end of shown -->", text, re.DOTALL)[1]
    found = runpy.run_path(str(ROOT / "docs" / "make_shown.py"))["shown_by"](ROOT / page)
    # Digits may differ in the last place with the linear algebra of the machine.
    number = r"\d+\.?\d*"
    assert re.sub(number, "#", told) == re.sub(number, "#", found)
    values = [[float(one) for one in re.findall(number, shown)] for shown in (told, found)]
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
def test_examples_of_the_gallery_run(path, capsys, few_flights):
    title, line, *_ = path.read_text("utf-8").split('"""')[1].strip().splitlines()
    assert path.stem.startswith("plot_") and set(line) == {"="} and len(line) >= len(title)
    matplotlib.use("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(path))
    assert capsys.readouterr().out


def test_accuracy_in_the_readme_is_that_of_the_record():
    record = json.loads((ROOT / "benchmarks/records/accuracy_1d.json").read_text("utf-8"))
    found = {(r["problem"], r["total"], r["method"]): r["rmse"] for r in record["results"]}
    text = (ROOT / "README.md").read_text("utf-8")
    told = [float(number) for number in re.findall(r"\*\*± ([\d.]+)\*\*", text)]
    rows = [found[f"table1/{row}", 100_000, "compare"] for row in ("row1", "row2")]
    assert told == [round(value, 1) for value in rows]


REPOSITORY = "https://github.com/isthmus-ml/isthmus/blob/main/"
SITE = "https://isthmus-ml.github.io/isthmus/"


def written_pages():
    docs = [
        page
        for page in ROOT.glob("docs/**/*.md")
        if not {"_build", "gallery"} & set(page.relative_to(ROOT).parts)
    ]
    return [*ROOT.glob("*.md"), *docs, *ROOT.glob("benchmarks/*.md")]


def test_links_in_the_documents_lead_somewhere():
    made = ("gallery/", "reference/")  # when the site is built, where the links are checked again
    for page in written_pages():
        for target in re.findall(r"\]\((?!#)([^)#\s]+)", page.read_text("utf-8")):
            if target.startswith(REPOSITORY):
                assert (ROOT / target.removeprefix(REPOSITORY)).exists(), (page.name, target)
            elif target.startswith(SITE):
                name = target.removeprefix(SITE).removesuffix(".html")
                there = (ROOT / "docs" / f"{name}.md").exists() or name.startswith(made)
                assert there or not name, (page.name, target)
            elif not target.startswith(("http:", "https:")):
                found = (page.parent / target).exists() or "gallery/" in target
                assert found, (page.name, target)


def test_links_of_the_readme_work_on_a_package_index():
    text = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text)
    assert len(links) > 10
    assert [link for link in links if not link.startswith("https://")] == []


def test_every_public_name_has_a_docstring_with_an_example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_extensions"))
    reference = runpy.run_path(str(ROOT / "docs" / "_extensions" / "names.py"))
    lacking = []
    for module in reference["modules"]():
        assert module.__doc__, module.__name__
        for name in reference["public_names"](module):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                # Doctests of the package run as tests.
                if ">>> " not in (inspect.getdoc(thing) or ""):
                    lacking.append(f"{module.__name__}.{name}")
    assert lacking == []


def test_the_tables_of_many_columns_are_those_of_the_record(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    blocks = runpy.run_path(str(ROOT / "docs" / "make_columns.py"))["blocks"]
    record = json.loads((ROOT / "benchmarks/records/mi_columns.json").read_text("utf-8"))
    text = (ROOT / "docs" / "mutual_information.md").read_text("utf-8")
    assert blocks(record)["columns"] in text
    assert record["settings"]["quick"] is False and record["rare_label"]
    assert all(one["holds"] for one in record["results"]["pairs"])


def test_the_costs_of_many_rows_are_those_of_the_record(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    made = runpy.run_path(str(ROOT / "docs" / "make_scale.py"))
    record = json.loads((ROOT / "benchmarks/records/scale.json").read_text("utf-8"))
    text = (ROOT / "docs" / "scale.md").read_text("utf-8")
    for block in made["blocks"](record).values():
        assert block in text
    assert record["settings"]["quick"] is False
    assert record["results"]["sizes"][-1]["all_rows"] == 20_000_000
    # On paper, ten workers take between a tenth and all of the time of one.
    start, slope, share = made["costs"](record)
    assert start >= 0 and slope > 0 and 0.1 < share <= 1
