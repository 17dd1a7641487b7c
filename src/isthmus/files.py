"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
import socket
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

# File systems allow names of 255 bytes; what a draft adds to one is shorter than the rest.
_LONGEST = 150


def check_target(
    path: str | os.PathLike[str], argument: str = "path", suffixes: Sequence[str] = ()
) -> Path:
    """Refuse a path that cannot be written to, before anything long is begun."""
    target = Path(path).resolve()
    if suffixes and Path(path).suffix.lower() not in suffixes:
        ends = " or ".join(suffixes) if len(suffixes) < 3 else f"one of {', '.join(suffixes)}"
        raise ValueError(f"{argument} must end in {ends}; received {path}.")
    if target.is_dir():
        raise ValueError(f"{argument} must be a file; received the folder {path}.")
    if not target.parent.is_dir():
        raise ValueError(f"{argument} must be in a folder that exists; received {path}.")
    if target.exists() and not target.is_file():
        raise ValueError(f"{argument} must be an ordinary file; received the device {path}.")
    # The folder too: a file is replaced by a new one that is written beside it.
    for needed in (target, target.parent):
        if needed.exists() and not os.access(needed, os.W_OK):
            what = "folder" if needed.is_dir() else "file"
            raise ValueError(
                f"{argument} must be where files may be written; received {path}, and the {what} "
                f"{needed.name or needed} is write-protected."
            )
    return target


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; once that is done, the file takes the place of the old one.

    If anything fails on the way, a full disk included, the old file is as it was. The new one has
    the permissions of the old one, and a symbolic link goes on leading to it. Drafts of processes
    that were killed are removed when the same file is next written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "a.txt")
    ...     with written_whole(target) as draft:
    ...         _ = draft.write_text("all of it")
    ...     target.read_text()
    'all of it'
    """
    target = Path(path).resolve()
    # Beside the target, so that the last step is a change of name, which cannot fail half-way.
    begin, end = _ends(target)
    draft = target.with_name(f"{begin}{os.getpid()}-{secrets.token_hex(4)}{end}")
    _remove_leftovers(target)
    try:
        yield draft
        _finish(draft, target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(draft), draft):
            raise
        # Of the draft nobody knows.
        told = f"cannot be written: {error.strerror}"
        raise type(error)(error.errno, told, str(path)) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _finish(draft: Path, target: Path) -> None:
    """Put a draft in the place of its target, once it is on the disk."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        draft.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(draft, target)
    if sys.platform != "win32":
        # The change of name too; some file systems cannot say when that is so.
        with suppress(OSError):
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _remove_leftovers(target: Path) -> None:
    """Remove drafts of this file whose processes, of this machine, have ended."""
    if sys.platform == "win32":
        return  # which has no way to ask for a process without ending it
    begin, end = map(re.escape, _ends(target))
    form = re.compile(rf"{begin}(\d+)-[0-9a-f]{{8}}{end}")
    with suppress(OSError):
        for other in os.listdir(target.parent):
            found = form.fullmatch(other)
            if found is not None and not _runs(int(found[1])):
                target.with_name(other).unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _ends(target: Path) -> tuple[str, str]:
    """How the name of a draft begins and ends.

    It is hidden, has the machine, for others may share the folder, and the suffix, which says
    the format to those who write it.
    """
    stem = os.fsencode(target.stem)[:_LONGEST].decode(errors="ignore")
    host = re.sub(r"[^0-9A-Za-z]", "", socket.gethostname())[:20]
    return f".{stem}.{host}-", f".part{target.suffix[:20]}"
