"""Omniglot's files: where they are, how they are checked, and what is in them."""

from __future__ import annotations

import hashlib
import io
import os
import re
import urllib.request
import zipfile
from pathlib import Path
from urllib.error import URLError

import numpy as np

from ..data.validation import check_number, check_option
from ..files import written_whole

URL = "https://github.com/brendenlake/omniglot/raw/master/python/{}.zip"
# The larger two are known by the digests that other loaders publish.
OFFICIAL = {
    "images_background": "md5:68d2efa1b9178cc56df9314c21c6e718",
    "images_evaluation": "md5:6b91aef0f799c5bb55b94e3f2daec811",
    "images_background_small1": (
        "sha256:f38eb80f801274ac2b4dff5b24289016bfaba4a7d5bb50deebf27104ad6cb8a4"
    ),
    "images_background_small2": (
        "sha256:3ccaa407515a8778e5d0861875af38b17e418f301ad5bb3b5a6b65d901a41c7f"
    ),
}
FOLDER = "ISTHMUS_OMNIGLOT"
"""Environment variable with the folder of the zips."""

_DRAWING = re.compile(r"(?:.*/)?([^/]+)/(character\d+)/([^/]+)\.png")


def find_zip(name: str, folder: str | os.PathLike[str] | None, *, download: bool) -> Path:
    """Path of an official zip in a folder, downloaded and checked where that is allowed."""
    check_option(name, "sets", OFFICIAL)
    if folder is None:
        folder = os.environ.get(FOLDER) or Path.home() / ".cache" / "isthmus" / "omniglot"
    path = Path(folder) / f"{name}.zip"
    if path.exists():
        return path
    url = URL.format(name)
    way_out = f"Download {url} by hand and name its folder (folder=..., or {FOLDER})."
    if not download:
        raise FileNotFoundError(f"{name}.zip must be in {str(folder)!r}; it is not. {way_out}")
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            content = answer.read()
    except (URLError, TimeoutError, OSError) as error:
        raise ConnectionError(
            f"{name}.zip is not in {str(folder)!r} and must be downloaded, which failed "
            f"({error}). {way_out}"
        ) from error
    check_digest(name, content)
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as draft:
        draft.write_bytes(content)
    return path


def check_digest(name: str, content: bytes) -> None:
    """Refuse a download that is not the official file."""
    kind, _, digest = OFFICIAL[name].partition(":")
    found = hashlib.new(kind, content, usedforsecurity=False).hexdigest()
    if found != digest:
        raise ValueError(
            f"{name}.zip must have the {kind} digest {digest}; received a file with {found}. "
            "The download was cut short or the file has changed."
        )


def read_zip(path: str | os.PathLike[str], size: int = 28) -> dict[str, np.ndarray]:
    """Images of every alphabet of a zip, shape (characters, drawings, size, size), uint8.

    Its files are ``.../ALPHABET/characterNN/DRAWING.png``, dark on white; here ink is 255. Drawings
    of a character are in the order of their names: the number of who drew them.
    """
    from PIL import Image

    check_number(size, "size", low=1, high=105, integer=True)
    found: dict[str, dict[str, dict[str, np.ndarray]]] = {}
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            match = _DRAWING.fullmatch(name)
            if match is None:
                continue
            with Image.open(io.BytesIO(archive.read(name))) as image:
                ink = 255 - np.asarray(image.convert("L"))
            if ink.shape != (105, 105):
                raise ValueError(
                    f"drawings must have 105 x 105 pixels; received {ink.shape} in {name!r}."
                )
            alphabet, character, drawing = match.groups()
            found.setdefault(alphabet, {}).setdefault(character, {})[drawing] = ink
    if not found:
        raise ValueError(
            f"{str(path)!r} must hold drawings ALPHABET/characterNN/NAME.png; it has none."
        )
    stacked = {name: _stack(name, characters) for name, characters in sorted(found.items())}
    return {name: _shrunk(images, size) for name, images in stacked.items()}


def _stack(name: str, characters: dict[str, dict[str, np.ndarray]]) -> np.ndarray:
    counts = {len(drawings) for drawings in characters.values()}
    if len(counts) > 1:
        raise ValueError(
            f"characters of an alphabet must have equally many drawings; received {sorted(counts)} "
            f"in {name!r}."
        )
    return np.stack(
        [np.stack([own[key] for key in sorted(own)]) for _, own in sorted(characters.items())]
    )


def _shrunk(images: np.ndarray, size: int) -> np.ndarray:
    """Images with pixels averaged by area, shape (..., size, size)."""
    area = _area(images.shape[-1], size)
    # Two products of matrices for all images are quicker than two for each.
    for _ in range(2):
        images = np.swapaxes(images.astype(np.float32) @ area.T, -1, -2)
    return np.asarray(np.rint(images), dtype=np.uint8)


def _area(old: int, new: int) -> np.ndarray:
    """Matrix of shape (new, old) that averages pixels by the area that they share."""
    edges = np.arange(new + 1) * old / new
    low, high = edges[:-1, None], edges[1:, None]
    pixel = np.arange(old)[None]
    share = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0.0, None)
    return np.asarray(share * new / old, dtype=np.float32)
