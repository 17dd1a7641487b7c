"""References of drift as files: the same answers, and nothing else from a changed file."""

from __future__ import annotations

import json
import pickle
import zipfile

import numpy as np
import pytest

import isthmus
from isthmus.cli.app import run
from isthmus.drifting.reference import Profile


def table(n, seed, mean=0.0):
    rng = np.random.default_rng(seed)
    return {
        "day": np.repeat(np.arange("2024-03-01", "2024-03-05", dtype="M8[D]"), n // 4),
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(mean, 1, n)),
        "town": rng.choice(["Bonn", "Kiel", "Köln"], n),
        "nothing": np.full(n, np.nan),
    }


@pytest.fixture
def reference():
    return isthmus.drift_reference(table(400, 0))


def test_a_loaded_reference_gives_the_same_answers(reference, tmp_path):
    again = isthmus.load(reference.save(tmp_path / "r.isthmus"))
    assert again.names == reference.names and again.left_out == reference.left_out
    current = table(400, 1, 0.5) | {"town": ["Ulm"] * 400}
    first, second = (
        isthmus.drift(one, current, by="day", window="1d", random_state=0).to_dict()
        for one in (reference, again)
    )
    assert first == second and first["alarms"]
    whole = isthmus.drift(table(400, 0), current, by="day", window="1d", random_state=0)
    assert whole.to_dict() == first
    assert pickle.loads(pickle.dumps(again)).names == reference.names


def test_a_changed_file_is_refused(reference, tmp_path):
    path = reference.save(tmp_path / "r.isthmus")
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    content = json.loads(members["model.json"])
    for entry in content["objects"]:
        if entry["class"] == "drift.reference":
            entry["fields"]["rows"] = 7
    members["model.json"] = json.dumps(content).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    with pytest.raises(isthmus.ModelFileError):
        isthmus.load(path)


def test_counts_must_be_those_of_the_levels(reference):
    one = next(one for one in reference.profiles if one.name == "town")
    with pytest.raises(ValueError, match="counts of 'town'"):
        Profile(one.name, one.kind, one.edges, one.levels[:-1], one.counts, 0.0, 0.0, one.sample)
    with pytest.raises(ValueError, match="must have its rows"):
        isthmus.Reference(reference.profiles, 3)


def test_the_command_saves_a_reference_and_takes_it(tmp_path, capsys):
    import pyarrow as pa
    from pyarrow import csv

    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for file, made in zip(files, (table(400, 0), table(400, 1, 1.0)), strict=True):
        csv.write_csv(pa.table({name: made[name] for name in ("day", "age", "town")}), file)
    saved, common = tmp_path / "r.isthmus", ["--by", "day", "--window", "1d", "--json"]
    assert run(["drift", *map(str, files), *common, "--save-reference", str(saved)]) == 0
    first = capsys.readouterr().out
    assert run(["drift", str(saved), str(files[1]), *common, "--fail-above", "js=0.01"]) == 3
    second = json.loads(capsys.readouterr().out)
    assert second["windows"] == json.loads(first)["windows"] and second["alarms"]
    assert run(["score", str(saved), str(files[1])]) == 2
    assert "isthmus drift takes a reference" in capsys.readouterr().err
    rows = np.random.default_rng(0).normal(size=(2, 200, 1))
    model = isthmus.compare(*rows, critic="quadratic", random_state=0).save(tmp_path / "m.isthmus")
    assert run(["drift", str(model), str(files[1])]) == 2
    assert "REF must be a table or a reference" in capsys.readouterr().err
