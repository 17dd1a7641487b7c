"""What all pictures share: colours, axes, legends, outlines, and names shown as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.sample import Sample, TwoSamples
from ..data.validation import as_weight
from ..typing import Array
from ..words import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P, Q, GREY = "#0072b2", "#d55e00", "#8c8c8c"
"""Colours of p, of q, and of everything that is neither (Okabe & Ito's palette)."""

MIDDLE = "#d4d4d4"
MOST_BINS = 60
MOST_LETTERS = 40
_LEGEND_LETTERS = 44


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, new = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    return plain_frame(new)


def plain_frame(ax: Axes) -> Axes:
    """Take away the two sides of the frame that carry no numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def as_label(text: object, most: int = MOST_LETTERS) -> str:
    r"""Name from data as a label in which Matplotlib finds no formula.

    Examples
    --------
    >>> print(as_label("price in $, tax in $"))
    price in \$, tax in \$
    """
    return printable(text, most).replace("$", r"\$")


def name_rows(ax: Axes, names: Iterable[object], most: int) -> None:
    """Name the places 0, 1, ... on the vertical axis, the first at the top."""
    labels = [as_label(name, most) for name in names]
    ax.set_yticks(np.arange(len(labels)), labels=labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def legend(ax: Axes, handles: Sequence[Any], names: Sequence[object] | None) -> None:
    """Add a legend above the axes, where it hides nothing; in one line if the names are short.

    Names with a leading underscore are shown too, which Matplotlib would leave out. None is
    no legend.
    """
    if names is None:
        return
    told = [printable(name, 28) for name in names]
    columns = len(told) if sum(map(len, told)) <= _LEGEND_LETTERS else 1
    shown = ax.legend(
        handles,
        [str(k) for k in range(len(told))],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        ncols=columns,
        frameon=False,
    )
    for text, name in zip(shown.get_texts(), told, strict=True):
        text.set_text(as_label(name))


def as_values(values: npt.ArrayLike, argument: str) -> Array:
    """Return a one-dimensional array of numbers, infinite and missing ones included."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise ValueError(
            f"{argument} must be a sequence of numbers, at least one; received shape {array.shape}."
        )
    return array


def as_sample(values: npt.ArrayLike, weight: Any, argument: str, side: str = "") -> Sample:
    """Values with their weights; ``side`` is what the names of both arguments end in."""
    array = as_values(values, argument + side)
    return Sample(array, as_weight(weight, len(array), f"weight{side}"))


def both_samples(
    p: npt.ArrayLike, q: npt.ArrayLike, weight_p: Any, weight_q: Any, argument: str
) -> TwoSamples:
    """Values of both samples with their weights."""
    return TwoSamples(
        as_sample(p, weight_p, argument, "_p"), as_sample(q, weight_q, argument, "_q")
    )


def weighted_log_ratio(log_ratio: npt.ArrayLike, weight: Any) -> Array:
    """Log-ratios that hold the weights of their rows, without rows of weight zero."""
    sample = as_sample(log_ratio, weight, "log_ratio").positive()
    return sample.rows + np.log(sample.weight)


def same_length(**arrays: Any) -> None:
    """Refuse arrays that do not have one value for each row; None is any of them left out."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{length} in {name}" for name, length in lengths.items())
        raise ValueError(f"{' and '.join(lengths)} must have one length; received {told}.")


def edges_of(*samples: Array, most: int = MOST_BINS, trim: float = 0.0) -> Array:
    """Edges of bins that several samples share, about as many as the root of the rows.

    They may leave out a share ``trim`` of the rows at either end, so that one outlier does not
    squeeze all others into one bin.
    """
    pooled = np.concatenate([values[np.isfinite(values)] for values in samples])
    if not pooled.size:
        return np.linspace(-0.5, 0.5, 12)
    low, high = float(pooled.min()), float(pooled.max())
    if trim:
        ends = np.quantile(pooled, [trim, 1.0 - trim])
        reach = 0.5 * float(ends[1] - ends[0])
        if reach > 0:
            low, high = max(low, ends[0] - reach), min(high, ends[1] + reach)
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        # One value: a bar about it, wide enough for floating point to tell its ends apart.
        half = 0.5 * max(1.0, abs(low) * 1e-6)
        return np.linspace(low - half, low + half, 12)
    return np.linspace(low, high, int(np.clip(np.sqrt(pooled.size), 10, most)) + 1)


def heights(sample: Sample, edges: Array) -> Array:
    """Height of every bin, so that the area of all rows, shown or not, is one."""
    finite = sample.take(np.isfinite(sample.rows))
    total = finite.weight.sum()
    count = np.histogram(finite.rows, edges, weights=finite.weight)[0]
    return np.asarray(count / (total * np.diff(edges))) if total > 0 else np.zeros(len(edges) - 1)


def silhouette(ax: Axes, edges: Array, height: Array, color: str, alpha: float = 0.5) -> Any:
    """Draw a histogram as one filled outline, and return it for a legend."""
    ax.stairs(height, edges, color=color, linewidth=1.2)
    return ax.stairs(height, edges, fill=True, facecolor=color, alpha=alpha, edgecolor="none")


def silhouettes(ax: Axes, samples: TwoSamples, most: int = MOST_BINS) -> list[Any]:
    """Draw the histograms of both samples over the same bins, and return them for a legend."""
    edges = edges_of(*(sample.rows for sample in samples), most=most, trim=0.005)
    shapes = [
        silhouette(ax, edges, heights(sample, edges), color)
        for sample, color in zip(samples, (P, Q), strict=True)
    ]
    ax.set_ylim(bottom=0)
    return shapes


def diverging() -> Any:
    """Colours from q's by way of grey to p's."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("isthmus", [Q, MIDDLE, P])


def symmetric_limit(log_ratio: Array) -> float:
    """Limit of a colour scale around zero that all but the last few rows lie within."""
    size = np.abs(log_ratio[np.isfinite(log_ratio)])
    limit = float(np.quantile(size, 0.98)) if size.size else 0.0
    return limit if limit > 1e-12 else 1.0
