"""Every snippet of the README and of the site is run, Python and commands.

A block that takes long or needs what is not there is marked in the line before it with
``<!-- not run: reason -->``; these are counted. What a reader need not see, such as how a file came
to be there, is Python in a comment that begins with ``<!-- setup``. Of the flights of New York
every sixth is there: what is printed has other digits than for a reader.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib
import pytest

from isthmus.cli import run

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if not {"_build", "gallery", "reproduction"} & set(page.relative_to(ROOT).parts)
    ),
]
BLOCK = re.compile(
    r"^(?:(<!-- not run: [^\n]+ -->)\n)?(?:```|<!-- )(python|sh|setup)\n(.*?)^(?:```|-->)$",
    re.DOTALL | re.M,
)
FENCED = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.M)


def snippets(page: Path) -> list[tuple[str, str, str]]:
    """Mark, language and text of each block that can be run."""
    return BLOCK.findall(page.read_text("utf-8"))


WITH_CODE = [page for page in PAGES if snippets(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_run_in_the_order_of_the_page(page, tmp_path, monkeypatch, capfd, few_flights):
    monkeypatch.chdir(tmp_path)  # reports and files go here
    matplotlib.use("Agg")
    names: dict[str, object] = {}
    for number, (mark, language, text) in enumerate(snippets(page)):
        if mark:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # real tables may well deserve advice
            if language != "sh":
                exec(compile(text, f"{page.name}, block {number}", "exec"), names)
            else:
                run_commands(text, capfd)


def run_commands(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Run lines that call isthmus; what installs or makes something is not ours to run."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if "isthmus" not in words:
            continue
        if {"|", ">", "<"} & set(words):
            ours = f'isthmus() {{ {shlex.quote(sys.executable)} -m isthmus "$@"; }}; {line}'
            code = subprocess.run(["bash", "-o", "pipefail", "-c", ours]).returncode
        else:
            code = run(words[1:])
        # 3 is the answer to a pipeline whose limit was exceeded.
        assert code in {0, 3}, (line, capfd.readouterr().err)


def test_nearly_all_snippets_are_run():
    marks = [mark for page in PAGES for mark, *_ in snippets(page) if mark]
    assert len(marks) <= 5, marks
    total = sum(len(snippets(page)) for page in PAGES)
    assert total > 40


def test_commands_and_python_are_named_as_such():
    """What looks like code of ours must not hide in a block that is not run."""
    command = re.compile(r"^isthmus (compare|mi|drift|score|weights) [\w./]+\.\w+", re.M)
    for page in PAGES:
        for language, block in FENCED.findall(page.read_text("utf-8")):
            if language not in {"python", "sh"}:
                assert "import isthmus" not in block, (page.name, block)
                assert not command.search(block), (page.name, block)
