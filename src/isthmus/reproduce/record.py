"""What a run leaves behind: its cells line by line, and one record of everything.

A record is a JSON file with the settings, seeds, versions, machine, wall time and
every number of the run, so that a number quoted elsewhere can be traced.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import os
import platform
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

from ..files import written_whole

Fields: TypeAlias = dict[str, Any]
"""A cell, its numbers or a record: what JSON can hold, by name."""

FORMAT = 1
# Packages that a record names where they were used.
EXTRAS = ("torch", "zuko", "nutpie", "dask")
DIGITS = 9
DIGEST = "digest"
PACKAGE = Path(__file__).parents[1]
INSIDE = "reproduce"
# What only shows numbers, and what only runs experiments: no number depends on it.
SHOWING = ("cli", "plots", "report", "words.py")
# What reads and writes files: experiments draw their rows.
FILES = ("sources", "storing", "tables.reading")
FRAMEWORK = (
    "beyond_show",
    "checking",
    "command",
    "draw",
    "kl",
    "pool",
    "record",
    "results",
    "runner",
    "show",
)
_IMPORT = re.compile(r"^\s*from \.(?:(\w+) import| import (.+)$)", re.MULTILINE)


def key(cell: Fields) -> str:
    """What identifies a cell, whatever the order of its fields."""
    return json.dumps(cell, sort_keys=True)


def fingerprint(module: str) -> str:
    """Of the code that a cell's numbers depend on.

    That is the package without what only shows, and of the experiments the given
    module with those that it imports: work on one figure does not spoil another's cells.
    """
    files = {
        path
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in (INSIDE, *SHOWING)
    }
    digest = hashlib.sha256()
    for path in [*sorted(files), *sorted(_with_imports(module.rpartition(".")[2]))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _with_imports(name: str, found: frozenset[Path] = frozenset()) -> frozenset[Path]:
    """Files of the experiment's module and of the experiments' modules that it imports."""
    path = PACKAGE / INSIDE / f"{name}.py"
    if path in found or name in FRAMEWORK or not path.exists():
        return found
    found |= {path}
    for one, several in _IMPORT.findall(path.read_text("utf-8")):
        for each in [one] if one else re.findall(r"\w+", several):
            found = _with_imports(each, found)
    return found


def loaded_parts() -> list[str]:
    """Modules of the package that this process has used, without what only shows numbers.

    Other experiments count only where one was imported by the one that runs.
    """
    prefix = f"{PACKAGE.name}."
    found = []
    for name in sys.modules:
        parts = name.removeprefix(prefix).split(".")
        if not name.startswith(prefix) or {parts[0], f"{parts[0]}.py"} & set(SHOWING):
            continue
        if parts[0] == INSIDE and (len(parts) == 1 or parts[1] in FRAMEWORK):
            continue
        if _counts(".".join(parts)):
            found.append(name.removeprefix(prefix))
    return sorted(found)


def version_of(part: str) -> str:
    """Digest of a module's code without comments and docstrings; "" where it is gone.

    Examples
    --------
    >>> len(version_of("mdre")), version_of("no.such.module")
    (10, '')
    """
    path = PACKAGE.joinpath(*part.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.exists():
        return ""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        # Strings that stand alone are docstrings, of attributes too.
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)]  # type: ignore[attr-defined]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()[:10]


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def versions_of(results: list[Fields]) -> dict[str, str]:
    """Versions of all parts that the results were made with."""
    return {name: version_of(name) for name in sorted({n for e in results for n in e["parts"]})}


def changed_parts(found: Fields) -> list[str]:
    """Parts of the package that have changed since a record was written.

    A record that does not say what it was made with is taken for one of other code.
    """
    parts = found.get("parts")
    if not parts:
        return ["all of it, as it does not say what it was made with"]
    return [
        name for name, version in parts.items() if _counts(name) and version_of(name) != version
    ]


def _counts(part: str) -> bool:
    """Whether the numbers of an experiment may depend on a part."""
    return not any(part == name or part.startswith(f"{name}.") for name in FILES)


def cells_of(path: Path, wanted: list[Fields]) -> list[Fields]:
    """Lines of cells for what a record has of those wanted, and of the time that it took.

    None if there is no record, or one of other code.
    """
    found = read(path) if path.exists() else {}
    if not found or changed_parts(found):
        return []
    made = {"used": sorted(set(found["versions"]) & set(EXTRAS)), "parts": list(found["parts"])}
    lines = []
    for cell in map(as_json, wanted):
        for each in found["results"]:
            if all(name in each and each[name] == value for name, value in cell.items()):
                rest = {name: value for name, value in each.items() if name not in cell}
                lines.append({"cell": cell, "found": {**rest, **made}})
                break
    return [*lines, {"session": {"wall_seconds": found["wall_seconds"]}}] if lines else []


def lines_of(path: Path) -> list[Fields]:
    """Lines of a file of cells, without those that are empty or were cut short.

    A line that is whole but not as :func:`append` wrote it is refused: what has changed in it
    could be a number.
    """
    found = []
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            each = json.loads(line)
        except ValueError:
            continue
        if not isinstance(each, dict) or each.get(DIGEST) != _digest(each):
            raise ValueError(
                f"{path}, line {number}: must be as isthmus wrote it; received one that has "
                "changed. Remove the line, or start over with --anew."
            )
        found.append(each)
    return found


def _digest(fields: Fields) -> str:
    """Of everything else in a line or a record."""
    rest = {name: value for name, value in fields.items() if name != DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:16]


def append(path: Path, line: Fields) -> None:
    """Add a line; the newline comes first, since the last line may have been cut short."""
    text = json.dumps({**line, DIGEST: _digest(line)}, allow_nan=False)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" + text)
    except OSError as error:
        told = f"cannot be written: {error.strerror}"
        raise type(error)(error.errno, told, str(path)) from error


def write(path: Path, head: Fields, results: list[Fields]) -> None:
    """Write a record: what holds for the run with indentation, then a line for each cell."""
    head = as_json(head)
    head[DIGEST] = _digest({**head, "results": results})
    text = json.dumps(head, indent=1, ensure_ascii=False, allow_nan=False)
    rows = ",\n".join(json.dumps(each, ensure_ascii=False, allow_nan=False) for each in results)
    body = f"[\n{rows}\n]" if rows else "[]"
    with written_whole(path) as draft:
        draft.write_text(f'{text.removesuffix("}").rstrip()},\n "results": {body}\n}}\n', "utf-8")


def read(path: Path) -> Fields:
    """A record as it was written; one that was changed since is refused."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: must be a whole record; {error}.") from None
    if not isinstance(found, dict) or found.pop(DIGEST, None) != _digest(found):
        raise ValueError(
            f"{path}: must be as isthmus wrote it; received a record that has changed. Run "
            "the same command again: cells that are done are kept."
        )
    return dict(found)


def checked(path: Path) -> Fields | None:
    """What a check of a record has found; None where there was none, or no whole record."""
    with suppress(OSError, ValueError):
        found: Fields | None = read(path).get("checked")
        return found
    return None


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


def machine() -> Fields:
    """The machine: processor and number of cores."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = models[0] if models else processor
    return {"processor": processor, "cpu_count": os.cpu_count(), "system": platform.system()}


def as_json(value: Any) -> Any:
    """A value as JSON can hold it: no arrays or tuples, nine digits, None for what is not finite.

    Examples
    --------
    >>> as_json({"a": (1, float("nan")), "b": 1 / 3})
    {'a': [1, None], 'b': 0.333333333}
    """
    if isinstance(value, dict):
        return {str(k): as_json(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(v) for v in value]
    if hasattr(value, "tolist"):
        return as_json(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value if isinstance(value, bool | int | str | None) else str(value)
