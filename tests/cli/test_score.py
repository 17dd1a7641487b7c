"""``isthmus score`` from the outside."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, ipc, parquet

import isthmus
from isthmus.cli.app import run


def table(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"{k:05d}" for k in range(n)],
            "age": rng.normal(40 + 4 * shift, 9, n).round(1),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("score")


@pytest.fixture(scope="module")
def model(folder):
    p, q = (table(150, seed, shift).drop(["id"]) for seed, shift in ((0, 0.0), (1, 1.0)))
    found = isthmus.compare(p, q, critic="quadratic", folds=2, random_state=0)
    return found.save(folder / "model.isthmus")


@pytest.fixture(scope="module")
def new(folder, model):
    """New rows in every form, and their log-ratios."""
    # More than one block, and not a whole number of them.
    rows = table(70_001, 2)
    csv.write_csv(rows, folder / "new.csv")
    parquet.write_table(rows, folder / "new.parquet")
    feather.write_feather(rows, folder / "new.arrow")
    with ipc.new_stream(folder / "new.arrows", rows.schema) as out:
        out.write_table(rows)
    (folder / "new.csv.gz").write_bytes(gzip.compress((folder / "new.csv").read_bytes(), 1))
    lines = (
        f'{{"id": "{i}", "age": {age}, "town": "{town}"}}'
        for i, age, town in zip(*(column.to_pylist() for column in rows.columns), strict=True)
    )
    (folder / "new.jsonl").write_text("\n".join(lines))
    with_marks = (folder / "new.csv").read_text().replace(",", ";").replace(".", ",")
    (folder / "german.csv").write_text(with_marks)
    return rows, isthmus.load(model).log_ratio(rows.drop(["id"]))


def score(*arguments, given=b""):
    """Run the command in a process of its own: standard output is bytes."""
    command = [sys.executable, "-m", "isthmus", "score", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, check=False)


@pytest.mark.parametrize(
    "name",
    ["new.csv", "new.csv.gz", "german.csv", "new.parquet", "new.arrow", "new.arrows", "new.jsonl"],
)
def test_every_form_gives_the_same(name, folder, model, new):
    out = folder / "out.parquet"
    assert run(["score", str(model), str(folder / name), "-o", str(out), "--columns", "id"]) == 0
    found, (rows, wanted) = parquet.read_table(out), new
    assert found.column_names == ["id", "log_ratio"]
    assert np.array_equal(found["log_ratio"].to_numpy(), wanted)
    ids = found["id"].to_pylist()
    # A text file does not say that its digits are text.
    assert [int(one) for one in ids] == [int(one) for one in rows["id"].to_pylist()]


def test_weights_are_not_scaled(folder, model, new):
    out = folder / "out.arrow"
    assert run(["score", str(model), str(folder / "new.parquet"), "-o", str(out), "--weights"]) == 0
    found = feather.read_table(out)
    assert np.array_equal(found["weight"].to_numpy(), np.exp(new[1]))


def test_pipes(folder, model, new):
    given = (folder / "new.csv").read_bytes()
    done = score(model, "-", "--columns", "id,town", given=given)
    assert done.returncode == 0
    assert done.stdout.startswith(b'"id","town","log_ratio"\n')
    found = csv.read_csv(io.BytesIO(done.stdout))
    # CSV has the digits that bring the same number back.
    assert np.array_equal(found["log_ratio"].to_numpy(), new[1])
    given = (folder / "new.parquet").read_bytes()
    done = score(model, "-", "-o", "-", "--format", "arrow", given=given)
    assert np.array_equal(ipc.open_stream(done.stdout).read_all()["log_ratio"].to_numpy(), new[1])


def test_compare_saves_what_score_loads(folder, capsys):
    for name, seed, shift in (("a.csv", 0, 0.0), ("b.csv", 1, 1.0)):
        csv.write_csv(table(120, seed, shift).drop(["id"]), folder / name)
    a, b, saved = folder / "a.csv", folder / "b.csv", folder / "saved.isthmus"
    assert run(["compare", str(a), str(b), "--save", str(saved), "--quiet"]) == 0
    assert run(["score", str(saved), str(a), "-o", str(folder / "own.csv"), "--quiet"]) == 0
    found = csv.read_csv(folder / "own.csv")["log_ratio"].to_numpy()
    assert np.array_equal(found, isthmus.load(saved).log_ratio(csv.read_csv(a)))
    assert isthmus.load(saved).call.startswith("isthmus compare")


def test_new_levels_are_told_of(folder, model, capsys):
    (folder / "far.csv").write_text("id,age,town\n1,40,Atlantis\n2,41,Bonn\n")
    out = folder / "far.out.csv"
    assert run(["score", str(model), str(folder / "far.csv"), "-o", str(out)]) == 0
    assert "Atlantis" in capsys.readouterr().err
    assert len(out.read_text().splitlines()) == 3


def test_truth_values_and_whole_numbers_are_read_as_the_model_knows_them(folder):
    rng = np.random.default_rng(0)
    p, q = (
        {"is_new": rng.random(200) < share, "count": rng.poisson(9 * share, 200) / 2}
        for share in (0.3, 0.6)
    )
    found = isthmus.compare(p, q, critic="quadratic", folds=2, random_state=0)
    saved = found.save(folder / "truth.isthmus")
    (folder / "truth.csv").write_text("is_new,count\ntrue,1\nfalse,2\ntrue,2.5\n")
    (folder / "truth.json").write_text(
        '[{"is_new": true, "count": 1}, {"is_new": false, "count": 2},'
        ' {"is_new": true, "count": 2.5}]'
    )
    wanted = found.log_ratio({"is_new": [True, False, True], "count": [1.0, 2.0, 2.5]})
    for name in ("truth.csv", "truth.json"):
        out = folder / "truth.parquet"
        assert run(["score", str(saved), str(folder / name), "-o", str(out)]) == 0
        assert np.array_equal(parquet.read_table(out)["log_ratio"].to_numpy(), wanted)


def test_an_empty_day(folder, model):
    (folder / "empty.csv").write_text("id,age,town\n")
    out = folder / "empty.parquet"
    arguments = ["score", str(model), str(folder / "empty.csv"), "-o", str(out), "--columns", "id"]
    assert run([*arguments, "--weights"]) == 0
    assert parquet.read_table(out).shape == (0, 3)


def test_a_model_of_arrays_takes_columns_by_their_order(folder):
    rng = np.random.default_rng(0)
    X, y = isthmus.stack(rng.normal(0, 1, (100, 2)), rng.normal(1, 1, (100, 2)))
    mdre = isthmus.MDRE(critic="quadratic", anchor="gaussian", random_state=0).fit(X, y)
    saved = mdre.save(folder / "arrays.isthmus")
    (folder / "xy.csv").write_text("key,x,y\na,0.5,1\nb,1.5,2\n")
    out = folder / "xy.out.csv"
    arguments = ["score", str(saved), str(folder / "xy.csv"), "-o", str(out), "--columns", "key"]
    assert run(arguments) == 0
    found = csv.read_csv(out)
    assert np.array_equal(found["log_ratio"].to_numpy(), mdre.log_ratio([[0.5, 1], [1.5, 2]]))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing.isthmus", "new.csv"], "nothing.isthmus: there is no such file"),
        (["new.csv", "new.csv"], "new.csv: it is not a whole file of a model"),
        (["model.isthmus", "nothing.csv"], "nothing.csv: there is no such file"),
        (["model.isthmus", "new.csv", "--columns", "key"], "--columns must name columns of the"),
        (["model.isthmus", "new.csv", "-o", "out.txt"], "-o must end in one of .parquet"),
        (["model.isthmus", "new.csv", "--format", "xls"], "--format must be one of parquet"),
        (["model.isthmus", "new.csv", "--format", "parquet"], "cannot be written to a pipe"),
        (["model.isthmus", "without.csv"], "without.csv: must have the columns"),
        (["model.isthmus", "words.csv"], "words.csv: "),
        (["model.isthmus", "taken.csv", "--columns", "log_ratio"], "rename it first"),
        (["model.isthmus", "nothing_in_it.csv"], "nothing_in_it.csv: the file is empty"),
        (["model.isthmus", "hollow"], "hollow: a folder must hold files whose names end"),
    ],
)
def test_errors_are_one_sentence(arguments, told, folder, model, new, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "without.csv").write_text("id,age\n1,40\n")
    (folder / "words.csv").write_text("id,age,town\n1,40,Bonn\n2,forty,Bonn\n")
    (folder / "taken.csv").write_text("log_ratio,age,town\n1,40,Bonn\n")
    (folder / "nothing_in_it.csv").write_text("")
    (folder / "hollow").mkdir(exist_ok=True)
    before = sorted(folder.iterdir())
    assert run(["score", *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_what_fails_half_way_leaves_the_old_file(folder, model):
    out = folder / "kept.csv"
    out.write_text("old")
    rows = ["id,age,town"] + [f"{k},40,Bonn" for k in range(400_000)] + ["x,forty,Bonn"]
    (folder / "bad.csv").write_text("\n".join(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run(["score", str(model), str(folder / "bad.csv"), "-o", str(out)]) == 2
    assert out.read_text() == "old"
    assert not list(folder.glob(".*part*"))
