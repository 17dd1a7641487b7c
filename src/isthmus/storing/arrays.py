"""Arrays as members of a file: NumPy's own form, with a header that is checked before its data."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from .container import ModelFileError

_KINDS = "biufU"
_MOST_HEADER = 2000


def array_bytes(array: np.ndarray) -> bytes:
    """An array in the form of ``.npy``, version 1.0, in little-endian order."""
    if array.dtype.kind not in _KINDS or array.dtype.itemsize == 0:
        raise ModelFileError(
            f"an array must hold numbers, truth values or text; received {array.dtype}."
        )
    file = io.BytesIO()
    # Zero dimensions would become one, and columns first stay so: products are then the same
    # to the bit.
    by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
    plain = array.astype(array.dtype.newbyteorder("<"), order="F" if by_columns else "C")
    np.lib.format.write_array(file, plain, version=(1, 0), allow_pickle=False)
    return file.getvalue()


def array_facts(array: np.ndarray) -> dict[str, Any]:
    """What the JSON says of an array, and its header must say as well."""
    return {"dtype": array.dtype.newbyteorder("<").str, "shape": list(array.shape)}


def array_from(data: bytes, facts: Any, name: str) -> np.ndarray:
    """The array of a member, if it is the one that the JSON tells of."""
    file = io.BytesIO(data)
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("version")
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(
            file, max_header_size=_MOST_HEADER
        )
    except Exception as error:
        # The header is the text of a dictionary, and can be wrong in many ways.
        raise ModelFileError(
            f"its member {name} is not an array ({type(error).__name__})."
        ) from None
    whole = all(isinstance(n, int) and n >= 0 for n in shape)
    found = {"dtype": dtype.str, "shape": list(shape)}
    if not whole or dtype.kind not in _KINDS or found != facts:
        raise ModelFileError(f"its member {name} is not the array that its model.json tells of.")
    rest = data[file.tell() :]
    if math.prod(shape) * dtype.itemsize != len(rest):
        raise ModelFileError(f"its member {name} is not as long as its shape says.")
    found_array = np.frombuffer(rest, dtype=dtype).reshape(shape, order="F" if by_columns else "C")
    # A copy, which can be written to, in the order and in the bytes of the machine.
    return found_array.astype(dtype.newbyteorder("="), order="F" if by_columns else "C")
