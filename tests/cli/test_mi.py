"""The command ``isthmus mi``."""

from __future__ import annotations

import json
from contextlib import contextmanager

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
    assert out.splitlines()[1].startswith("trusted (")


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
        (["--x", "gap", "--y", "x", "--missing", "error"], "must have no missing values"),
        (["--columns", "x,z"], "it has no ['z']"),
        (["--columns", "x,x"], "--columns must name different columns"),
        (["--columns", "x"], "at least two columns to compare; received 1"),
        (["--drop", "z"], "it has no ['z']"),
        (["--x", "x", "--y", "y", "--drop", "gap"], "--drop must come without --x and --y"),
        (["--x", "x", "--y", "y", "--columns", "x"], "--columns must come without --x and --y"),
        (["--given", "x"], "--given must come with"),
        (["--x", "x", "--y", "y", "--method", "best"], "method must be one of"),
        (["--x", "x", "--y", "y", "--level", "2"], "--level must lie"),
        (["--missing", "keep"], "'keep' is not one of 'indicator', 'drop', 'error'"),
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
    for option in ("--x", "--y", "--given", "--method", "--json", "--plot", "--missing",
                   "--columns", "--drop"):  # fmt: skip
        assert option in out


def test_all_pairs_are_printed_with_intervals_and_verdicts(capsys, table):
    code, out, _ = run(capsys, "mi", table)
    assert code == 0
    first = out.splitlines()[0]
    assert first.startswith("6 pairs of 4 columns in 600 rows: 'x' and 'label' share most")
    assert "95 % interval" in out and "trusted" in out
    # What is missing is a level: every pair has all rows.
    assert "'gap' has 12 missing values" in " ".join(out.split())
    assert "note:" not in run(capsys, "mi", table, "--quiet")[1]


def test_columns_can_be_named_and_left_out(capsys, table):
    named = json.loads(run(capsys, "mi", table, "--columns", "y,x", "--json")[1])
    assert named["names"] == ["y", "x"] and len(named["pairs"]) == 1
    left = json.loads(run(capsys, "mi", table, "--drop", "label,gap", "--json")[1])
    assert left["names"] == ["x", "y"]
    one = left["pairs"][0]
    # Truth 0.511.
    assert one["low"] < 0.511 < one["high"] and one["trusted"] is True
    assert left["low"][0][1] == one["low"] and left["matrix"][0][0] == "inf"


def test_a_rare_level_and_a_constant_stop_nothing(capsys, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    delay = np.round(rng.exponential(10, 120))
    carrier = np.where(delay > 10, "AA", "UA")
    carrier[3] = "OO"
    lines = [f"{a},{b},2013" for a, b in zip(carrier, delay, strict=True)]
    path.write_text("\n".join(["carrier,delay,year", *lines]) + "\n")
    code, out, _ = run(capsys, "mi", path, "--json")
    found = json.loads(out)
    assert code == 0
    assert {(p["x"], p["y"]): p["value"] for p in found["pairs"]}["delay", "year"] == 0.0
    code, out, _ = run(capsys, "mi", path, "--x", "carrier", "--y", "delay")
    assert code == 0 and out.startswith("I(carrier; delay)")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_too_many_columns_are_refused_before_the_rows_are_read(
    capsys, tmp_path, monkeypatch, ending
):
    path = tmp_path / f"wide.{ending}"
    names = [f"c{k}" for k in range(20_000)]
    if ending == "csv":
        path.write_text(",".join(names) + "\n" + ",".join(["1"] * 20_000) + "\n")
    else:
        import pyarrow as pa
        from pyarrow import parquet

        parquet.write_table(pa.table({name: [1.0] for name in names[:400]}), path)
    monkeypatch.setattr("isthmus.tables.reading.read_table", None)
    code, _, err = run(capsys, "mi", path)
    assert code == 2 and len(err.splitlines()) == 1
    assert (
        f"at most 300 columns for all pairs of them; received {'20,000' * (ending == 'csv')}" in err
    )
    assert "--columns" in err and "mi_scores(X, y)" in err


def test_progress_is_told_on_a_terminal(capsys, table, monkeypatch):
    told = []

    @contextmanager
    def bar(*, wanted):
        yield (lambda *each: told.append(each)) if wanted else None

    monkeypatch.setattr("isthmus.cli.terminal.progress_bar", bar)
    run(capsys, "mi", table, "--columns", "x,y,label")
    assert [each[:2] for each in told] == [(0, 3), (1, 3), (2, 3)]
