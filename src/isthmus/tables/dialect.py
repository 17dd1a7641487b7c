"""How a text file writes a table: what separates cells, and what stands before decimals."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from .columns import TableError

_SEPARATORS = (",", ";", "\t", "|")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_POINT = re.compile(r"[+-]?\d+\.\d+")


@dataclass(frozen=True)
class Dialect:
    """How a text file writes a table.

    Attributes
    ----------
    separator : str
        What separates cells.
    decimal : str
        What stands before decimals.
    one_column : bool
        Whether there is one column. An empty line is then a missing value and no gap.
    """

    separator: str
    decimal: str
    one_column: bool


def dialect(head: bytes) -> Dialect:
    r"""Tell from the first rows of a file.

    The separator is the one of which the first row has most, outside quotes. Numbers have decimal
    commas where some do and none has a decimal point.

    Examples
    --------
    >>> dialect(b"a;b\n1,5;2\n")
    Dialect(separator=';', decimal=',', one_column=False)
    """
    text = head.decode("utf-8-sig", errors="replace")
    first = re.sub(r'"[^"]*"', "name", text.partition("\n")[0])
    separator = max(_SEPARATORS, key=first.count)
    commas = separator != "," and _has_commas(text, separator)
    one_column = bool(first.strip()) and separator not in first
    return Dialect(separator, "," if commas else ".", one_column)


def _has_commas(head: str, separator: str) -> bool:
    rows = head.splitlines()[1:200]
    cells = [cell.strip() for row in csv.reader(rows, delimiter=separator) for cell in row]
    return any(map(_COMMA.fullmatch, cells)) and not any(map(_POINT.fullmatch, cells))


def check_text(head: bytes, name: str) -> None:
    """Refuse a file whose names of columns are not UTF-8; a cell is told of where it is used."""
    try:
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise UnicodeDecodeError("utf-8", head[:2], 0, 2, "UTF-16")
        head.partition(b"\n")[0].decode("utf-8-sig")
    except UnicodeDecodeError:
        raise TableError(
            f"{name}: the names of its columns must be text in UTF-8; received another encoding. "
            "Save it as UTF-8, such as by: iconv -f latin1 -t utf8."
        ) from None
