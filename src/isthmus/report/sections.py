"""Parts of the page that are words and tables: answer, divergences, checks, how to repeat it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from .._version import __version__
from ..functionals import get_divergence
from ..plots.style import printable
from ..settings import Call
from ..tables.encoding import count
from . import words as _words
from .markup import Markup, join, tag


def head(
    title: str, answer: str, labels: tuple[str, str], sizes: tuple[int, int, int], checks: Any
) -> Markup:
    """Open the page with the answer.

    Parameters
    ----------
    title, answer : str
    labels : pair of str
    sizes : tuple of int
        Rows of p, rows of q, columns.
    checks : mapping of str to Check
    """
    # Weights fail long before the ratio does, and are no verdict on it.
    apart = [c.verdict for c in checks.values() if c.concerns == "weights" and c.verdict != "ok"]
    verdicts = [c.verdict for c in checks.values() if c.concerns == "ratio" or c.verdict == "ok"]
    said, colon, rest = answer.rpartition(": KL")
    return tag(
        "header",
        tag("p", "isthmus", class_="mark"),
        tag("h1", title),
        tag("p", tag("strong", said, colon[:1]), colon[1:], rest, class_="answer"),
        tag(
            "ul",
            [
                tag("li", side, count(rows, "row"))
                for side, rows in zip(sides(labels), sizes, strict=False)
            ],
            tag("li", count(sizes[2], "column")),
            [
                tag("li", chip(verdict, f"{verdicts.count(verdict)} {_words.SAID[verdict]}"))
                for verdict in _words.VERDICTS
                if verdict in verdicts
            ],
            [tag("li", chip(verdict, "importance weights")) for verdict in sorted(set(apart))],
            class_="facts",
        ),
    )


def sides(labels: tuple[str, str]) -> list[Markup]:
    """The two samples, each with its colour, and its name if it has one."""
    return [
        join(
            tag("span", side, class_=f"side {side}"),
            tag("b", label) if label != side else None,
        )
        for side, label in zip("pq", labels, strict=True)
    ]


def divergences(found: Mapping[str, Any]) -> Markup:
    """How far apart: every divergence with its interval."""
    rows = []
    for name, e in found.items():
        told, meaning = _words.DIVERGENCES.get(name, (name, ""))
        value, _, low, high = _words.estimate(e)
        upper = get_divergence(name).upper
        rows.append(
            tag(
                "tr",
                tag("th", told, tag("small", meaning), scope="row"),
                tag("td", value, class_="number value"),
                tag("td", f"{low} to {high}", class_="number"),
                tag("td", _meter(e, upper), class_="meter"),
            )
        )
    first = next(iter(found.values()))
    return section(
        "How far apart",
        tag(
            "table",
            tag("caption", "Divergences of p from q, with the error of the fit counted"),
            tag(
                "thead",
                tag(
                    "tr",
                    tag("th", "Divergence", scope="col"),
                    tag("th", "Value", scope="col", class_="number"),
                    tag("th", _words.level(first), scope="col", class_="number"),
                    tag("th", tag("span", "On its scale", class_="unseen"), class_="meter"),
                ),
            ),
            tag("tbody", rows),
            class_="divergences",
        ),
    )


def _meter(e: Any, upper: float) -> Markup | None:
    """A divergence that has a largest value, drawn between zero and that."""
    if not (math.isfinite(upper) and math.isfinite(e.value) and upper > 0):
        return None
    low, at, high = (min(max(x / upper, 0.0), 1.0) * 100 for x in (e.low, e.value, e.high))
    return tag(
        "svg",
        tag("line", x1=0, x2=100, y1=5, y2=5, class_="rail"),
        tag("line", x1=f"{low:.2f}", x2=f"{high:.2f}", y1=5, y2=5, class_="reach"),
        tag("circle", cx=f"{at:.2f}", cy=5, r=3.2),
        viewBox="-4 0 108 10",
        role="img",
        aria_label=f"{at:.0f} % of the largest value that it can have",
    )


def checks(found: Mapping[str, Any], figures: Sequence[Markup]) -> Markup:
    """Whether it can be trusted: every check, the worst first."""
    order = sorted(found.items(), key=lambda item: _words.VERDICTS.index(item[1].verdict))
    items = [
        tag(
            "li",
            chip(check.verdict, _words.SAID[check.verdict]),
            tag(
                "div",
                tag(
                    "h3",
                    _words.CHECKS.get(name, name.replace("_", " ").capitalize()),
                    tag("small", "weights only") if check.concerns == "weights" else None,
                ),
                tag("p", check.advice),
            ),
            tag("code", _words.number(float(check.value)), class_="number"),
            class_=check.verdict,
        )
        for name, check in order
    ]
    return section(
        "Can it be trusted",
        tag("ul", items, class_="checks"),
        tag("div", list(figures), class_="figures") if figures else None,
    )


def chip(verdict: str, text: str) -> Markup:
    """A verdict, told by colour, by sign and in words."""
    mark = tag("span", _words.MARKS[verdict], aria_hidden="true")
    return tag("span", mark, " ", text, class_=f"chip {verdict}")


def compared(columns: Mapping[str, str], notes: Sequence[str], rows: Sequence[str]) -> Markup:
    """What was compared: what became of the columns, of rows, and what there is to say of it."""
    table = tag(
        "table",
        tag("caption", "Columns, and what was made of them"),
        tag("thead", tag("tr", [tag("th", text, scope="col") for text in ("Column", "Used as")])),
        tag("tbody", [
            tag("tr", named(name), tag("td", words))
            for name, words in columns.items()
        ]),
    )  # fmt: skip
    folded = tag("details", tag("summary", f"{count(len(columns), 'column')} used"), table)
    listed = [tag("li", text) for text in (*rows, *notes)]
    return join(tag("ul", listed, class_="notes") if listed else None, folded if columns else None)


def repeat(
    comparison: Any, command: str | None, options: Mapping[str, Any], extra: Markup
) -> Markup:
    """How to get the same page again: code, versions, and what was chosen.

    Parameters
    ----------
    comparison : Comparison
    command : str, optional
        A command that does it, in place of code.
    options : mapping
        Parameters of the page that are not its defaults.
    extra : Markup
        What else there is to say.
    """
    call = comparison.call
    chosen = getattr(comparison.estimator, "best_params_", {})
    selection = getattr(comparison.estimator, "selection_", None)
    parts = [tag("pre", tag("code", command or _code(call, options)), tabindex="0")]
    if command is None and not call.has_seed:
        parts.append(tag("p", "No number was given as seed, so that another run differs a little."))
    parts.append(tag("p", ", ".join(_versions()), class_="soft"))
    if chosen:
        parts.append(
            tag(
                "dl",
                [join(tag("dt", name), tag("dd", tag("code", _short(value))))
                 for name, value in chosen.items()],
                class_="chosen",
            )
        )  # fmt: skip
    if selection is not None and selection.trials:
        told = f"{count(len(selection.trials), 'trial')} by held-out likelihood"
        folded = tag("pre", tag("code", selection.summary()), tabindex="0")
        parts.append(tag("details", tag("summary", told), folded))
    return section("How to repeat it", parts, extra)


def _code(call: Call, options: Mapping[str, Any]) -> str:
    page = ['"report.html"', *(f"{name}={value!r}" for name, value in options.items())]
    calls = f"c = isthmus.compare({', '.join(call.arguments)})", f"c.report({', '.join(page)})"
    return "\n".join([f"import isthmus  # {__version__}", "", *calls])


def _versions() -> list[str]:
    import numpy
    import scipy
    import sklearn

    return [
        f"isthmus {__version__}",
        f"Python {platform.python_version()}",
        *(f"{name} {package.__version__}"
          for name, package in (("NumPy", numpy), ("SciPy", scipy), ("scikit-learn", sklearn))),
    ]  # fmt: skip


def _short(value: Any) -> str:
    told = " ".join(str(value).split())
    return told if len(told) <= 160 else f"{told[:159]}…"


def section(title: str, *children: Any) -> Markup:
    """A part of the page under its heading."""
    return tag("section", tag("h2", title), *children)


def named(name: str) -> Markup:
    """Head of a table's row: a column's name, in full where the pointer rests."""
    short = printable(name, 48)
    return tag("th", short, scope="row", title=None if short == name else name)


def figure(svg: Markup, caption: str) -> Markup:
    """A figure with what it shows."""
    return tag("figure", svg, tag("figcaption", caption))
