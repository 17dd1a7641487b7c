"""The page of drift: the line, the day, what to do, the columns, the rows; then everything else."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import plots, words
from .._version import __version__
from ..drifting.telling import ends, in_nats
from ..files import check_target, written_whole
from .drawing import Drawing
from .markup import Markup, head, join, row_name, section, table, tag
from .shell import document, made_with

if TYPE_CHECKING:
    from ..drifting import ColumnDrift, Drift, Window

_COLUMNS = 12
_WINDOWS = 6
_STYLE = """
.wide figure { max-width: none; }
.todo { font-size: 1.05rem; padding-left: 1.3rem; max-width: 46rem; }
.todo li { margin: 0 0 .6rem; }
td.rule { overflow-wrap: anywhere; } .scroll { overflow-x: auto; }
"""


def write_drift(found: Drift, path: str | os.PathLike[str], *, title: str = "Drift") -> Path:
    """Write what was found as one page of HTML, which holds its style and figures."""
    check_target(path)
    text = page(found, title)
    with written_whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def page(found: Drift, title: str) -> str:
    """The page as text."""
    drawing = Drawing()
    todo = tag("ol", [tag("li", one) for one in found.advice], class_="todo")
    body = [
        Markup(f"<style>{_STYLE}</style>"),
        _opening(found, title),
        tag(
            "main",
            section("Over time", tag("div", _line(found, drawing), class_="wide")),
            section("What to do", todo),
            _columns(found, drawing),
            _rows(found),
            _pairs(found),
            _windows(found),
            _how(found),
        ),
        made_with(),
    ]
    return document(title, join(body))


def drift_summary(found: Drift) -> str:
    """The answer, the line and the windows, for a notebook."""
    parts = tag("p", tag("strong", found.answer)), _line(found, Drawing()), _table(found)
    colours = "--p:#0072b2;--q:#d55e00;--ink:#15191e;--soft:#59616b;--line:#b9bfc6;--grey:#8c8c8c"
    return tag("div", *parts, style=f"{colours};max-width:48rem")


def _opening(found: Drift, title: str) -> Markup:
    said, dot, rest = found.answer.partition(". ")
    alarms = len(found.alarms)
    rows = sum(one.rows for one in found.windows)
    chip = ("warn", "!", f"{words.count(alarms, 'alarm')}") if alarms else ("ok", "✓", "no alarm")
    facts = [
        tag(
            "span", tag("span", chip[1], aria_hidden="true"), " ", chip[2], class_=f"chip {chip[0]}"
        ),
        words.count(len(found.windows), "window"),
        words.count(rows, "row"),
        f"reference of {words.count(found.reference_rows, 'row')}",
    ]
    return tag(
        "header",
        tag("p", "isthmus", class_="mark"),
        tag("h1", title),
        tag("p", tag("strong", said, dot.strip()), " ", rest, class_="answer"),
        tag("ul", [tag("li", fact) for fact in facts], class_="facts"),
    )


def _line(found: Drift, drawing: Drawing) -> Markup | None:
    if not any(one.estimate for one in found.windows):
        return None
    return drawing.figure(
        found.plot,
        "Divergence of every window from the reference",
        f"How far every window is from the reference, with {100 * found.level:g} % intervals: 0 "
        "is no difference. The size does not depend on the number of rows; an alarm says that it "
        "is no chance.",
        (8.6, 3.2),
    )


def _columns(found: Drift, drawing: Drawing) -> Markup:
    judged = [one for one in found.windows if one.columns]
    best: dict[str, tuple[float, Window, ColumnDrift]] = {}
    for window in judged:
        for one in window.columns:
            if one.name not in best or one.effect.value > best[one.name][0]:
                best[one.name] = one.effect.value, window, one
    ranked = sorted(best.values(), key=lambda item: -item[0])[:_COLUMNS]
    if not ranked:
        return section("Which columns", tag("p", "No window has rows enough.", class_="soft"))
    names = [one.name for _, _, one in ranked]
    parts = []
    if len(judged) > 1:
        effect = {(w.label, c.name): c.effect.value for w in judged for c in w.columns}
        values = [[effect[window.label, name] for window in judged] for name in names]
        places = [one.start if hasattr(one.start, "strftime") else one.label for one in judged]
        draw = partial(plots.drift_map, names, places, values)
        told = "Every column alone in every window: the darker, the further from the reference."
        size = (8.6, 1.2 + 0.28 * len(names))
        parts.append(
            tag("div", drawing.figure(draw, "Columns over time", told, size), class_="wide")
        )
    heads = [head("Column"), head("Largest effect", "number"), head("Interval", "number"),
             head("Window"), head("What changed")]  # fmt: skip
    cells = [
        (
            row_name(one.name),
            tag("td", in_nats(one.effect.value), class_="number value"),
            tag("td", ends(one.effect), class_="number"),
            tag("td", window.label),
            tag("td", one.says, _new(one), class_="rule"),
        )
        for _, window, one in ranked
    ]
    parts.append(
        tag("div", table("Jensen–Shannon divergence of the column alone", heads, cells),
            class_="scroll")
    )  # fmt: skip
    more = len(best) - len(ranked)
    if more > 0:
        parts.append(tag("p", f"{words.count(more, 'more column')} changed less.", class_="soft"))
    return section("Which columns", *parts)


def _new(one: ColumnDrift) -> Markup | None:
    if not one.new_levels:
        return None
    return tag(
        "small",
        f" New levels: {words.listed([words.printable(x, 30) for x in one.new_levels])}; "
        f"{100 * one.new_share:.3g} % of the rows, about {100 * one.expected_share:.3g} % by "
        "chance.",
    )


def _rows(found: Drift) -> Markup | None:
    told = [
        (
            tag("td", window.label),
            tag("td", "new" if one.new else "gone", class_="number"),
            tag("td", words.printable(one.rule, 200), class_="rule"),
            tag("td", f"{100 * one.share:.1f} %", class_="number value"),
            tag("td", f"{100 * one.reference:.1f} %", class_="number"),
        )
        for window in _worst(found)
        for one in window.segments
    ]
    if not told:
        return None
    heads = [head("Window"), head(""), head("Rows with"), head("In the window", "number"),
             head("In the reference", "number")]  # fmt: skip
    return section(
        "Which rows",
        tag(
            "p",
            "Rows that the window has more of (new) or fewer of (gone), found on half of the rows "
            "and counted on the other half.",
            class_="soft",
        ),
        tag("div", table("Windows with the largest divergence", heads, told), class_="scroll"),
    )


def _pairs(found: Drift) -> Markup | None:
    told = [
        tag("li", f"{window.label}: {one} ({words.interval(one.change)} of the change "
            f"{words.ends(one.change)})")
        for window in _worst(found)
        for one in window.pairs[:3]
    ]  # fmt: skip
    if not told:
        return None
    return section(
        "Which relations",
        tag("p", "Changes that no look at single columns shows.", class_="soft"),
        tag("ul", told),
    )


def _worst(found: Drift) -> Sequence[Window]:
    """Windows with an alarm and the largest divergences, in their order."""
    kept = {one.label for one in [one for one in found.ranked if one.alarm][:_WINDOWS]}
    return [one for one in found.windows if one.label in kept and one.alarm]


def _table(found: Drift) -> Markup:
    heads = [head("Window"), head("Rows", "number"), head("Divergence", "number"),
             head("Interval", "number"), head("p", "number"), head(""),
             head("Carried by")]  # fmt: skip
    rows = []
    for one in found.windows:
        size, interval = found.size(one)
        alarm = tag("span", "alarm", class_="chip warn") if one.alarm else None
        rows.append((
            row_name(one.label),
            tag("td", f"{one.rows:,}", class_="number"),
            tag("td", size, class_="number value"),
            tag("td", interval, class_="number"),
            tag("td", "" if one.p_value is None else f"{one.p_value:.2g}", class_="number"),
            tag("td", alarm),
            tag("td", words.listed([words.printable(n, 30) for n in one.carried_by], 3),
                tag("small", " ", "; ".join(one.notes)) if one.notes else None, class_="rule"),
        ))  # fmt: skip
    name = words.divergence(found.divergence)[1]
    return table(f"{name} from the reference, in nats", heads, rows)


def _windows(found: Drift) -> Markup:
    shown = tag("div", _table(found), class_="scroll")
    if len(found.windows) > 40:
        shown = tag("details", tag("summary", words.count(len(found.windows), "window")), shown)
    return section("Every window", shown)


def _how(found: Drift) -> Markup:
    told = [
        f"A window raises an alarm where its p-value is at most {found.threshold:.3g}: of "
        f"{found.windows_per_year:.4g} windows a year without drift, "
        f"{found.alarms_per_year:g} would raise one.",
        "p-values are exact for independent rows. Days that differ by nature, and rows that come "
        "in groups, count as drift; a reference that holds such ups and downs makes them usual.",
        "Divergences are of rows that the fits have not seen, and moved to where more rows would "
        "lead.",
        *found.notes,
    ]
    out = [(row_name(name), tag("td", why, class_="rule")) for name, why in found.left_out.items()]
    folded = None
    if out:
        shown = table("Columns that were not compared", [head("Column"), head("Why")], out)
        folded = tag(
            "details", tag("summary", f"{words.count(len(out), 'column')} left out"), shown
        )
    versions = f"isthmus {__version__}, Python {platform.python_version()}"
    return section(
        "How it was measured",
        tag("ul", [tag("li", one) for one in told], class_="notes"),
        folded,
        tag("p", versions, class_="soft"),
    )
