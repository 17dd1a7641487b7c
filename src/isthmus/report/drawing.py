"""Figures as SVG within the page, in the colours of the page, light or dark."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..plots.style import GREY, P, Q, plain_frame
from .markup import Markup, tag

_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_INK, _SOFT, _LINE = "#111418", "#59616b", "#b9bfc6"
# What a figure is drawn in, and what the page's style sheet calls it.
_COLOURS = {
    P: "var(--p)",
    Q: "var(--q)",
    GREY: "var(--grey)",
    "#000000": "var(--ink)",
    _INK: "var(--ink)",
    _SOFT: "var(--soft)",
    _LINE: "var(--line)",
}
_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "isthmus",
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.handlelength": 1.2,
    "text.color": _INK,
    "axes.labelcolor": _SOFT,
    "axes.titlecolor": _INK,
    "xtick.color": _LINE,
    "ytick.color": _LINE,
    "xtick.labelcolor": _SOFT,
    "ytick.labelcolor": _SOFT,
    "axes.edgecolor": _LINE,
    "legend.labelcolor": _INK,
}


class Drawing:
    """Makes the figures of one page, whose ids then all differ."""

    def __init__(self) -> None:
        self.count = 0

    def figure(
        self, draw: Callable[..., object], title: str, caption: str, size: tuple[float, float]
    ) -> Markup:
        """Draw on new axes and return the picture with its caption."""
        return tag("figure", self.svg(draw, title, size), tag("figcaption", caption))

    def svg(
        self, draw: Callable[..., object], title: str, size: tuple[float, float] = (4.3, 3.0)
    ) -> Markup:
        """Draw on new axes and return the picture; its title is for those who do not see it."""
        from matplotlib.figure import Figure

        self.count += 1
        with _plain_settings():
            figure = Figure(figsize=size, layout="constrained")
            draw(ax=plain_frame(figure.subplots()))
            file = io.BytesIO()
            figure.savefig(
                file,
                format="svg",
                transparent=True,
                metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")),
            )
        return _inline(file.getvalue(), f"f{self.count}", title)


@contextmanager
def _plain_settings() -> Iterator[None]:
    """Matplotlib's own settings and ours, whatever the user's are; those come back afterwards."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        settings: Any = matplotlib.rcParams
        settings.update(_STYLE)
        # The reader's browser has the letters that Matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _inline(svg: bytes, prefix: str, title: str) -> Markup:
    root = ET.fromstring(svg)
    used = set(re.findall(r"#([\w-]+)", " ".join(v for e in root.iter() for v in _links(e))))
    for parent in root.iter():
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
        _clean(parent, used, prefix)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", title)
    ET.register_namespace("", _SVG)
    text = ET.tostring(root, encoding="unicode")
    # HTML knows the namespace of its svg elements.
    return Markup(re.sub(r"\n\s*", "\n", text.replace(f' xmlns="{_SVG}"', "", 1)))


def _links(element: ET.Element) -> list[str]:
    names = ("clip-path", f"{{{_XLINK}}}href", "href", "style", "fill", "stroke")
    return [element.attrib[name] for name in names if "#" in element.attrib.get(name, "")]


def _clean(element: ET.Element, used: set[str], prefix: str) -> None:
    """Make the ids of an element the page's own, and its style that of the page."""
    old = element.attrib.pop("id", None)
    if old in used:
        element.set("id", f"{prefix}{old}")
    link = element.attrib.pop(f"{{{_XLINK}}}href", None)
    if link is not None:
        element.set("href", f"#{prefix}{link[1:]}" if link.startswith("#") else link)
    if "clip-path" in element.attrib:
        element.set("clip-path", element.attrib["clip-path"].replace("#", f"#{prefix}", 1))
    style = element.attrib.get("style")
    if style is not None:
        for drawn, named in _COLOURS.items():
            style = style.replace(drawn, named)
        # The page's fonts, in the size that was drawn.
        style = re.sub(r"font: ([\d.]+px) [^;]*", r"font-size: \1", style)
        style = re.sub(r"font-family: [^;]*;? ?", "", style)
        element.set("style", style)
