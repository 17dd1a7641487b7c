"""A comparison as a notebook shows it: the answer, the picture and the checks."""

from __future__ import annotations

import zlib
from functools import partial

from .. import plots, words
from ..comparison import Comparison
from .drawing import Drawing
from .markup import Markup, tag

# The page's names of colours, for a notebook, which has no style sheet of ours.
_COLOURS = (
    "--p:#0072b2;--q:#d55e00;--grey:#8c8c8c;--ink:currentColor;--soft:currentColor;--line:#9aa0a6"
)


def fragment(comparison: Comparison) -> str:
    """The answer in a sentence, the log-ratios as a picture, and a table of the checks.

    It has no scripts and loads nothing; text from data is escaped.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(0, 1, 200), rng.normal(1, 1, 200), random_state=0)
    >>> text = fragment(c)
    >>> "KL(p‖q)" in text, "<svg" in text, "<table" in text
    (True, True, True)
    """
    c = comparison
    answer = words.page_answer(c.kl, c.diagnostics, ("p", "q"))
    draw = partial(
        plots.log_ratio_histogram,
        c.log_ratio_p,
        c.log_ratio_q,
        weight_p=c.weight_p,
        weight_q=c.weight_q,
    )
    drawing = Drawing()
    # A notebook shows several: the names within its pictures must differ.
    drawing.count = zlib.crc32(repr((answer, c.log_ratio_p[:5].tolist())).encode())
    picture = drawing.svg(draw, "Log-ratios at the rows of p and of q", (6.0, 2.6))
    return tag(
        "div",
        tag("p", tag("strong", answer)),
        tag("p", words.rests_on(c.rests_on)),
        tag("div", picture, style="max-width:40em"),
        tag("details", tag("summary", c.diagnostics.summary), Markup(c.diagnostics._repr_html_())),
        style=_COLOURS,
    )
