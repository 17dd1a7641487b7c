"""Nothing is half written: full disks, folders that refuse, processes that are killed."""

from __future__ import annotations

import ast
import errno
import os
import resource
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import isthmus
from isthmus import MDRE, compare
from isthmus.cli import app as cli
from isthmus.cli.output import save_figure
from isthmus.files import check_target, written_whole
from isthmus.reproduce import Experiment, Table, record
from isthmus.reproduce.runner import Outcome, finish

PACKAGE = Path(isthmus.__file__).parent


@contextmanager
def small_disk(room=500):
    """Files cannot grow beyond so many bytes, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Drawn(Experiment):
    name, title, about = "drawn", "Drawn", "A figure and a table."

    def figures(self, results):
        figure = Figure()
        figure.subplots().plot(range(50))
        return {"line": figure}


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    settings = {"critic": "quadratic", "l2": 2.0, "anchor": "gaussian", "maps": None}
    return compare(
        rng.normal(size=40), rng.normal(1, 1, 40), estimator=MDRE(**settings), random_state=0
    )


def figure(suffix):
    return lambda folder, _: save_figure(
        lambda ax: ax.plot(np.arange(200) ** 2), folder / f"a{suffix}"
    )


def outcome(folder, _):
    rows = [[str(k), "1.0"] for k in range(200)]
    head = {"failed": [], "results": [{"seed": 0, "value": 1.0}]}
    finish(Outcome(Drawn(), folder, head, [Table("T", ["a", "b"], rows)]))


WRITERS = {
    "a.png": figure(".png"),
    "a.svg": figure(".svg"),
    "a.pdf": figure(".pdf"),
    "page.html": lambda folder, c: c.report(folder / "page.html", columns=0),
    "record.json": lambda folder, _: record.write(
        folder / "record.json", {"a": 1}, [{"value": k} for k in range(100)]
    ),
    "table.md": outcome,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("old", [True, False])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(name, old, tmp_path, comparison):
    if old:
        (tmp_path / name).write_bytes(b"old")
    with small_disk(), pytest.raises(OSError, match=f"cannot be written.*{name}") as caught:
        WRITERS[name](tmp_path, comparison)
    assert caught.value.errno == errno.EFBIG
    assert [path.name for path in tmp_path.iterdir()] == ([name] if old else [])
    assert not old or (tmp_path / name).read_bytes() == b"old"
    WRITERS[name](tmp_path, comparison)
    assert len((tmp_path / name).read_bytes()) > 500


def test_an_error_of_the_last_step_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    target.write_text("old")
    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:

            def full(*_):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            patch.setattr(os, step, full)
            with pytest.raises(OSError, match=r"No space left.*a\.txt"), written_whole(target) as d:
                d.write_text("new")
        assert target.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_an_error_about_something_else_is_left_as_it_is(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), written_whole(tmp_path / "a") as d:
        d.write_text("half")
        (tmp_path / "elsewhere").read_text()
    assert not list(tmp_path.iterdir())


def test_permissions_and_links_are_kept(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    with written_whole(link) as draft:
        draft.write_text("new")
    assert link.is_symlink() and real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    # A new file has the permissions that any other new file has.
    with written_whole(tmp_path / "fresh.txt") as draft:
        draft.write_text("new")
    (tmp_path / "plain.txt").write_text("")
    modes = {(tmp_path / name).stat().st_mode for name in ("fresh.txt", "plain.txt")}
    assert len(modes) == 1


@pytest.mark.parametrize("name", ["n" * 250, "é" * 120 + ".html", "a." + "s" * 240])
def test_a_name_may_be_as_long_as_names_may_be(tmp_path, name):
    with written_whole(tmp_path / name) as draft:
        draft.write_text("all")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_threads_that_write_one_file_do_not_meet(tmp_path):
    target, errors = tmp_path / "a.txt", []

    def write(text):
        try:
            for _ in range(20):
                with written_whole(target) as draft:
                    draft.write_text(text)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(letter * 10_000,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(set(target.read_text())) == 1 and len(list(tmp_path.iterdir())) == 1


SLOW = """
import sys, time
from isthmus.files import written_whole
with written_whole(sys.argv[1]) as draft:
    with draft.open("w") as file:
        file.write("half")
        file.flush()
        print("begun", flush=True)
        time.sleep(60)
