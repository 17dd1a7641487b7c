"""Figures that the command line writes to a file; no window is opened, no global state used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._terminal import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._demo import Demo

SUFFIXES = (".png", ".pdf", ".svg")
_P, _Q, _GREY = "#0072b2", "#d55e00", "#999999"


def check_path(path: Path) -> None:
    """Refuse a path that cannot be written to, before anything long is begun."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--plot must end in one of {', '.join(SUFFIXES)}; received {path}.")
    if not path.parent.is_dir():
        raise ValueError(f"--plot must be in a folder that exists; received {path}.")


def save_demo(demo: Demo, path: Path) -> None:
    """Write log p/q of the embedded example: true, by a classifier, by isthmus."""
    figure, axes = _figure()
    axes.plot(demo.x, demo.true, color=_GREY, linewidth=5, label="truth", solid_capstyle="round")
    axes.plot(demo.x, demo.binary, color=_Q, label="binary classifier")
    axes.plot(demo.x, demo.isthmus, color=_P, linestyle="--", label="isthmus")
    axes.set_xlabel("x")
    axes.set_ylabel("log p(x)/q(x), nats")
    axes.set_title("N(−1, sd 0.08) against N(2, sd 0.15)")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def save_log_ratios(comparison: Any, labels: tuple[str, str], path: Path) -> None:
    """Write how log p/q, from models that did not see the rows, is spread over both samples."""
    figure, axes = _figure()
    sides = [np.asarray(values) for values in (comparison.log_ratio_p, comparison.log_ratio_q)]
    finite = [values[np.isfinite(values)] for values in sides]
    pooled = np.concatenate(finite)
    edges = np.histogram_bin_edges(pooled, bins=int(np.clip(np.sqrt(pooled.size), 10, 80)))
    for values, label, color in zip(finite, labels, (_P, _Q), strict=True):
        # Matplotlib reads what stands between dollars as a formula.
        name = printable(label).replace("$", r"\$")
        axes.hist(values, bins=edges.tolist(), density=True, alpha=0.6, color=color, label=name)
    axes.axvline(0.0, color=_GREY, linewidth=1)
    axes.set_xlabel("log p(x)/q(x), nats")
    axes.set_ylabel("share of rows per nat")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def _figure() -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
