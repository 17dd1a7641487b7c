"""From a comparison to one page, and from the page to a file."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import words
from ..comparison import Comparison
from ..data.validation import check_number
from ..files import check_target, written_whole
from . import sections
from .markup import join, section, tag
from .pictures import Pictures
from .shell import document, made_with

# Above so many columns only those that differ by themselves are permuted.


def write(comparison: Comparison, path: str | os.PathLike[str], **how: Any) -> Path:
    """Write a comparison as one page of HTML.

    The page opens with the answer in a sentence; then come the divergences, the checks,
    the columns that differ most, pictures, and how to repeat it. It is one file that
    holds its style and its figures, has no scripts and asks the network for nothing.
    The same comparison gives the same bytes.

    Parameters
    ----------
    comparison : Comparison
    path : str or path-like
        Where to write. A file of that name is replaced once the page is complete.
    **how
        Further parameters of :func:`page`.

    Returns
    -------
    Path
        Where the page is.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(0, 1, 300), rng.normal(1, 1, 300), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = c.report(pathlib.Path(folder, "report.html")).read_text("utf-8")
    >>> text[:15], "KL(p‖q) is" in text
    ('<!doctype html>', True)
    """
    check_target(path)
    text = page(comparison, **how)
    with written_whole(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def page(
    comparison: Comparison,
    *,
    labels: tuple[str, str] = ("p", "q"),
    title: str | None = None,
    divergences: Sequence[str] = words.USUAL_DIVERGENCES,
    columns: int = 12,
    notes: Sequence[str] = (),
    command: str | None = None,
) -> str:
    """Return the page that :func:`write` writes, as text.

    Parameters
    ----------
    comparison : Comparison
    labels : pair of str
        Names of the two samples.
    title : str, optional
        Heading, by default made of the labels.
    divergences : sequence of str
        Divergences to list; see :meth:`isthmus.Comparison.divergence`.
    columns : int, default 12
        How many columns to show, those that differ most first; 0 leaves that part out.
    notes : sequence of str
        Sentences to print beside the settings.
    command : str, optional
        Command that repeats the comparison; by default it is Python code.

    Returns
    -------
    str
    """
    first, second = (str(label) for label in labels)
    labels = (first, second)
    check_number(columns, "columns", low=0, integer=True)
    given: tuple[tuple[str, Any, Any], ...] = (
        ("labels", labels, ("p", "q")),
        ("title", title, None),
        ("divergences", tuple(divergences), words.USUAL_DIVERGENCES),
        ("columns", columns, 12),
        ("notes", list(notes), []),
    )
    options = {name: value for name, value, usual in given if value != usual}
    found = {name: comparison.divergence(name) for name in dict.fromkeys(("kl", *divergences))}
    pictures = Pictures(comparison, labels)
    differing = comparison.columns if columns else ()
    names = [one.name for one in differing[:columns] if one.used] or list(pictures.blocks)
    checks = comparison.diagnostics
    heading = words.heading(labels) if title is None else title
    answer = words.page_answer(found["kl"], checks, labels)
    sizes = len(comparison.samples.p), len(comparison.samples.q), len(pictures.blocks)
    body = [
        sections.opening(heading, answer, comparison.rests_on, labels, sizes, checks),
        tag(
            "main",
            sections.columns(pictures, differing, columns) if len(differing) > 1 else None,
            sections.divergences(found, _rest(comparison, labels)),
            sections.checks(checks, pictures.checks()),
            section("The ratio", tag("div", pictures.ratio(names), class_="figures")),
            sections.repeat(comparison, command, options, notes),
        ),
        made_with(),
    ]
    return document(heading, join(body))


def _rest(comparison: Comparison, labels: tuple[str, str]) -> list[str]:
    """What there is to say of the rows whose levels both samples have."""
    if math.isfinite(comparison.kl.value) or comparison.rest is None:
        return []
    return [f"{words.rest(comparison.divergence_of_rest(), labels)}."]
