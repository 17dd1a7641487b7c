"""Write ``llms.txt``: every page of the site with its first sentence, as plain text.

The form is that of https://llmstxt.org: a title, a quotation, and lists of links.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes

ABOUT = (
    "isthmus estimates the ratio of two densities from a sample of each, also when they are far "
    "apart: divergences with intervals, importance weights, mutual information, and checks."
)


def order(app: Any, document: str, seen: list[str]) -> list[str]:
    """Pages in the order of the table of contents."""
    if document not in seen:
        seen.append(document)
        for child in app.env.toctree_includes.get(document, ()):
            order(app, child, seen)
    return seen


def first_sentence(app: Any, document: str) -> str:
    """The beginning of the first paragraph, in a line."""
    tree = app.env.get_doctree(document)
    for paragraph in tree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            words = " ".join(paragraph.astext().split())
            return words.split(". ")[0].rstrip(".") + "."
    return ""


def write(app: Any, exception: Exception | None) -> None:
    """Write the file beside the pages."""
    if exception is not None or app.builder.name != "html":
        return
    base, lines = app.config.html_baseurl, [f"# {app.config.project}", "", f"> {ABOUT}", ""]
    for document in order(app, app.config.root_doc, []):
        if "generated/" in document:
            continue  # one name of the reference; the page of its module has them all
        title = app.env.titles[document].astext()
        about = first_sentence(app, document)
        link = f"- [{title}]({base}{document}.html)"
        lines.append(f"{link}: {about}" if about else link)
    Path(app.outdir, "llms.txt").write_text("\n".join([*lines, ""]), "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
