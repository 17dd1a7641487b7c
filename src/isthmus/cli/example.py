"""The embedded example: two samples so far apart that a classifier learns nothing of their ratio.

p = N(-1, 0.08) and q = N(2, 0.15), the first row of the paper's Table 1. Every
threshold between them separates the samples, so a classifier has no reason to
prefer the true log-ratio to any other; how steep it ends up is an accident of
its penalty and of when it stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Column
from rich.text import Text

import isthmus

from .. import problems
from ..plots.style import GREY, P, Q, plain_frame
from ..typing import Array
from ..words import LOG_RATIO, ends, interval
from .output import Output, Result, as_json, collected_notes, deliver
from .terminal import Curve, ProgressCallback, draw, progress_bar, show_notes, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PROBLEM = "table1/row1"
X_RANGE = (-3.0, 4.0)
TRUE_STYLE, BINARY_STYLE, ISTHMUS_STYLE = "bright_black", "red", "bold cyan"

WHY = (
    "No point of one sample lies anywhere near the other, so every steep enough curve separates "
    "them, and a classifier's slope says nothing about the ratio. isthmus adds samples of an "
    "auxiliary distribution that overlaps both, and learns the ratio across it."
)
SEEN = (
    "The true curve is a parabola, and isthmus lies on it, far outside the two samples as well. "
    "The classifier separates p from q without one mistake, and yet its curve is nearly flat on "
    "this scale."
)


@dataclass(frozen=True)
class Example:
    """What the example found; the curves are log p/q over ``x``."""

    rows: int
    kl_true: float
    kl_binary: float
    comparison: isthmus.Comparison
    x: Array
    true: Array
    binary: Array
    isthmus: Array

    def error(self, kl: float) -> float:
        """Relative error of a KL divergence."""
        return kl / self.kl_true - 1


def run_example(
    *,
    seed: int = 0,
    rows: int = 10_000,
    level: float = 0.95,
    progress: ProgressCallback | None = None,
) -> Example:
    """Draw the two samples and estimate their ratio in both ways."""
    problem = problems.load(PROBLEM)
    rng = np.random.default_rng(seed)
    p, q = problem.sample_p(rows, rng), problem.sample_q(rows, rng)
    x = np.linspace(*X_RANGE, 281)
    classifier = binary_classifier().fit(np.vstack([p, q]), np.repeat([1, 0], rows))
    comparison = isthmus.compare(p, q, random_state=seed, level=level, progress=progress)
    return Example(
        rows=rows,
        kl_true=problem.kl,
        # Classes of equal size: the log-odds are the log-ratio.
        kl_binary=float(classifier.decision_function(p).mean()),
        comparison=comparison,
        x=x,
        true=problem.log_ratio(x[:, None]),
        binary=classifier.decision_function(x[:, None]),
        isthmus=comparison.log_ratio(x[:, None]),
    )


def binary_classifier() -> Any:
    """Make the best case for a binary classifier.

    The log-ratio of two normals is a parabola, so that quadratic features hold
    the truth. They are standardised before and after, the penalty is next to
    nothing and Newton's method runs until it has converged.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    return make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2, include_bias=False),
        StandardScaler(),
        LogisticRegression(C=1e10, tol=1e-14, max_iter=10_000, solver="newton-cholesky"),
    )


def compare_example(seed: int, level: float, output: Output) -> None:
    """Run the example, and print and write what was found."""
    with collected_notes() as notes, progress_bar(wanted=not output.quiet) as progress:
        example = run_example(seed=seed, level=level, progress=progress)
        found = {name: example.comparison.divergence(name) for name in output.divergences}
    facts = {
        "problem": PROBLEM,
        "rows": {"p": example.rows, "q": example.rows},
        "kl": {"truth": example.kl_true, "binary_classifier": example.kl_binary},
        "curves": {
            "x": as_json(example.x),
            "true": as_json(example.true),
            "binary": as_json(example.binary),
            "isthmus": as_json(example.isthmus),
        },
    }
    result = Result(example.comparison, found, ("p", "q"), notes)
    deliver(
        result,
        output,
        facts,
        lambda out: _show(out, example, result),
        lambda ax: _plot(example, plain_frame(ax)),
    )


def _plot(example: Example, ax: Axes) -> None:
    ax.plot(example.x, example.true, color=GREY, linewidth=5, label="truth", solid_capstyle="round")
    ax.plot(example.x, example.binary, color=Q, label="binary classifier")
    ax.plot(example.x, example.isthmus, color=P, linestyle="--", label="isthmus")
    ax.set_xlabel("x")
    ax.set_ylabel(LOG_RATIO)
    ax.set_title("N(−1, sd 0.08) against N(2, sd 0.15)")
    ax.legend(frameon=False)


def _show(out: Console, example: Example, result: Result) -> None:
    """Print the numbers, the curves and what one sees."""
    kl = example.comparison.kl
    value = kl.rounded()[0]
    out.print()
    out.print(
        Text.assemble(
            ("Two samples, far apart\n", "bold"),
            (f"p = N(−1, sd 0.08), q = N(2, sd 0.15), {example.rows:,} draws of each", "dim"),
        )
    )
    out.print(Padding(Text(WHY), (1, 0)))
    heads = [Column(name, justify="right") for name in ("value", interval(kl), "error")]
    binary = example.kl_binary
    rows = [
        ("truth, in closed form", f"{example.kl_true:.2f}", "", ""),
        ("binary classifier", f"{binary:.2f}", "none", f"{example.error(binary):+.1%}"),
        ("isthmus", value, ends(kl), f"{example.error(kl.value):+.1%}"),
    ]
    styles = ("", BINARY_STYLE, ISTHMUS_STYLE)
    out.print(table([Column("", style="bold"), *heads], rows, "KL(p‖q), nats", styles))
    curves = [
        Curve("truth", example.true, TRUE_STYLE),
        Curve("binary classifier", example.binary, BINARY_STYLE),
        Curve("isthmus", example.isthmus, ISTHMUS_STYLE, mark="●"),
    ]
    legend = Text(f"{LOG_RATIO}    ", style="bold")
    for curve in curves:
        legend.append(f"{curve.mark or '━━'} {curve.label}   ", curve.style)
    out.print(legend)
    spots = {"p": -1.0, "q": 2.0}
    width = min(out.width, 100)
    out.print(draw(example.x, curves, width=width, ticks=range(-3, 5), spots=spots), no_wrap=True)
    out.print(Padding(Text(SEEN), (1, 0, 0, 0)))
    out.print(Padding(Text(result.answer, style="bold"), (1, 0, 0, 0)))
    show_notes(out, result.notes)
