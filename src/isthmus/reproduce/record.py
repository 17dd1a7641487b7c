"""What a run leaves behind: its cells line by line, and one record of everything.

A record is a JSON file with the settings, seeds, versions, machine, wall time and
every number of the run, so that a number quoted elsewhere can be traced.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Found = dict[str, Any]

FORMAT = 1
DIGITS = 9
PACKAGE = Path(__file__).parents[1]
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_SHOWING = ("cli.py", "_commands.py", "_show.py", "_terminal.py", "_figures.py", "_demo.py")
_FRAMEWORK = (
    "_command.py",
    "_draw.py",
    "_kl.py",
    "_pool.py",
    "_record.py",
    "_runner.py",
    "_show.py",
)
_IMPORT = re.compile(r"^\s*from \.(?:(\w+) import| import (.+)$)", re.MULTILINE)


def key(cell: Found) -> str:
    """What identifies a cell.

    Examples
    --------
    >>> key({"seed": 0, "method": "bdre"}) == key({"method": "bdre", "seed": 0})
    True
    """
    return json.dumps(cell, sort_keys=True)


def fingerprint(module: str) -> str:
    """Of the code that a cell's numbers depend on.

    That is the package without what only shows, and of the experiments the given
    module with those that it imports: work on one figure does not spoil another's cells.
    """
    inside = PACKAGE / "experiments"
    files = {path for path in PACKAGE.rglob("*.py") if inside not in path.parents}
    files -= {PACKAGE / name for name in _SHOWING}
    digest = hashlib.sha256()
    for path in [*sorted(files), *sorted(_with_imports(module.rpartition(".")[2]))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _with_imports(name: str, found: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """Files of the experiment's module and of the experiments' modules that it imports."""
    path = PACKAGE / "experiments" / f"{name}.py"
    if path in found or path.name in _FRAMEWORK or not path.exists():
        return found
    found |= {path}
    for one, several in _IMPORT.findall(path.read_text("utf-8")):
        for each in [one] if one else re.findall(r"\w+", several):
            found = _with_imports(each, found)
    return found


def lines_of(path: Path) -> list[Found]:
    """Lines of a JSON-lines file, without those that are empty or were cut short."""
    found = []
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        try:
            each = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(each, dict):
            found.append(each)
    return found


def append(path: Path, line: Found) -> None:
    """Add a line; the newline comes first, since the last line may have been cut short."""
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(line, allow_nan=False))


def write(path: Path, head: Found, results: list[Found]) -> None:
    """Write a record: what holds for the run with indentation, then a line for each cell."""
    text = json.dumps(plain(head), indent=1, ensure_ascii=False, allow_nan=False)
    rows = ",\n".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in results)
    body = f"[\n{rows}\n]" if rows else "[]"
    path.write_text(f'{text.removesuffix("}").rstrip()},\n "results": {body}\n}}\n', "utf-8")


def versions(used: Iterable[str] = ()) -> dict[str, str]:
    """Versions of what the numbers depend on, with the extras that were used."""
    from .. import __version__

    out = {"isthmus": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "matplotlib", *sorted(used)):
        try:
            out[name] = version(name)
        except PackageNotFoundError:
            out[name] = "unknown"
    return out


def machine() -> Found:
    """The machine: processor and number of cores."""
    return {"processor": _processor(), "cpu_count": os.cpu_count(), "system": platform.system()}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def one_thread() -> dict[str, str]:
    """An environment for a child process in which linear algebra uses one thread."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}


def plain(value: Any) -> Any:
    """What JSON can hold: no arrays or tuples, nine digits, None for what is not finite.

    Examples
    --------
    >>> plain({"a": (1, float("nan")), "b": 1 / 3})
    {'a': [1, None], 'b': 0.333333333}
    """
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)
