"""Put generated text between the marks of a page."""

from __future__ import annotations

import re
from pathlib import Path


def fill_in(page: Path, blocks: dict[str, str]) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``.

    Parameters
    ----------
    page : Path
        A page that has each mark once.
    blocks : dict
        Text by name.
    """
    text = page.read_text("utf-8")
    for name, block in blocks.items():
        pattern = rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)"
        text, count = re.subn(
            pattern, lambda m, b=block: f"{m[1]}{b}\n{m[2]}", text, flags=re.DOTALL
        )
        if count != 1:
            raise SystemExit(f"{page.name} must have one place for {name!r}; it has {count}.")
    page.write_text(text, "utf-8")


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table; columns of numbers are aligned to the right."""
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    rule = ["---:" if all(map(_number, column)) else "---" for column in columns]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def _number(cell: str) -> bool:
    return not cell or cell.lstrip("*+-−")[:1].isdigit()
