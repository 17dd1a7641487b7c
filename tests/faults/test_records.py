"""Records of runs: cut short, changed in one place, or something else altogether."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from isthmus.cli import app as cli
from isthmus.reproduce import Experiment, record, run_experiment
from isthmus.reproduce import command as reproduce_command

LINE = {"code": "abc", "cell": {"seed": 0}, "found": {"kl": 1.25, "seconds": 0.1, "used": []}}


@pytest.fixture
def cells(tmp_path):
    path = tmp_path / "cells.jsonl"
    for seed in range(3):
        record.append(path, {**LINE, "cell": {"seed": seed}})
    return path


def without_digest(path):
    lines = record.lines_of(path)
    return [{k: v for k, v in line.items() if k != record.DIGEST} for line in lines]


def test_lines_are_read_as_they_were_written(cells):
    assert without_digest(cells) == [{**LINE, "cell": {"seed": seed}} for seed in range(3)]


def test_a_line_cut_short_is_left_out_wherever_it_ends(cells):
    whole = cells.read_bytes()
    last = whole.rindex(b"\n")
    for end in range(last, len(whole)):
        cells.write_bytes(whole[:end])
        record.append(cells, LINE)  # a run that goes on after one that was killed
        assert [each["cell"]["seed"] for each in record.lines_of(cells)] == [0, 1, 0]


def test_no_flipped_bit_is_believed(cells):
    """Either the line is no longer JSON, and is run again, or it is refused."""
    whole, believed = cells.read_bytes(), without_digest(cells)
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.choice(len(whole), 200, replace=False):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        cells.write_bytes(changed)
        try:
            found = without_digest(cells)
        except ValueError as error:
            assert "cells.jsonl, line " in str(error) and "--anew" in str(error)
            refused += 1
            continue
        assert all(line in believed for line in found)
    assert refused > 50


@pytest.mark.parametrize(
    "line", ["{}", "[]", "3", '"text"', "null", '{"code": "x"}', '{"code": "x", "cell": 3}']
)
def test_a_line_of_the_wrong_form_is_named(cells, line):
    with cells.open("a") as file:
        file.write("\n" + line)
    with pytest.raises(ValueError, match=r"cells\.jsonl, line 5: must be as isthmus wrote it"):
        record.lines_of(cells)


def test_a_changed_record_is_refused(tmp_path):
    path = tmp_path / "record.json"
    record.write(path, {"title": "a", "n": 3}, [{"kl": 1.25}])
    assert record.read(path) == {"title": "a", "n": 3, "results": [{"kl": 1.25}]}
    text = path.read_text()
    for changed in (text.replace("1.25", "1.35"), text[: len(text) // 2], "[]", ""):
        path.write_text(changed)
        with pytest.raises(ValueError, match=r"record\.json: must be"):
            record.read(path)


class Plain(Experiment):
    name, title, about = "plain", "Plain", "Counts."

    def run(self, cell):
        return {"value": 1.0}


def test_the_command_tells_of_a_changed_line_in_one_line(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "figure-1"
    folder.mkdir()
    (folder / "cells.jsonl").write_text(json.dumps({"code": "x", "cell": 3}))
    code = cli.run(["reproduce", "figure-1", "--quick", "--out", str(tmp_path)])
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    assert captured.err.count("\n") == 1 and "cells.jsonl, line 1: must be" in captured.err


def test_tables_are_shown_though_they_cannot_be_written(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("isthmus.reproduce.runner.run_cells", lambda *_: (each for each in ()))

    def full(*_):
        raise OSError(28, "cannot be written: No space left on device", "record.json")

    monkeypatch.setattr(record, "write", full)
    options = reproduce_command.Options(tmp_path, True, 1, 1, False, False)
    with pytest.raises(OSError, match="No space left"):
        reproduce_command.reproduce([Plain()], options)
    assert "Plain" in capsys.readouterr().out


def test_a_full_disk_is_told_by_the_name_of_the_file(tmp_path):
    with pytest.raises(OSError, match=r"cannot be written: No space left on device.*/dev/full"):
        record.append(Path("/dev/full"), LINE)


def test_a_run_without_cells_needs_no_process(tmp_path):
    assert run_experiment(Plain(), tmp_path, cells=[]).record["results"] == []
