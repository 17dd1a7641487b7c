"""The log-ratio itself: over its samples, against the truth, along one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.validation import as_weight, check_number
from .style import (
    GREY,
    P,
    Q,
    as_label,
    as_values,
    axes_or_new,
    edges_of,
    heights,
    legend,
    same_length,
    silhouette,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG_RATIO = "log p(x)/q(x), nats"


def log_ratio_histogram(
    log_ratio_p: npt.ArrayLike,
    log_ratio_q: npt.ArrayLike,
    *,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    labels: tuple[str, str] = ("p", "q"),
    ax: Axes | None = None,
) -> Axes:
    """Show how log p/q is spread over the rows of each sample.

    Where the two overlap, rows can come from either sample; a gap between them is
    a chasm. The mean over p is KL(p‖q), that over q is minus KL(q‖p).

    Parameters
    ----------
    log_ratio_p, log_ratio_q : array-like of shape (n_p,) and (n_q,)
        Log p/q at the rows of p and of q, such as a comparison's attributes of
        these names. Infinite values are left out.
    weight_p, weight_q : array-like, optional
        Weights of the rows.
    labels : pair of str
        Names of the samples.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ax = log_ratio_histogram(rng.normal(2, 1, 500), rng.normal(-2, 1, 500))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['p', 'q']
    """
    samples = as_values(log_ratio_p, "log_ratio_p"), as_values(log_ratio_q, "log_ratio_q")
    weights = (
        as_weight(weight_p, len(samples[0]), "weight_p"),
        as_weight(weight_q, len(samples[1]), "weight_q"),
    )
    ax = axes_or_new(ax)
    edges = edges_of(*samples, trim=0.005)
    shapes = [
        silhouette(ax, edges, heights(values, edges, weight), color)
        for values, weight, color in zip(samples, weights, (P, Q), strict=True)
    ]
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set_ylim(bottom=0)
    ax.set_xlabel(LOG_RATIO)
    ax.set_ylabel("share of rows per nat")
    legend(ax, shapes, labels)
    return ax


def estimated_against_true(
    true: npt.ArrayLike,
    estimated: npt.ArrayLike,
    *,
    is_p: npt.ArrayLike | None = None,
    labels: tuple[str, str] = ("p", "q"),
    ax: Axes | None = None,
) -> Axes:
    """Show estimated against true log p/q, where the truth is known.

    Parameters
    ----------
    true, estimated : array-like of shape (n,)
        Log-ratios at the same rows. Rows at which either is infinite are left out.
    is_p : array-like of bool of shape (n,), optional
        Which rows are of p; the others are of q.
    labels : pair of str
        Names of the samples.
    ax : Axes, optional

    Returns
    -------
    Axes
        With the root mean square error written in it.

    Examples
    --------
    >>> ax = estimated_against_true([0.0, 1.0, 2.0], [0.1, 0.9, 2.1])
    >>> ax.texts[0].get_text()
    'root mean square error 0.1 nats'
    """
    t, e = as_values(true, "true"), as_values(estimated, "estimated")
    side = None if is_p is None else np.asarray(is_p, dtype=bool)
    same_length(true=t, estimated=e, is_p=side)
    finite = np.isfinite(t) & np.isfinite(e)
    if not finite.any():
        raise ValueError("true and estimated must both be finite at some row; received none.")
    ax = axes_or_new(ax)
    ends = [float(min(t[finite].min(), e[finite].min())),
            float(max(t[finite].max(), e[finite].max()))]  # fmt: skip
    ax.plot(ends, ends, color=GREY, linewidth=1, zorder=1)
    shown: list[Any] = []
    groups = [(finite, P)] if side is None else [(finite & side, P), (finite & ~side, Q)]
    for rows, color in groups:
        shown.append(ax.scatter(t[rows], e[rows], s=9, color=color, alpha=0.5, linewidths=0))
    if side is not None:
        legend(ax, shown, labels)
    error = float(np.sqrt(np.mean((t[finite] - e[finite]) ** 2)))
    ax.text(0.98, 0.04, f"root mean square error {error:.3g} nats", ha="right",
            transform=ax.transAxes)  # fmt: skip
    ax.set_xlabel("true log p(x)/q(x), nats")
    ax.set_ylabel("estimated")
    return ax


def ratio_curve(
    x_p: npt.ArrayLike,
    x_q: npt.ArrayLike,
    grid: npt.ArrayLike,
    log_ratio: npt.ArrayLike,
    *,
    band: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    true: npt.ArrayLike | None = None,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    name: str = "x",
    labels: tuple[str, str] = ("p", "q"),
    ax: Axes | None = None,
) -> Axes:
    """Show log p/q along one column, above the two samples.

    The samples are outlines at the foot of the picture, each as tall as the other, so
    that a narrow one does not flatten a wide one: their height has no scale.

    Parameters
    ----------
    x_p, x_q : array-like of shape (n_p,) and (n_q,)
        The column in the two samples.
    grid, log_ratio : array-like of shape (m,)
        Points in increasing order, and log p/q there.
    band : pair of array-like of shape (m,), optional
        Lower and upper end of an interval about the log-ratio.
    true : array-like of shape (m,), optional
        The true log-ratio.
    weight_p, weight_q : array-like, optional
        Weights of the rows.
    name : str
        Name of the column.
    labels : pair of str
        Names of the samples.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> rng, x = np.random.default_rng(0), np.linspace(-3, 4, 50)
    >>> ax = ratio_curve(rng.normal(0, 1, 500), rng.normal(1, 1, 500), x, 0.5 - x)
    >>> ax.get_xlabel()
    'x'
    """
    samples = as_values(x_p, "x_p"), as_values(x_q, "x_q")
    points, curve = as_values(grid, "grid"), as_values(log_ratio, "log_ratio")
    truth = None if true is None else as_values(true, "true")
    ends = None if band is None else [as_values(end, "band") for end in band]
    same_length(grid=points, log_ratio=curve, true=truth)
    weights = (
        as_weight(weight_p, len(samples[0]), "weight_p"),
        as_weight(weight_q, len(samples[1]), "weight_q"),
    )
    ax = axes_or_new(ax)
    below: Any = ax.twinx()
    inside = [values[(values >= points[0]) & (values <= points[-1])] for values in samples]
    shapes: list[Any] = []
    edges = edges_of(*inside, most=90)
    for values, weight, color in zip(samples, weights, (P, Q), strict=True):
        height = heights(values, edges, weight)
        height /= max(float(height.max()), 1e-300)
        shapes.append(silhouette(below, edges, height, color, alpha=0.35))
    below.set_ylim(0.0, 4.5)
    below.axis("off")
    # The curve lies over the outlines.
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    names: list[object] = list(labels)
    if truth is not None:
        line = ax.plot(points, truth, color=GREY, linewidth=4, alpha=0.6)[0]
        shapes.append(line)
        names.append("true log p/q")
    shapes.append(ax.plot(points, curve, color="black", linewidth=1.6)[0])
    names.append("log p/q")
    if ends is not None:
        same_length(grid=points, low=ends[0], high=ends[1])
        ax.fill_between(points, ends[0], ends[1], color="black", alpha=0.15, linewidth=0)
    ax.set_xlabel(as_label(name))
    ax.set_ylabel(LOG_RATIO)
    legend(ax, shapes, names)
    return ax


def posterior_band(
    x: npt.ArrayLike,
    mean: npt.ArrayLike,
    std: npt.ArrayLike,
    *,
    k: float = 2.0,
    true: npt.ArrayLike | None = None,
    name: str = "x",
    ax: Axes | None = None,
) -> Axes:
    """Show the mean of log p/q over a column, within k standard deviations.

    Parameters
    ----------
    x : array-like of shape (m,)
        Points in increasing order.
    mean, std : array-like of shape (m,)
        Mean and standard deviation of log p/q there.
    k : float
        Half the width of the band, in standard deviations; half of that is drawn
        darker.
    true : array-like of shape (m,), optional
        The true log-ratio.
    name : str
        Name of the column.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> x = np.linspace(-2, 2, 50)
    >>> ax = posterior_band(x, -x, 0.1 + 0.1 * x**2, k=2)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['mean', '± 2 standard deviations']
    """
    check_number(k, "k", low=0, open_low=True)
    points, centre = as_values(x, "x"), as_values(mean, "mean")
    spread = as_values(std, "std")
    truth = None if true is None else as_values(true, "true")
    same_length(x=points, mean=centre, std=spread, true=truth)
    if (spread < 0).any():
        raise ValueError(f"std must not be negative; received {spread.min():g}.")
    ax = axes_or_new(ax)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    for width in (k, 0.5 * k):
        shade = ax.fill_between(
            points, centre - width * spread, centre + width * spread,
            color=P, alpha=0.2, linewidth=0,
        )  # fmt: skip
    shown: list[Any] = [ax.plot(points, centre, color=P, linewidth=1.6)[0], shade]
    names = ["mean", f"± {k:g} standard deviations"]
    if truth is not None:
        shown.append(ax.plot(points, truth, color="black", linewidth=1, linestyle="--")[0])
        names.append("truth")
    ax.set_xlabel(as_label(name))
    ax.set_ylabel(LOG_RATIO)
    legend(ax, shown, names)
    return ax
