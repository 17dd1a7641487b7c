"""Scores in a folder: there when they are whole, and gone on with where a run was stopped."""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import parquet

import isthmus
from isthmus.cli.app import run
from isthmus.sources import as_source
from isthmus.storing import folders

FILES, ROWS = 5, 300


def table(n, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(n) + 1000 * seed,
            "age": rng.normal(40 + shift, 9, n),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], n),
        }
    )


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    p, q = (table(150, seed, shift).drop(["id"]) for seed, shift in ((0, 0.0), (1, 4.0)))
    found = isthmus.compare(p, q, critic="quadratic", folds=2, random_state=0)
    return found.save(tmp_path_factory.mktemp("model") / "model.isthmus")


@pytest.fixture
def rows(tmp_path):
    found = tmp_path / "rows"
    found.mkdir()
    for k in range(FILES):
        parquet.write_table(table(ROWS, k, 1.0), found / f"{k}.parquet")
    return found


def wanted(model, rows):
    """Keys and log-ratios of all rows, in memory."""
    every = parquet.read_table(rows)
    return every["id"].to_numpy(), isthmus.load(model).log_ratio(every)


def same(out, model, rows):
    found = parquet.read_table(out)
    ids, log_ratio = wanted(model, rows)
    assert np.array_equal(found["id"].to_numpy(), ids)
    assert np.array_equal(found["log_ratio"].to_numpy(), log_ratio)
    return found


class Stopped(Exception):
    """What stops a run."""


def stop_after(parts):
    """A progress bar that stops the run."""

    def progress(done, total, what):
        if done >= parts * ROWS:
            raise Stopped

    return progress


def test_a_folder_has_all_scores_in_order(model, rows, tmp_path):
    out = tmp_path / "out"
    loaded = isthmus.load(model)
    assert isthmus.score(loaded, rows, out, columns=["id"], weights=True) == FILES * ROWS
    found = same(out, model, rows)
    assert np.array_equal(found["weight"].to_numpy(), np.exp(found["log_ratio"].to_numpy()))
    assert len(list(out.glob("part-*.parquet"))) == FILES
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows"]
    # Their pages have checksums, too.
    path = out / "part-00002.parquet"
    content = bytearray(path.read_bytes())
    content[content.find(b"PAR1") + 900] ^= 1
    path.write_bytes(content)
    with pytest.raises(OSError, match=r"checksum|CRC"):
        parquet.ParquetFile(path, page_checksum_verification=True).read()


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: str(rows),
        lambda rows: ds.dataset(rows),
        lambda rows: ds.dataset(rows).filter(ds.field("age") > -1e9),
        lambda rows: [parquet.read_table(path) for path in sorted(rows.iterdir())],
        lambda rows: as_source(rows, "p"),
        lambda rows: parquet.read_table(rows),
        lambda rows: parquet.read_table(rows).to_pandas(),
        lambda rows: parquet.read_table(rows).to_pydict(),
    ],
)
def test_whatever_holds_the_rows(form, model, rows, tmp_path):
    loaded = isthmus.load(model)
    isthmus.score(loaded, form(rows), tmp_path / "out", columns=["id"])
    same(tmp_path / "out", model, rows)
    isthmus.score(loaded, form(rows), tmp_path / "out.parquet", columns=["id"])
    same(tmp_path / "out.parquet", model, rows)
    assert np.array_equal(loaded.log_ratio(form(rows)), wanted(model, rows)[1])
    assert np.array_equal(loaded.weights(form(rows)), np.exp(wanted(model, rows)[1]))


def test_a_run_goes_on_where_it_stopped(model, rows, tmp_path, monkeypatch):
    out, work = tmp_path / "out", tmp_path / "out.unfinished"
    loaded = isthmus.load(model)
    with pytest.raises(Stopped):
        isthmus.score(loaded, rows, out, columns=["id"], progress=stop_after(3))
    assert not out.exists() and len(list(work.glob("part-*"))) == 3
    written = {path.name: path.stat().st_mtime_ns for path in work.glob("part-*")}
    # One of them is damaged, which its length shows.
    (work / "part-00001.parquet").write_bytes(b"PAR1")
    told = []
    isthmus.score(loaded, rows, out, columns=["id"], progress=lambda *a: told.append(a[0]))
    assert told == [900, 1200, 1500]
    same(out, model, rows)
    assert (out / "part-00002.parquet").stat().st_mtime_ns == written["part-00002.parquet"]
    assert not work.exists()
    # What is done is not done again.
    changed = out.stat().st_mtime_ns
    assert isthmus.score(loaded, rows, out, columns=["id"]) == FILES * ROWS
    assert out.stat().st_mtime_ns == changed


