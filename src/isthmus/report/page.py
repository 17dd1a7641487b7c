"""From a comparison to one page, and from the page to a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from .._version import __version__
from ..data.validation import check_number
from ..diagnostics.columns import ColumnShift, column_blocks, rank_columns
from . import sections as _sections
from . import words as _words
from .markup import Markup, join, tag
from .pictures import Pictures

DIVERGENCES = ("kl", "reverse-kl", "js", "hellinger", "tv")
# Above so many columns only those that differ by themselves are permuted.
_MANY = 60
_SHOWN = 6


def write(
    comparison: Any,
    path: str | os.PathLike[str],
    *,
    labels: tuple[str, str] = ("p", "q"),
    title: str | None = None,
    divergences: Sequence[str] = DIVERGENCES,
    columns: int = 12,
    notes: Sequence[str] = (),
    command: str | None = None,
) -> Path:
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
    labels : pair of str
        Names of the two samples.
    title : str, optional
        Heading, by default made of the labels.
    divergences : sequence of str
        Divergences to list; see :meth:`isthmus.Comparison.divergence`.
    columns : int, default 12
        How many columns to rank; 0 leaves that part out, and with it a few fits.
    notes : sequence of str
        Sentences to print beside the settings.
    command : str, optional
        Command that repeats the comparison; by default it is Python code.

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
    target = check_path(path)
    text = page(
        comparison,
        labels=labels,
        title=title,
        divergences=divergences,
        columns=columns,
        notes=notes,
        command=command,
    )
    # Beside the target, so that the last step is a change of name, which cannot fail half-way.
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return Path(path)


def check_path(path: str | os.PathLike[str], argument: str = "path") -> Path:
    """Refuse a path that cannot be written to, before anything long is begun."""
    target = Path(path).resolve()
    if target.is_dir():
        raise ValueError(f"{argument} must be a file; received the folder {path}.")
    if not target.parent.is_dir():
        raise ValueError(f"{argument} must be in a folder that exists; received {path}.")
    return target


def page(
    comparison: Any,
    *,
    labels: tuple[str, str] = ("p", "q"),
    title: str | None = None,
    divergences: Sequence[str] = DIVERGENCES,
    columns: int = 12,
    notes: Sequence[str] = (),
    command: str | None = None,
) -> str:
    """Return the page that :func:`write` writes, as text; the parameters are its."""
    first, second = (str(label) for label in labels)
    labels = (first, second)
    check_number(columns, "columns", low=0, integer=True)
    given: tuple[tuple[str, Any, Any], ...] = (
        ("labels", labels, ("p", "q")),
        ("title", title, None),
        ("divergences", tuple(divergences), DIVERGENCES),
        ("columns", columns, 12),
        ("notes", list(notes), []),
    )
    options = {name: value for name, value, usual in given if value != usual}
    found = {name: comparison.divergence(name) for name in dict.fromkeys(("kl", *divergences))}
    pictures = Pictures(comparison, comparison.kept, labels)
    ranked, alone = _ranked(comparison, columns)
    names = [shift.name for shift in ranked] or list(pictures.blocks)
    checks = comparison.diagnostics
    heading = _words.heading(labels) if title is None else title
    sizes = len(comparison.log_ratio_p), len(comparison.log_ratio_q), len(pictures.blocks)
    body = [
        _sections.head(
            heading, _words.answer(found["kl"], checks, labels), labels, sizes, checks
        ),
        tag(
            "main",
            _sections.divergences(found),
            _sections.checks(checks, pictures.checks()),
            _columns(pictures, ranked, alone) if ranked else None,
            _sections.section(
                "The ratio", tag("div", pictures.ratio(names), class_="figures")
            ),
            _sections.repeat(comparison, command, options, _compared(comparison, notes)),
        ),
        tag(
            "footer",
            tag("p", f"Made with isthmus {__version__}. ",
                "This page is complete: it holds no scripts and loads nothing."),
        ),
    ]  # fmt: skip
    return _document(heading, join(body))


def _ranked(
    comparison: Any, most: int
) -> tuple[list[ColumnShift], dict[str, ColumnShift]]:  # fmt: skip
    """Columns to show, and how much each of them differs by itself."""
    count = len(column_blocks(comparison))
    if count < 2 or most == 0:
        return [], {}
    seed = 0  # the page of a comparison is always the same
    if count > _MANY:
        alone = rank_columns(comparison, "marginal", random_state=seed)[:most]
        ranked = rank_columns(
            comparison, repeats=3, columns=[s.name for s in alone], random_state=seed
        )
    else:
        ranked = rank_columns(comparison, repeats=3, random_state=seed)[:most]
        alone = rank_columns(
            comparison, "marginal", columns=[s.name for s in ranked], random_state=seed
        )
    return ranked, {shift.name: shift for shift in alone}


def _columns(
    pictures: Pictures, ranked: list[ColumnShift], alone: dict[str, ColumnShift]
) -> Markup:
    def cells(shift: ColumnShift) -> Markup:
        value, error = _plus_minus(shift).split(" ± ")
        return tag("td", value, tag("small", f" ± {error}"), class_="number")

    hidden = len(pictures.blocks) - len(ranked)
    table = tag(
        "table",
        tag("caption", "What each column carries, in nats with standard errors"),
        tag(
            "thead",
            tag(
                "tr",
                tag("th", "Column", scope="col"),
                tag("th", "Lost without it", scope="col", class_="number"),
                tag("th", "Alone (JS)", scope="col", class_="number"),
            ),
        ),
        tag(
            "tbody",
            [tag("tr", _sections.named(s.name), cells(s), cells(alone[s.name]))
             for s in ranked],
        ),
    )  # fmt: skip
    single = [
        pictures.column(s.name, f"Alone it differs by {_plus_minus(alone[s.name])} nats (JS).")
        for s in ranked[:_SHOWN]
    ]
    return _sections.section(
        "Which columns differ",
        tag(
            "p",
            "A column counts by what the mean of KL(p‖q) and KL(q‖p) loses when its values are "
            "permuted over both samples, relations to other columns included; and by the "
            "Jensen–Shannon divergence of the column alone.",
            f" {hidden} more columns are not shown." if hidden else None,
            class_="soft",
        ),
        tag("div", pictures.ranking(ranked), table, class_="ranking"),
        tag(
            "ul",
            [tag("li", side) for side in _sections.sides(pictures.labels)],
            class_="facts sides",
        ),
        tag("div", single, class_="figures small"),
    )


def _plus_minus(shift: ColumnShift) -> str:
    from ..functionals import Estimate

    value, error, _, _ = _words.estimate(Estimate.from_std_error(shift.value, shift.std_error))
    return f"{value} ± {error}"


def _compared(comparison: Any, notes: Sequence[str]) -> Markup:
    encoder = comparison.encoder
    columns = {} if encoder is None else encoder.summary()
    rows = []
    if encoder is not None:
        for side, kept in (("p", encoder.kept_p_), ("q", encoder.kept_q_)):
            lost = int((~kept).sum())
            if lost:
                rows.append(f"{lost:,} rows of {side} were left out for missing values.")
    return _sections.compared(columns, notes, rows)


def _document(title: str, body: Markup) -> str:
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
