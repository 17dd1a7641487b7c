"""Nothing that lies in the current directory is run."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Names of libraries that a command imports, and some of Python's own that come late.
NAMES = ("numpy", "scipy", "sklearn", "pyarrow", "typer", "click", "rich", "joblib", "matplotlib",
         "threadpoolctl", "narwhals", "typing", "json", "csv", "argparse", "socket",
         "secrets", "tempfile", "difflib", "concurrent", "multiprocessing")  # fmt: skip
COMMANDS = {
    "compare": ["compare", "a.csv", "a.csv", "--quiet", "--plot", "a.png"],
    "reproduce": ["reproduce", "figure-1", "--quick", "--seeds", "1", "--jobs", "1"],
}


@pytest.fixture
def hostile(tmp_path):
    """A folder whose files say so if they are run."""
    for name in NAMES:
        text = f"open({str(tmp_path / 'RAN')!r}, 'a').write({name!r}); raise SystemExit('ran')"
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "a.csv").write_text("x\n" + "\n".join(str(k / 7) for k in range(12)))
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_python_m_runs_nothing_of_the_current_directory(hostile, name):
    command = [sys.executable, "-m", "isthmus", *COMMANDS[name]]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=hostile, capture_output=True, text=True, env=environment)
    assert not (hostile / "RAN").exists(), (hostile / "RAN").read_text()
    assert done.returncode == 0, done.stderr


def test_the_console_script_runs_nothing_either(hostile):
    # A file of the package's own name as well: only `python -m` looks for that here.
    (hostile / "isthmus.py").write_text("open('RAN', 'w')")
    script = hostile.parent / "isthmus-script"
    script.write_text("import sys\nfrom isthmus.cli import main\nsys.exit(main())\n")
    command = [sys.executable, script, "compare", "a.csv", "a.csv", "--quiet"]
    done = subprocess.run(command, cwd=hostile, capture_output=True, text=True)
    assert (done.returncode, (hostile / "RAN").exists()) == (0, False), done.stderr


def test_the_package_may_lie_in_the_current_directory():
    import isthmus

    source = os.path.dirname(os.path.dirname(isthmus.__file__))
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-m", "isthmus", "--version"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, env=environment)
    assert done.stdout == f"isthmus {isthmus.__version__}\n", done.stderr
