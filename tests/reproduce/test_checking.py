"""A record of other code holds where some of its cells give the same again, and only there."""

from __future__ import annotations

import pytest

from isthmus import cli
from isthmus.reproduce import record, run_experiment
from isthmus.reproduce.checking import check_record
from isthmus.reproduce.record import read
from isthmus.reproduce.runner import Stopped


@pytest.fixture
def stale(toy, tmp_path, monkeypatch):
    """An experiment whose record is of other code, with what changes its numbers."""
    run_experiment(toy, tmp_path, seeds=2, jobs=1)
    (tmp_path / "toy" / "cells.jsonl").unlink()
    monkeypatch.setattr(record, "version_of", lambda name: "other")

    def change():
        path = tmp_path / "module" / "toy_experiment.py"
        old = 'cell["seed"] / 3'
        path.write_text(path.read_text().replace(old, '(cell["seed"] + (kind == "loud")) / 3'))

    toy.change = change
    return toy


def test_a_record_whose_cells_give_the_same_holds(stale, tmp_path):
    before = read(tmp_path / "toy" / "record.json")
    assert record.changed_parts(before)
    found = check_record(stale, tmp_path).record
    # One of each kind was run again, and every number stays as it was.
    assert sorted(cell["kind"] for cell in found["checked"]["cells"]) == ["fine", "loud"]
    assert found["checked"]["of"] == 4 and not found["checked"]["removed"]
    after = read(tmp_path / "toy" / "record.json")
    assert record.changed_parts(after) == [] and after["results"] == before["results"]
    assert after["checked"]["made_with"] == before["parts"]
    assert check_record(stale, tmp_path) is None
    # A later run goes on from it, and still says that it was checked.
    again = run_experiment(stale, tmp_path, seeds=2, jobs=1)
    assert again.record["checked"] == after["checked"] and len(stale.runs()) == 6


def test_a_kind_that_gives_other_numbers_is_taken_out_and_run_anew(stale, tmp_path):
    stale.change()
    found = check_record(stale, tmp_path).record
    assert [cell["kind"] for cell in found["checked"]["removed"]] == ["loud", "loud"]
    assert {each["kind"] for each in found["results"]} == {"fine"}
    assert [cell["kind"] for cell in found["missing"]] == ["loud", "loud"]
    whole = run_experiment(stale, tmp_path, seeds=2, jobs=1).record
    loud = [each["value"] for each in whole["results"] if each["kind"] == "loud"]
    assert loud == pytest.approx([1 / 3, 2 / 3]) and not whole["missing"]


def test_without_a_record_there_is_nothing_to_check(toy, tmp_path, capsys):
    with pytest.raises(Stopped, match="no record"):
        check_record(toy, tmp_path)
    assert cli.run(["reproduce", "figure-1", "--check", "--out", str(tmp_path)]) == 130
    assert "no record" in capsys.readouterr().err
    nothing = tmp_path / "nothing"
    assert cli.run(["reproduce", "all", "--check", "--out", str(nothing)]) != 0
    assert "--out must be a folder with records" in capsys.readouterr().err


def test_a_cell_that_differs_goes_and_another_of_its_kind_is_asked(stale, tmp_path):
    path = tmp_path / "module" / "toy_experiment.py"
    quick = min(read(tmp_path / "toy" / "record.json")["results"], key=lambda e: e["seconds"])
    one = {name: quick[name] for name in ("kind", "seed")}
    text = path.read_text()
    path.write_text(text.replace('cell["seed"] / 3', f'(cell["seed"] + (cell == {one})) / 3'))
    found = check_record(stale, tmp_path).record
    assert found["checked"]["removed"] == [one] == found["missing"]
    assert len(found["results"]) == 3
