"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


def check_target(
    path: str | os.PathLike[str], argument: str = "path", suffixes: Sequence[str] = ()
) -> Path:
    """Refuse a path that cannot be written to, before anything long is begun."""
    target = Path(path).resolve()
    if suffixes and target.suffix.lower() not in suffixes:
        ends = " or ".join(suffixes) if len(suffixes) < 3 else f"one of {', '.join(suffixes)}"
        raise ValueError(f"{argument} must end in {ends}; received {path}.")
    if target.is_dir():
        raise ValueError(f"{argument} must be a file; received the folder {path}.")
    if not target.parent.is_dir():
        raise ValueError(f"{argument} must be in a folder that exists; received {path}.")
    return target


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to; once that is done, the file takes the place of the old one.

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
    draft = target.with_name(f".{target.stem}.{os.getpid()}.part{target.suffix}")
    try:
        yield draft
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
