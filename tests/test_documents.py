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