@pytest.mark.parametrize("change", ["rows", "columns", "model"])
def test_another_run_does_not_go_on_with_it(change, model, rows, tmp_path):
    out = tmp_path / "out"
    loaded = isthmus.load(model)
    with pytest.raises(Stopped):
        isthmus.score(loaded, rows, out, columns=["id"], progress=stop_after(3))
    if change == "rows":
        parquet.write_table(table(ROWS, 1, 2.0), rows / "1.parquet")
    if change == "model":
        p, q = (table(150, seed, shift).drop(["id"]) for seed, shift in ((5, 0.0), (6, 5.0)))
        loaded = isthmus.compare(p, q, critic="quadratic", folds=2, random_state=0)
    columns = ["id", "town"] if change == "columns" else ["id"]
    told = []
    isthmus.score(loaded, rows, out, columns=columns, progress=lambda *a: told.append(a[0]))
    assert told == [ROWS * k for k in range(1, FILES + 1)]
    found = parquet.read_table(out)
    assert np.array_equal(found["log_ratio"].to_numpy(), loaded.log_ratio(parquet.read_table(rows)))


def test_rows_that_nobody_can_recognise_are_scored_anew(model, rows, tmp_path):
    batches = [parquet.read_table(path) for path in sorted(rows.iterdir())]
    loaded, out = isthmus.load(model), tmp_path / "out"
    with pytest.raises(Stopped):
        isthmus.score(loaded, batches, out, progress=stop_after(3))
    told = []
    isthmus.score(loaded, batches, out, progress=lambda *a: told.append(a[0]))
    assert told[0] == ROWS


def test_a_folder_that_holds_something_else_is_left_alone(model, rows, tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"target must be a new folder.*which holds mine\.txt"):
        isthmus.score(isthmus.load(model), rows, out)
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    assert run(["score", str(model), str(rows), "-o", str(out)]) == 2
    assert "-o must be a new folder" in capsys.readouterr().err
    (out / "mine.txt").unlink()
    assert run(["score", str(model), str(rows), "-o", str(out), "--columns", "id"]) == 0
    same(out, model, rows)


def test_a_folder_of_somebody_else_is_not_removed(model, rows, tmp_path):
    mine = tmp_path / "out.unfinished" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(ValueError, match=r"target becomes with \.unfinished must be a new folder"):
        isthmus.score(isthmus.load(model), rows, tmp_path / "out")
    assert mine.read_text() == "mine"


@contextmanager
def small_disk(room):
    """Files cannot grow beyond so many bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", ["out", "out.parquet", "out.csv"])
def test_a_full_disk_leaves_nothing_that_looks_whole(name, model, rows, tmp_path):
    out, loaded = tmp_path / name, isthmus.load(model)
    with small_disk(1500), pytest.raises(OSError, match="cannot be written") as caught:
        isthmus.score(loaded, rows, out, columns=["id"])
    assert caught.value.errno == errno.EFBIG
    assert ("part-00000.parquet" if name == "out" else name) in str(caught.value.filename)
    assert not out.exists()
    left = [path.name for path in tmp_path.rglob("*") if path.is_file() and path.parent != rows]
    assert left == (["_isthmus.json"] if name == "out" else [])
    isthmus.score(loaded, rows, out, columns=["id"])
    assert out.exists()


SLOW = """
import os, sys, time
import isthmus
def slow(done, total, what):
    print("begun", flush=True)
    time.sleep(60)
