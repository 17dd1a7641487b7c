"""The file itself: a zip of named members that are not compressed, and a list of them.

``manifest.json`` says what the file is, which version of the format it has, and the length and
SHA-256 of every other member. Nothing is compressed, so that reading a file never takes more
memory than the file is long.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._version import __version__
from ..files import check_target, written_whole

FORMAT = "isthmus model"
VERSION = 1
"""Version of the format that is written; every older one can be read."""

_MANIFEST = "manifest.json"
_MOST_MEMBERS = 100_000
# The date of every member, so that the same model gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


class ModelFileError(ValueError):
    """A file of a model cannot be written or read; the message says which and why.

    Examples
    --------
    >>> import pathlib, tempfile, isthmus
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.isthmus")
    ...     _ = path.write_text("age,town")
    ...     try:
    ...         isthmus.load(path)
    ...     except isthmus.ModelFileError as error:
    ...         path.name in str(error)
    True
    """


def write_members(path: str | os.PathLike[str], members: Mapping[str, bytes]) -> Path:
    """Write members and their list, whole or not at all; returns the path."""
    target = check_target(path)
    manifest = {
        "format": FORMAT,
        "format_version": VERSION,
        "isthmus": __version__,
        "members": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in members.items()
        },
    }
    with written_whole(target) as draft, zipfile.ZipFile(draft, "w") as archive:
        for name, data in {_MANIFEST: to_json(manifest), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data)
    return target


def read_members(path: str | os.PathLike[str]) -> dict[str, bytes]:
    """All members of a file but the list of them, each as long and as it was written."""
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{file}: must be a file of a model; received a folder.")
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise ModelFileError(f"{file}: there is no such file.") from None
    except OSError as error:
        raise ModelFileError(f"{file}: cannot be read ({error.strerror}).") from None
    try:
        return _checked(unzipped(data))
    except ModelFileError as error:
        raise ModelFileError(f"{file}: {error}") from None


def unzipped(data: bytes) -> dict[str, bytes]:
    """Members of a zip in which nothing is compressed, hidden or there twice."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_MEMBERS:
                raise ModelFileError(f"it must have at most {_MOST_MEMBERS} members.")
            names = [entry.filename for entry in entries]
            if len(set(names)) < len(names):
                raise ModelFileError("every member must be there once; some are there twice.")
            total = 0
            for entry in entries:
                total += entry.file_size
                # Stored members that add up to more than the file would overlap.
                if (
                    entry.compress_type != zipfile.ZIP_STORED
                    or entry.flag_bits & 0x1
                    or entry.file_size != entry.compress_size
                    or total > len(data)
                ):
                    raise ModelFileError(
                        "its members must be neither compressed nor encrypted, nor be longer "
                        "than the file."
                    )
            return {entry.filename: archive.read(entry) for entry in entries}
    except ModelFileError:
        raise
    except Exception as error:
        # zipfile raises a dozen kinds of errors on bytes that are no zip of its own.
        raise ModelFileError(
            "it is not a whole file of a model: it is cut off, damaged or something else "
            f"({type(error).__name__})."
        ) from None


def _checked(found: dict[str, bytes]) -> dict[str, bytes]:
    """The members other than the list, if they are those of the list."""
    if _MANIFEST not in found:
        raise ModelFileError("it is a zip file, but not of a model: it has no manifest.json.")
    manifest = from_json(found.pop(_MANIFEST), _MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"it is not a file of a model; its format must be {FORMAT!r}.")
    version, listed = manifest.get("format_version"), manifest.get("members")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError("its manifest.json must give the version of the format.")
    if version > VERSION:
        raise ModelFileError(
            f"it was written by isthmus {str(manifest.get('isthmus'))[:40]} in version {version} "
            f"of the format, and isthmus {__version__} reads up to version {VERSION}. Install a "
            "newer isthmus."
        )
    if not isinstance(listed, dict) or set(listed) != set(found):
        raise ModelFileError("its members are not those that its manifest.json lists.")
    for name, data in found.items():
        wanted = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        if listed[name] != wanted:
            raise ModelFileError(
                f"its member {name[:60]!r} is not as it was written: the file was changed or "
                "damaged."
            )
    return found


def to_json(value: Any) -> bytes:
    """JSON in UTF-8; numbers that are not finite are refused, as JSON has none."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def from_json(data: bytes, name: str) -> Any:
    """A value from JSON in which every name of an object is there once."""
    try:
        return json.loads(data, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its {name} is not JSON ({type(error).__name__}).") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError("A name is there twice.")
    return out


def _refuse(constant: str) -> Any:
    raise ValueError(f"JSON has no {constant}.")
