"""Formulas as MathML, which browsers draw by themselves: no script is loaded from elsewhere."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml


def as_mathml(tex: str, as_block: bool) -> str:
    """A formula of LaTeX; fractions of two digits may do without braces."""
    braced = re.sub(r"\\([td]?frac)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", tex)
    return str(latex2mathml.tex2mathml(braced, as_block))


def visit_inline(writer: Any, node: Any) -> None:
    """Write a formula within a line."""
    writer.body.append(as_mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: Any) -> None:
    """Write a formula in a line of its own."""
    writer.body.append(f'<div class="formula">{as_mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True}