isthmus.score(isthmus.load(sys.argv[1]), sys.argv[2], sys.argv[3], columns=["id"], progress=slow)
"""


def test_a_killed_run_is_gone_on_with(model, rows, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-c", SLOW, str(model), str(rows), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(signal.SIGKILL)
    assert not out.exists()
    told = []
    loaded = isthmus.load(model)
    isthmus.score(loaded, rows, out, columns=["id"], progress=lambda *a: told.append(a[0]))
    assert told[0] == 2 * ROWS
    same(out, model, rows)


def test_ctrl_c_on_the_command_line(model, rows, tmp_path, monkeypatch, capsys):
    def interrupted(self, batches, first):
        if first >= 2 * ROWS:
            raise KeyboardInterrupt
        return original(self, batches, first)

    original = folders.WritePart.__call__
    monkeypatch.setattr(folders.WritePart, "__call__", interrupted)
    arguments = ["score", str(model), str(rows), "-o", str(tmp_path / "out"), "--columns", "id"]
    assert run(arguments) == 130
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    assert run(arguments) == 0
    same(tmp_path / "out", model, rows)


def test_rows_that_changed_in_the_middle_are_refused(model, rows, tmp_path):
    def change(done, total, what):
        parquet.write_table(table(ROWS, 9, 2.0), rows / "4.parquet")

    with pytest.raises(ValueError, match=r"4\.parquet: the file must stay as it is"):
        isthmus.score(isthmus.load(model), rows, tmp_path / "out", progress=change)
    assert not (tmp_path / "out").exists()


def test_text_and_arrays_do_not_go_to_folders(model, rows, tmp_path, capsys):
    (tmp_path / "a.csv").write_text("id,age,town\n1,40,Bonn\n")
    assert run(["score", str(model), str(tmp_path / "a.csv"), "-o", str(tmp_path / "out")]) == 2
    assert "a.csv: must be Parquet where" in capsys.readouterr().err
    with pytest.raises(ValueError, match="must be a table with named columns"):
        isthmus.score(isthmus.load(model), [np.zeros((3, 2))], tmp_path / "out")


def test_the_manifest_says_what_is_there(model, rows, tmp_path):
    isthmus.score(isthmus.load(model), rows, tmp_path / "out", columns=["id"])
    found = json.loads((tmp_path / "out" / folders.MANIFEST).read_text())
    assert found["rows"] == FILES * ROWS and len(found["files"]) == FILES
    assert found["job"]["columns"] == ["id", "log_ratio"]
    assert all(os.path.exists(tmp_path / "out" / name) for name in found["files"])


def test_frames_and_arrays_of_dask_are_scored_when_they_are_asked_for(model, rows):
    frames = pytest.importorskip("dask.dataframe")
    arrays = pytest.importorskip("dask.array")
    whole = parquet.read_table(rows).to_pandas()
    lazy = frames.from_pandas(whole, npartitions=3)
    loaded = isthmus.load(model)
    found = loaded.log_ratio(lazy)
    assert found.name == "log_ratio" and str(found.dtype) == "float64"
    assert found.divisions == lazy.divisions
    log_ratio = loaded.log_ratio(whole)
    done = found.compute(scheduler="synchronous")
    assert np.array_equal(done.to_numpy(), log_ratio) and done.index.equals(whole.index)
    weight = loaded.weights(lazy, normalise=True).compute(scheduler="synchronous")
    # A mean by partitions is that of all rows up to rounding.
    np.testing.assert_allclose(weight, loaded.weights(whole, normalise=True), rtol=1e-12)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    c = isthmus.compare(x, x + 1, critic="quadratic", folds=2, random_state=0)
    made = c.log_ratio(arrays.from_array(x, chunks=(20, 1)))
    assert made.shape == (60,)
    assert np.array_equal(made.compute(scheduler="synchronous"), c.log_ratio(x))


def test_workers_of_dask_write_the_same(model, rows, tmp_path):
    distributed = pytest.importorskip("distributed")
    frames = pytest.importorskip("dask.dataframe")
    loaded = isthmus.load(model)
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as client:
        isthmus.score(loaded, rows, tmp_path / "out", columns=["id"], client=client)
        lazy = frames.from_pandas(parquet.read_table(rows).to_pandas(), npartitions=2)
        isthmus.score(loaded, lazy, tmp_path / "lazy", columns=["id"], client=client)
    same(tmp_path / "out", model, rows)
    same(tmp_path / "lazy", model, rows)
