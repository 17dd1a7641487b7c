"""Weights as one page of HTML, and as what a notebook shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..files import check_target, written_whole
from ..report.drawing import Drawing
from ..report.markup import Markup, head, join, row_name, section, table, tag
from ..report.sections import chip
from ..report.shell import document, made_with
from ..words import SAID, number, signed
from .pictures import love_plot, overlap_plot
from .told import facts

if TYPE_CHECKING:
    from .result import Weights

_MOST = 60
_SHOWN = 20
_IN_NOTEBOOK = 8


def write(weights: Weights, path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write the page; a file of that name is replaced once it is complete."""
    check_target(path)
    text = page(weights, title)
    with written_whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def page(weights: Weights, title: str | None = None) -> str:
    """The page as text."""
    heading = "Weights, and what they are worth" if title is None else str(title)
    drawing = Drawing()
    rows = min(len(weights.balance), _SHOWN)
    love = drawing.figure(
        lambda ax: love_plot(weights.balance, ax=ax, most=_SHOWN),
        "Standardised mean differences before and after weighting",
        "Every column and level before weighting, and after at rows that the fit has not seen, "
        "with two standard errors.",
        (4.6, 1.2 + 0.24 * rows),
    )
    shares = drawing.figure(
        lambda ax: overlap_plot(weights.overlap, ax=ax),
        "Shares by decile of the ratio",
        "If the weights are right, the weighted source has the target's share in every tenth.",
        (4.6, 3.2),
    )
    body = [
        _opening(weights, heading),
        tag(
            "main",
            _population(weights),
            section("What they are worth", _facts(weights)),
            section("Balance", tag("div", love, class_="figures"), _balance(weights, _MOST)),
            section("Overlap", tag("div", shares, class_="figures"), _overlap(weights)),
            section("What was done", _done(weights)),
        ),
        made_with(),
    ]
    return document(heading, join(body))


def summary(weights: Weights) -> str:
    """What a notebook shows: the verdict, the numbers, and the columns furthest apart."""
    return str(
        tag(
            "div",
            tag("p", tag("strong", weights.verdict)),
            _facts(weights),
            _balance(weights, _IN_NOTEBOOK),
            tag("ul", [tag("li", note) for note in weights.notes]) if weights.notes else None,
        )
    )


def _opening(weights: Weights, heading: str) -> Markup:
    said, colon, rest = weights.verdict.partition(":")
    c = weights.certificate
    told = [
        chip(c.verdict, SAID[c.verdict]),
        join(tag("b", f"{len(weights):,}"), "rows of the source"),
        join(tag("b", f"{len(weights.comparison.samples.p):,}"), "rows of the target"),
        join(
            tag("b", f"{len(dict.fromkeys(q.column for q in c.balance.quantities)):,}"), "columns"
        ),
    ]
    return tag(
        "header",
        tag("p", "isthmus", class_="mark"),
        tag("h1", heading),
        tag("p", tag("strong", said, colon), rest, class_="answer"),
        tag("ul", [tag("li", one) for one in told], class_="facts"),
    )


def _population(weights: Weights) -> Markup | None:
    """Which rows the weights stand for, where it is not all of them."""
    found = weights.population
    if found is None:
        return None
    return section(
        "Which population",
        tag(
            "p",
            f"The weights stand for {100 * found.target_share:.3g} % of the target and "
            f"{100 * found.source_share:.3g} % of the source. Nothing is said of the rest.",
        ),
        tag("p", "Rows without those where" if found.without else "Rows where", class_="soft"),
        tag("ul", [tag("li", tag("code", str(rule))) for rule in found.rules]),
    )


def _facts(weights: Weights) -> Markup:
    rows = [(row_name(name), tag("td", value, class_="number")) for name, value in facts(weights)]
    return table("The weights in numbers", [head("Measure"), head("Value", "number")], rows)


def _balance(weights: Weights, most: int) -> Markup:
    b = weights.balance
    heads = [
        head("Column or level"),
        *(head(name, "number") for name in ("Target", "Source", "Weighted")),
        *(head(name, "number") for name in ("Before", "After", "Unseen", "± 2 SE")),
        *(head(name, "number") for name in ("Var. before", "Var. after")),
    ]

    def cell(value: float, digits: int = 3) -> Markup:
        told = signed(f"{value:.{digits}f}") if np.isfinite(value) else "–"
        return tag("td", told, class_="number")

    rows = [
        (
            row_name(b.labels[j]),
            *(tag("td", number(float(m[j])), class_="number") for m in (b.target, b.source)),
            tag("td", number(float(b.weighted[j])), class_="number"),
            *(cell(float(v[j])) for v in (b.before, b.after, b.unseen)),
            cell(2.0 * float(b.std_error[j])),
            *(cell(float(v[j]), 2) for v in (b.variance_before, b.variance_after)),
        )
        for j in b.order[:most]
    ]
    caption = "Means, or shares of levels; their differences in the target's standard deviations"
    if len(b) > most:
        caption += f"; the {most} that were furthest apart of {len(b)}"
    return tag("div", table(caption, heads, rows), class_="wide")


def _overlap(weights: Weights) -> Markup:
    o = weights.overlap

    def share(value: float) -> Markup:
        return tag("td", f"{100 * value:.1f} %", class_="number")

    rows = []
    for k in range(len(o.source)):
        low, high = (number(float(np.exp(edge))) for edge in o.edges[k : k + 2])
        ends = f"up to {high}" if k == 0 else f"above {low}" if np.isposinf(o.edges[k + 1]) else ""
        name = tag("th", ends or f"{low} to {high}", scope="row")
        rows.append((name, *(share(float(v[k])) for v in (o.source, o.target, o.weighted))))
    names = ("Source", "Target", "Weighted source")
    heads = [head("Ratio target/source"), *(head(name, "number") for name in names)]
    absent = [
        tag("li", f"{name}: {100 * part:.2g} % of the target") for name, part in o.absent[:_SHOWN]
    ]
    return join(
        table("Shares of the rows by the ratio", heads, rows),
        tag(
            "p",
            f"{100 * o.beyond:.3g} % of the target lies beyond all rows of the source.",
            class_="soft",
        ),
        tag("p", "Levels that the source lacks:", class_="soft") if absent else None,
        tag("ul", absent) if absent else None,
    )


def _done(weights: Weights) -> Markup:
    scale = {
        "mean": "They average one over the rows with weight.",
        "sum": "They add up to one.",
        "target": "They add up to the target's rows.",
    }[weights.normalise]
    told = [*weights.notes, scale, f"The ratio rests on: {weights.comparison.rests_on}."]
    return tag("ul", [tag("li", note) for note in told], class_="notes")
