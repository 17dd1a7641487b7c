"""Print the lowest versions that pyproject.toml allows, as lines that pip installs.

A floor becomes ``name==floor``; what others bring with them is left to pip.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("tables", "files", "test")
_FLOOR = re.compile(r"([A-Za-z0-9._-]+)>=([0-9][0-9.]*)")


def lowest(project: Path = PROJECT, extras: tuple[str, ...] = EXTRAS) -> list[str]:
    """Lines such as ``numpy==2.0``, for the core and some extras."""
    given = tomllib.loads(project.read_text("utf-8"))["project"]
    lines = [*given["dependencies"]]
    for extra in extras:
        lines += [line for line in given["optional-dependencies"][extra] if "[" not in line]
    found = []
    for line in lines:
        match = _FLOOR.match(line)
        if match is None:
            raise ValueError(
                f"{project.name} must give a floor such as numpy>=2.0; received {line!r}."
            )
        found.append(f"{match[1]}=={match[2]}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest()) + "\n")
