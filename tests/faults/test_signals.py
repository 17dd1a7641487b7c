"""Readers that go away, Ctrl-C, and requests to end: the exit code, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from isthmus.cli import app as cli

SLOW = """
import sys, time
from isthmus.cli import app, output

def slow(draw, path, size=()):
    from isthmus.files import written_whole
    with written_whole(path) as draft:
        draft.write_text("half")
        print("begun", flush=True)
        time.sleep(60)

output.save_figure = slow
sys.argv[1:] = ["compare", "a.csv", "a.csv", "--quiet", "--plot", "a.png"]
app.main()
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.csv").write_text("x\n" + "\n".join(str(k / 7) for k in range(12)))
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "code", "told"),
    [(signal.SIGINT, cli.STOPPED, "isthmus: stopped\n"), (signal.SIGTERM, cli.TERMINATED, "")],
)
def test_a_command_that_is_stopped_leaves_nothing_half_written(folder, asked, code, told):
    command = [sys.executable, "-c", SLOW]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        answer = process.stdout.readline()
        assert process.stdout.readline() == "begun\n"
        process.send_signal(asked)
        _, error = process.communicate()
    assert "cannot be told apart" in answer
    assert (process.returncode, error) == (code, told)
    assert [path.name for path in folder.iterdir()] == ["a.csv"]


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "a.csv", "a.csv"]])
def test_a_reader_that_has_gone_away_is_no_error(folder, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "isthmus", *arguments]
    done = subprocess.run(command, cwd=folder, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (cli.GONE, "")


def test_output_that_does_not_fit_is_one_line_on_stderr(folder):
    command = [sys.executable, "-m", "isthmus", "compare", "a.csv", "a.csv"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == cli.REFUSED
    assert done.stderr == "isthmus: error: No space left on device\n"


def test_a_terminal_of_few_characters_can_show_the_answer(folder):
    name = "täßle‖.csv"
    (folder / "a.csv").rename(folder / name)
    # Not every name is text: this one is of another encoding.
    page = os.fsdecode(b"caf\xe9.html")
    command = [sys.executable, "-m", "isthmus", "compare", name, name, "--report", page]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=folder, capture_output=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"cannot be told apart" in done.stdout and b"Traceback" not in done.stderr
    assert (folder / page).read_text("utf-8").endswith("</html>\n")
