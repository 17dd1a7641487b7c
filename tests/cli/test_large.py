"""``isthmus compare`` on folders of more rows than are taken as a whole."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from isthmus.cli import cluster
from isthmus.cli.app import run
from isthmus.cli.cluster import Where
from isthmus.large import opening

ROWS = 900


def table(n, seed, shift):
    rng = np.random.default_rng(seed)
    columns = {f"x{k}": rng.normal(shift, 1, n).astype(np.float32) for k in range(2)}
    return pa.table({**columns, "town": rng.choice(["Bonn", "Kiel"], n)})


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    where = tmp_path_factory.mktemp("large")
    for name, shift in (("p", 0.0), ("q", 0.3)):
        (where / name).mkdir()
        for k in range(3):
            rows = table(ROWS // 3, 10 * ord(name) + k, shift)
            parquet.write_table(rows, where / name / f"{k}.parquet", row_group_size=400)
    return where


@pytest.fixture
def small(monkeypatch):
    """As if few rows were very many."""
    monkeypatch.setattr(opening, "LARGE", 500)


def test_folders_are_read_as_a_whole_where_they_are_small(folders):
    read = opening.opened(folders / "p", str(folders / "q"))
    assert not read.large
    for found, name in zip(read.samples, "pq", strict=True):
        assert found.equals(parquet.read_table(folders / name))


def test_folders_of_many_rows_are_read_in_parts(folders, small, capsys, tmp_path):
    saved = tmp_path / "model.isthmus"
    asked = ["compare", str(folders / "p"), str(folders / "q"), "--save", str(saved)]
    assert run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == {"p": ROWS, "q": ROWS}
    assert "of 900 and 900 rows" in found["rests_on"]
    # Two shifts of 0.3: the truth is 0.09, and the standard error of a mean of log-ratios with
    # standard deviation 0.42 is 0.02 for both samples together; four of them.
    assert abs(found["divergences"]["kl"]["value"] - 0.09) < 0.08
    assert found["columns"]["town"].startswith("text or categories")
    out = tmp_path / "out"
    assert run(["score", str(saved), str(folders / "p"), "-o", str(out), "--quiet"]) == 0
    assert parquet.read_table(out).num_rows == ROWS


def test_what_memory_has_no_room_for_is_read_in_parts(folders):
    sources = [str(folders / name) for name in "pq"]
    assert not opening.opened(*sources, memory=1e9).large
    assert opening.opened(*sources, memory=1e5).large


def test_messages_name_the_folders_and_the_options(folders, small, capsys):
    code = run(["compare", str(folders / "p"), str(folders / "q"), "--drop", "wage"])
    assert code == 2
    assert "--drop must name columns of a table; received ['wage']" in capsys.readouterr().err


STOPPED = """
import sys
from isthmus.cli import app
from isthmus.large import opening, passes
opening.LARGE = 500
def slow(self, *arguments):
    import time
    print("begun", flush=True)
    time.sleep(60)
passes.Passes.told = slow
sys.argv[1:] = ["compare", "p", "q", "--save", "model.isthmus", "--report", "out.html", "--quiet"]
app.main()
"""


def test_ctrl_c_in_a_pass_leaves_nothing(folders):
    before = sorted(path.name for path in folders.iterdir())
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED], cwd=folders, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert (process.returncode, error) == (130, "isthmus: stopped\n")
    assert sorted(path.name for path in folders.iterdir()) == before


def test_a_cluster_that_does_not_answer_is_refused(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "TIMEOUT", "200ms")
    where = Where.of("tcp://127.0.0.1:9", None, None)
    with pytest.raises(ValueError, match="--cluster must be the address of a Dask scheduler"):
        with where.client():
            pass


def test_memory_in_words():
    assert Where.of(None, None, "2GB").memory == 2e9
    half = Where.of(None, None, None).memory
    assert half is None or half < os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


HELD = """
import os, signal, time
from isthmus.cli.cluster import Where

if __name__ == "__main__":
    with Where.of(None, 1, None).client() as client:
        try:
            os.killpg(os.getpgid(0), signal.SIGINT)  # as a terminal does
            time.sleep(60)
        except KeyboardInterrupt:
            time.sleep(0.5)
            print(client.submit(sum, [1, 2]).result())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_are_not_told_of_ctrl_c(tmp_path):
    """Otherwise each of them would print a traceback."""
    pytest.importorskip("distributed")
    script = tmp_path / "held.py"
    script.write_text(HELD)
    found = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, start_new_session=True
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "3\n", "")


def test_a_cluster_that_does_not_answer_leaves_nothing_behind():
    """A client that never met its scheduler complains for 20 s when it is let go of."""
    pytest.importorskip("distributed")
    asked = (
        "from isthmus.cli.cluster import Where\n"
        "with Where.of('127.0.0.1', None, None).client(): pass"
    )
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    last = found.stderr.splitlines()[-1]
    assert last.startswith("ValueError: --cluster must be the address of a Dask scheduler")
    assert "Exception ignored" not in found.stderr
