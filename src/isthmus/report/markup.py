"""HTML in which text from outside can only be text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from ..words import printable

_EMPTY = frozenset({"br", "hr", "img", "input", "link", "meta"})
_LONGEST = 400


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Element with escaped text and attributes; only :class:`Markup` is taken as it is.

    In names of attributes an underscore at the end is dropped and others become hyphens, as in
    ``class_`` and ``aria_label``. None leaves a child or an attribute out.

    Examples
    --------
    >>> tag("td", "a < b", tag("br"), class_="x")
    '<td class="x">a &lt; b<br></td>'
    >>> tag("p", "<script>alert(1)</script>", title='"')
    '<p title="&quot;">&lt;script&gt;alert(1)&lt;/script&gt;</p>'
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _EMPTY:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{join(*children)}</{name}>")


def join(*children: Any) -> Markup:
    """Children one after the other, escaped unless they are markup."""
    out = []
    for child in children:
        if isinstance(child, list | tuple):
            out.append(join(*child))
        elif isinstance(child, Markup):
            out.append(child)
        elif child is not None:
            out.append(Markup(escape(shown(child))))
    return Markup("".join(out))


def section(title: str, *children: Any) -> Markup:
    """A part of the page under its heading."""
    return tag("section", tag("h2", title), *children)


def table(
    caption: str, heads: Sequence[Markup], rows: Iterable[Sequence[Markup]], **attributes: Any
) -> Markup:
    """Table with what it shows, heads of the columns, and rows of cells."""
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", heads)),
        tag("tbody", [tag("tr", row) for row in rows]),
        **attributes,
    )


def head(text: str, class_: str | None = None) -> Markup:
    """Head of a table's column."""
    return tag("th", text, scope="col", class_=class_)


def row_name(name: str) -> Markup:
    """Head of a table's row: a column's name, in full where the pointer rests."""
    short = printable(name, 48)
    return tag("th", short, scope="row", title=None if short == name else name)


def shown(text: object) -> str:
    r"""Text with line breaks but nothing else invisible, and not without end.

    A lone half of a surrogate pair, which no file can hold, is written out.

    Examples
    --------
    >>> print(shown("a\x00b\ud800"))
    a\x00b\ud800
    """
    return "\n".join(printable(line, _LONGEST) for line in str(text).split("\n"))