"""


def test_a_killed_process_leaves_the_old_file_and_its_draft_is_removed(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with subprocess.Popen([sys.executable, "-c", SLOW, target], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"begun\n"
        drafts = [path for path in tmp_path.iterdir() if path != target]
        assert len(drafts) == 1 and drafts[0].name.startswith(".")
        # While the process lives nobody takes its draft away.
        with written_whole(target) as draft:
            draft.write_text("newer")
        assert drafts[0].exists()
        process.kill()
    assert target.read_text() == "newer" and drafts[0].exists()
    with written_whole(target) as draft:
        draft.write_text("newest")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is write-protected for root")
def test_a_folder_that_refuses_is_told_before_the_work(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(ValueError, match="--out must be where files may be written"):
        check_target(tmp_path / "a.txt", "--out")


def test_what_may_not_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    target = tmp_path / "a.txt"
    target.write_text("kept")
    for refused in (target, tmp_path):
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, mode, r=refused: Path(path) != r)
            with pytest.raises(ValueError, match=f"--out .*{refused.name} is write-protected"):
                check_target(target, "--out")
    with pytest.raises(ValueError, match="--out must be an ordinary file; received the device"):
        check_target("/dev/full", "--out")


ROWS = "x\n" + "\n".join(str(k % 7 + k / 9) for k in range(30)) + "\n"


@pytest.fixture
def tables(tmp_path):
    for name in ("p.csv", "q.csv"):
        (tmp_path / name).write_text(ROWS)
    return tmp_path


@pytest.mark.parametrize("form", [[], ["--json"], ["--quiet"]])
def test_the_answer_is_printed_though_the_disk_is_full(tables, capsys, monkeypatch, form):
    monkeypatch.chdir(tables)
    (tables / "a.png").write_bytes(b"old")
    command = ["compare", "p.csv", "q.csv", "--plot", "a.png", "--report", "a.html", *form]
    with small_disk():
        code = cli.run(command)
    captured = capsys.readouterr()
    assert code == cli.REFUSED and "nats" in captured.out
    assert "cannot be written: File too large" in captured.err and captured.err.count("\n") == 1
    assert (tables / "a.png").read_bytes() == b"old"
    assert sorted(path.name for path in tables.iterdir()) == ["a.png", "p.csv", "q.csv"]


def test_one_file_that_cannot_be_written_does_not_cost_the_other(tables, capsys, monkeypatch):
    monkeypatch.chdir(tables)
    command = ["mi", "p.csv", "--plot", "a.png"]
    (tables / "p.csv").write_text("x,y\n" + "\n".join(f"{k},{k * k % 11}" for k in range(40)))
    with small_disk():
        code = cli.run(command)
    captured = capsys.readouterr()
    assert code == cli.REFUSED and "nats" in captured.out and "a.png" in captured.err
    assert not (tables / "a.png").exists()


WRITE = {"write_text", "write_bytes", "savefig", "to_csv", "to_parquet", "write_table", "write_csv",
         "savez", "savez_compressed", "dump", "open_binary", "write_parquet"}  # fmt: skip
# Into memory, lines that are added to a file one by one, and tables into a file that is opened so.
ELSEWHERE = {
    "report/drawing.py": {"savefig"},
    "reproduce/record.py": {"open"},
    "storing/writing.py": {"write_table"},
}


def test_everything_is_written_by_the_one_writer():
    found = []
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text("utf-8"))
        safe = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.With) and "written_whole" in ast.unparse(node.items)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or id(node) in safe or place == "files.py":
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            name = node.func.id if isinstance(node.func, ast.Name) else name
            modes = [a.value for a in node.args if isinstance(a, ast.Constant)]
            writes = name in WRITE or (
                name == "open" and {"w", "wb", "a", "x"} & {*map(str, modes)}
            )
            if writes and name not in ELSEWHERE.get(place, ()):
                found.append(f"{place}:{node.lineno}: {name}")
    assert not found
