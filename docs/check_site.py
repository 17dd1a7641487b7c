"""Look over the built site without a network: ``python docs/check_site.py docs/_build/html``.

Every link and anchor inside the site must lead somewhere, no page may fetch anything from
elsewhere when it is read, the search must have its index, and ``llms.txt`` must list the pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"img": "src", "script": "src", "iframe": "src", "source": "src", "link": "href"}
"""What a browser loads by itself; of links, only these relations."""
LOADED = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "modulepreload", "preconnect"}


class Page(HTMLParser):
    """Anchors of a page, links in it, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and not LOADED & set(given.get("rel", "").split()):
            return
        elif tag in FETCHED and FETCHED[tag] in given:
            self.loads.append(given[FETCHED[tag]])


def faults(site: Path) -> Iterator[str]:
    """Everything that is wrong, a sentence each."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    if not pages:
        yield f"{site} has no pages."
    for path, page in pages.items():
        name = path.relative_to(site)
        for target in page.loads:
            if urlsplit(target).scheme in {"http", "https"} or target.startswith("//"):
                yield f"{name} loads {target} from elsewhere."
            elif not target.startswith("data:") and not _file(path, target).exists():
                yield f"{name} loads {target}, which does not exist."
        for target in page.links:
            yield from (f"{name} links to {target}, {why}." for why in _dead(path, target, pages))
    for sheet in sorted(site.rglob("*.css")):
        for target in re.findall(r"""(?:url\(|@import )["']?(https?:[^"')]+)""", sheet.read_text()):
            yield f"{sheet.relative_to(site)} loads {target} from elsewhere."
    if not (site / "searchindex.js").exists():
        yield "The index of the search is missing."
    yield from _unlisted(site, pages)


def _dead(path: Path, target: str, pages: dict[Path, Page]) -> Iterator[str]:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return
    file = _file(path, target)
    if not file.exists():
        yield "which does not exist"
    elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
        yield "which has no such anchor"


def _file(path: Path, target: str) -> Path:
    inside = unquote(urlsplit(target).path)
    return (path.parent / inside).resolve() if inside else path


def _unlisted(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    listing = site / "llms.txt"
    text = listing.read_text("utf-8") if listing.exists() else ""
    listed = set(re.findall(r"/isthmus/([^)\s]+\.html)", text))
    hidden = {"search.html", "genindex.html", "py-modindex.html"}
    there = {
        name
        for path in pages
        if (name := path.relative_to(site).as_posix()) not in hidden
        and not name.startswith(("_modules/", "_static/"))
        and "/generated/" not in name
    }
    for name in sorted(there ^ listed):
        yield f"llms.txt {'lacks' if name in there else 'lists'} {name}."


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "Every link leads somewhere, and nothing is loaded from elsewhere.")
    sys.exit(bool(found))
