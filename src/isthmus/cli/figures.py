"""Figures that the command line writes to a file; no window is opened, no global state used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import plots
from ..plots.style import GREY, P, Q, plain_frame

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .demo import Demo

SUFFIXES = (".png", ".pdf", ".svg")


def check_path(path: Path) -> None:
    """Refuse a path that cannot be written to, before anything long is begun."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--plot must end in one of {', '.join(SUFFIXES)}; received {path}.")
    if not path.parent.is_dir():
        raise ValueError(f"--plot must be in a folder that exists; received {path}.")


def save_demo(demo: Demo, path: Path) -> None:
    """Write log p/q of the embedded example: true, by a classifier, by isthmus."""
    figure, axes = _figure()
    axes.plot(demo.x, demo.true, color=GREY, linewidth=5, label="truth", solid_capstyle="round")
    axes.plot(demo.x, demo.binary, color=Q, label="binary classifier")
    axes.plot(demo.x, demo.isthmus, color=P, linestyle="--", label="isthmus")
    axes.set_xlabel("x")
    axes.set_ylabel("log p(x)/q(x), nats")
    axes.set_title("N(−1, sd 0.08) against N(2, sd 0.15)")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def save_log_ratios(comparison: Any, labels: tuple[str, str], path: Path) -> None:
    """Write how log p/q, from models that did not see the rows, is spread over both samples."""
    figure, axes = _figure()
    plots.log_ratio_histogram(
        comparison.log_ratio_p, comparison.log_ratio_q, labels=labels, ax=axes
    )
    figure.savefig(path, dpi=150)


def _figure() -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    return figure, plain_frame(figure.subplots())
