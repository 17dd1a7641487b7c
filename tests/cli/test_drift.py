"""The command ``isthmus drift``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from isthmus.cli.app import run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("drift"), np.random.default_rng(0)
    reference = ["age", *(f"{x:.4f}" for x in rng.normal(size=400))]
    ages = np.r_[rng.normal(size=200), rng.normal(2.0, 1.0, 200)]
    days = np.repeat(["2024-03-01", "2024-03-02"], 200)
    current = ["age,day", *(f"{x:.4f},{day}" for x, day in zip(ages, days, strict=True))]
    paths = folder / "reference.csv", folder / "current.csv"
    for path, lines in zip(paths, (reference, current), strict=True):
        path.write_text("\n".join(lines))
    return [str(path) for path in paths]


def test_json_report_and_exit_code(files, capsys, tmp_path):
    page = tmp_path / "drift.html"
    options = ["--by", "day", "--window", "1d", "--json", "--report", str(page)]
    code = run(["drift", *files, *options, "--fail-above", "js=0.05"])
    found = json.loads(capsys.readouterr().out)
    assert code == 3 and found["above"] == ["2024-03-02"] == found["alarms"]
    assert found["began"]["at"].startswith("2024-03-02")
    assert "2024-03-02" in page.read_text("utf-8")


def test_without_a_limit_the_code_is_zero_and_people_can_read_it(files, capsys):
    assert run(["drift", *files, "--by", "day", "--window", "1d"]) == 0
    out = capsys.readouterr().out
    assert "Drift since 2024-03-02" in out and "to do:" in out
    assert run(["drift", *files, "--by", "day", "--window", "1d", "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_bad_options_cost_no_work(files, capsys):
    assert run(["drift", *files, "--fail-above", "kl=1"]) == 2
    assert run(["drift", *files, "--by", "nothing"]) == 2
    assert "by must name a column" in capsys.readouterr().err
