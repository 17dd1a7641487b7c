"""Parts of the page: the answer, divergences, checks, columns, and how to repeat it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from typing import Any

from .. import words
from .._version import __version__
from ..comparison import Comparison
from ..diagnostics import Check, ColumnDifference
from ..functionals import Estimate, get_divergence
from ..settings import Call
from ..words import count
from .markup import Markup, head, join, row_name, section, table, tag
from .pictures import Pictures

# Columns that have a picture of their own.
_SHOWN = 6


def opening(
    title: str,
    answer: str,
    rests_on: str,
    labels: tuple[str, str],
    sizes: tuple[int, int, int],
    checks: Mapping[str, Check],
) -> Markup:
    """Open the page with the answer; ``sizes`` are the rows of p and of q, and the columns."""
    # Weights fail long before the ratio does, and are no verdict on it.
    apart = {c.verdict for c in checks.values() if c.concerns == "weights" and c.verdict != "ok"}
    verdicts = [c.verdict for c in checks.values() if c.concerns == "ratio" or c.verdict == "ok"]
    said, colon, rest = answer.rpartition(": KL")
    facts = [
        *(join(side, count(n, "row")) for side, n in zip(sides(labels), sizes, strict=False)),
        count(sizes[2], "column"),
        *(
            chip(verdict, f"{verdicts.count(verdict)} {words.SAID[verdict]}")
            for verdict in words.VERDICTS
            if verdict in verdicts
        ),
        *(chip(verdict, "importance weights") for verdict in sorted(apart)),
    ]
    return tag(
        "header",
        tag("p", "isthmus", class_="mark"),
        tag("h1", title),
        tag("p", tag("strong", said, colon[:1]), colon[1:], rest, class_="answer"),
        tag("p", words.rests_on(rests_on), class_="soft"),
        tag("ul", [tag("li", fact) for fact in facts], class_="facts"),
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


def divergences(found: Mapping[str, Estimate], further: Sequence[str] = ()) -> Markup:
    """How far apart: every divergence with its interval, and further sentences."""
    rows = []
    for name, e in found.items():
        _, told, meaning = words.divergence(name)
        value = words.rounded(e)[0]
        rows.append(
            (
                tag("th", told, tag("small", meaning), scope="row"),
                tag("td", value, class_="number value"),
                tag("td", words.ends(e), class_="number"),
                tag("td", _meter(e, get_divergence(name).upper), class_="meter"),
            )
        )
    heads = [
        head("Divergence"),
        head("Value", "number"),
        head(words.interval(next(iter(found.values()))), "number"),
        tag("th", tag("span", "On its scale", class_="unseen"), class_="meter"),
    ]
    caption = "Divergences of p from q, with the error of the fit counted"
    unknown = [tag("p", text, class_="soft") for text in (*words.unknown_ends(found), *further)]
    return section("How far apart", table(caption, heads, rows, class_="divergences"), *unknown)


def _meter(e: Estimate, upper: float) -> Markup | None:
    """A divergence that has a largest value, drawn between zero and that."""
    if not (math.isfinite(upper) and math.isfinite(e.value) and upper > 0):
        return None
    low, at, high = (min(max(x / upper, 0.0), 1.0) * 100 for x in (e.low, e.value, e.high))
    return tag(
        "svg",
        tag("line", x1=0, x2=100, y1=5, y2=5, class_="rail"),
        tag("line", x1=f"{low:.2f}", x2=f"{high:.2f}", y1=5, y2=5, class_="reach"),
        # An arrow: the upper end is only the largest value that there is.
        tag("polyline", points="97,2 102,5 97,8", class_="arrow") if e.one_sided else None,
        tag("circle", cx=f"{at:.2f}", cy=5, r=3.2),
        viewBox="-4 0 108 10",
        role="img",
        aria_label=f"{at:.0f} % of the largest value that it can have",
    )


def checks(found: Mapping[str, Check], figures: Sequence[Markup]) -> Markup:
    """Whether it can be trusted: every check, the worst first."""
    order = sorted(found.items(), key=lambda item: words.VERDICTS.index(item[1].verdict))
    items = [
        tag(
            "li",
            chip(check.verdict, words.SAID[check.verdict]),
            tag(
                "div",
                tag(
                    "h3",
                    words.CHECK_TITLES.get(name, name.replace("_", " ").capitalize()),
                    tag("small", "weights only") if check.concerns == "weights" else None,
                ),
                tag("p", check.advice),
            ),
            tag("code", words.number(float(check.value)), class_="number"),
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
    mark = tag("span", words.MARKS[verdict], aria_hidden="true")
    return tag("span", mark, " ", text, class_=f"chip {verdict}")


def columns(pictures: Pictures, found: Sequence[ColumnDifference], most: int) -> Markup:
    """Which columns differ: at most so many, in a table and in pictures."""
    shown, hidden = found[:most], len(found) - most
    rows = [
        (
            tag("th", one.name, None if one.used else tag("small", one.made), scope="row"),
            tag(
                "td",
                words.rounded(one.js)[0],
                tag("small", f" {words.ends(one.js)}"),
                class_="number",
            ),
            tag("td", f"{one.moves:.2g}" if one.used else "", class_="number"),
        )
        for one in shown
    ]
    heads = [head("Column"), head("Alone (JS)", "number"), head("Moves", "number")]
    single = [
        pictures.column(one.name, f"Alone it differs by {words.rounded(one.js)[0]} nats (JS).")
        for one in [one for one in shown if one.used][:_SHOWN]
    ]
    return section(
        "Which columns differ",
        tag(
            "p",
            "Alone: the Jensen–Shannon divergence of the column by itself, in nats, 0.69 if it "
            "tells the samples apart. Moves: nats by which log p/q changes, on average, where a "
            "row is given another row's value.",
            f" {hidden} more columns are not shown." if hidden > 0 else None,
            class_="soft",
        ),
        table("How much each column differs", heads, rows, class_="columns"),
        tag("div", pictures.ranking(shown), class_="ranking"),
        tag("ul", [tag("li", side) for side in sides(pictures.labels)], class_="facts sides"),
        tag("div", single, class_="figures small") if single else None,
    )


def repeat(
    comparison: Comparison, command: str | None, options: Mapping[str, Any], notes: Sequence[str]
) -> Markup:
    """How to get the same page again, by code with these options or by a command; and choices."""
    call = comparison.call
    chosen = getattr(comparison.estimator, "best_params_", {})
    selection = getattr(comparison.estimator, "selection_", None)
    parts = [_code(command or code(call, options))]
    if command is None and not call.has_seed:
        parts.append(tag("p", "No number was given as seed, so that another run differs a little."))
    parts.append(tag("p", ", ".join(_versions()), class_="soft"))
    if chosen:
        terms = [
            join(tag("dt", name), tag("dd", tag("code", words.one_line(value, 160, "…"))))
            for name, value in chosen.items()
        ]
        parts.append(tag("dl", terms, class_="chosen"))
    if selection is not None and (selection.trials or selection.members):
        tried = len(selection.trials) + len(selection.members)
        told = f"{count(tried, 'trial')} by held-out likelihood"
        parts.append(tag("details", tag("summary", told), _code(selection.summary())))
    return section("How to repeat it", parts, _compared(comparison, notes))


def code(call: Call, options: Mapping[str, Any]) -> str:
    """Python code that repeats a comparison and its page."""
    page = ['"report.html"', *(f"{name}={value!r}" for name, value in options.items())]
    calls = f"c = isthmus.compare({', '.join(call.arguments)})", f"c.report({', '.join(page)})"
    return "\n".join([f"import isthmus  # {__version__}", "", *calls])


def _code(text: str) -> Markup:
    return tag("pre", tag("code", text), tabindex="0")


def _versions() -> list[str]:
    import numpy
    import scipy
    import sklearn

    packages = (("NumPy", numpy), ("SciPy", scipy), ("scikit-learn", sklearn))
    return [
        f"isthmus {__version__}",
        f"Python {platform.python_version()}",
        *(f"{name} {package.__version__}" for name, package in packages),
    ]


def _compared(comparison: Comparison, notes: Sequence[str]) -> Markup:
    """What became of rows and columns, and what there is to say of it."""
    encoder = comparison.encoder
    if encoder is None:
        lost, used = [], {}
    else:
        lost = [
            f"{number:,} rows of {side} were left out for missing values."
            for side, number in zip("pq", encoder.dropped_rows, strict=True)
            if number
        ]
        used = encoder.summary()
    told = [tag("li", text) for text in (*lost, *notes)]
    shown = table(
        "Columns, and what was made of them",
        [head("Column"), head("Used as")],
        [(row_name(name), tag("td", text)) for name, text in used.items()],
    )
    folded = tag("details", tag("summary", f"What was made of {count(len(used), 'column')}"), shown)
    return join(tag("ul", told, class_="notes") if told else None, folded if used else None)
