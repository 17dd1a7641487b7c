"""Fill in what the first examples of the README and of the first page print.

    python docs/make_shown.py

The blocks of Python before the mark ``<!-- shown -->`` are run in an empty folder, those that
readers do not see too.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
import warnings
from pathlib import Path

from _fill import fill_in

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "start.md")
_BLOCK = re.compile(r"^(?:```|<!-- )(?:python|setup)\n(.*?)^(?:```|-->)$", re.DOTALL | re.M)


def shown_by(page: Path) -> str:
    """What the blocks before the mark print, as a block."""
    before, _, _ = page.read_text("utf-8").partition("<!-- shown -->")
    out, names = io.StringIO(), {"__name__": page.stem}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a real table may well deserve advice
            for code in _BLOCK.findall(before):
                exec(compile(code, page.name, "exec"), names)
    return f"```text\n{out.getvalue().rstrip()}\n```"


if __name__ == "__main__":
    for each in PAGES:
        fill_in(each, {"shown": shown_by(each)})
