"""What every page has around its parts: style, a rule that nothing runs or loads, and a footer."""

from __future__ import annotations

from importlib.resources import files

from .._version import __version__
from .markup import Markup, join, tag


def made_with() -> Markup:
    """The end of a page."""
    return tag(
        "footer",
        tag(
            "p",
            f"Made with isthmus {__version__}. ",
            "This page is complete: it holds no scripts and loads nothing.",
        ),
    )


def document(title: str, body: Markup) -> str:
    """A page of HTML that is one file."""
    style = files(__package__).joinpath("style.css").read_text("utf-8")
    head = join(
        tag("meta", charset="utf-8"),
        # Even if something slipped through, nothing would run and nothing would be fetched.
        tag(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        ),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        Markup(f"<style>\n{style}</style>"),
    )
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"
