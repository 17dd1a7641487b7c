"""The command ``isthmus mi``."""

from __future__ import annotations

import json

import numpy as np
import pytest

from isthmus.cli import app as cli


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    y = 0.8 * x + 0.6 * rng.normal(size=600)
    lines = ["x,y,label,gap"]
    lines += [
        f"{a:.9g},{b:.9g},{'up' if a > 0 else 'down'},{'' if k % 50 == 0 else k}"
        for k, (a, b) in enumerate(zip(x, y, strict=True))
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(capsys, *arguments):
    code = cli.run([str(each) for each in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_one_pair_of_columns(capsys, table):
    code, out, _ = run(capsys, "mi", table, "--x", "x", "--y", "y")
    assert code == 0
    assert out.startswith("I(x; y) = 0.")
    assert "confidence" in out


def test_json_is_one_document_with_every_number(capsys, table):
    code, out, _ = run(capsys, "mi", table, "--x", "x", "--y", "y", "--json", "--seed", "3")
    found = json.loads(out)
    assert code == 0
    assert found["x"] == ["x"]
    assert found["rows"] == 600
    assert found["seed"] == 3
    # Truth 0.511; standard error 0.8 / sqrt(600), four of them.
    assert found["mutual_information"]["value"] == pytest.approx(0.511, abs=4 * 0.033)
    assert 0 < found["mutual_information"]["lower_bound"] < found["mutual_information"]["value"]


def test_given_a_column(capsys, table):
    code, out, _ = run(capsys, "mi", table, "--x", "x", "--y", "y", "--given", "label")
    assert code == 0
    # Whether strata of so few rows give both ends is the affair of the estimate.
    assert out.startswith("I(x; y | label)") and "nats" in out


def test_all_pairs_and_a_heat_map(capsys, table, tmp_path):
    picture = tmp_path / "m.png"
    code, out, _ = run(capsys, "mi", table, "--missing", "drop", "--json", "--plot", picture)
    found = json.loads(out)
    assert code == 0
    assert found["names"] == ["x", "y", "label", "gap"]
    assert found["dropped_rows"] == 12
    assert picture.stat().st_size > 1000
    assert {found["pairs"][0]["x"], found["pairs"][0]["y"]} == {"x", "label"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--x", "x"], "--x and --y must be given together"),
        (["--x", "x", "--y", "z"], "it has no"),
        (["--x", "x", "--y", "x"], "must name different columns"),
        (["--x", "gap", "--y", "x"], "must have no missing values"),
        (["--given", "x"], "--given must come with"),
        (["--x", "x", "--y", "y", "--method", "best"], "method must be one of"),
        (["--x", "x", "--y", "y", "--level", "2"], "--level must lie"),
        (["--missing", "keep"], "--missing must be error or drop"),
        (["--plot", "m.txt"], "--plot must end in"),
    ],
)
def test_bad_options_are_told_in_one_line(capsys, table, arguments, message):
    code, _, err = run(capsys, "mi", table, *arguments)
    assert code == 2
    assert message in err
    assert len(err.splitlines()) == 1


def test_help_has_every_option(capsys):
    code, out, _ = run(capsys, "mi", "--help")
    assert code == 0
    for option in ("--x", "--y", "--given", "--method", "--json", "--plot", "--missing"):
        assert option in out
