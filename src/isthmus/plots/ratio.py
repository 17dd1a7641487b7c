"""The log-ratio itself: over its samples, against the truth, along one column or over two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.validation import check_number
from ..typing import Array
from ..words import LOG_RATIO
from .style import (
    GREY,
    P,
    Q,
    as_label,
    as_values,
    axes_or_new,
    both_samples,
    diverging,
    edges_of,
    heights,
    legend,
    same_length,
    silhouette,
    silhouettes,
    symmetric_limit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    weight_p, weight_q, labels, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ax = log_ratio_histogram(rng.normal(2, 1, 500), rng.normal(-2, 1, 500))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['p', 'q']
    """
    samples = both_samples(log_ratio_p, log_ratio_q, weight_p, weight_q, "log_ratio")
    ax = axes_or_new(ax)
    shapes = silhouettes(ax, samples)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    ax.set(xlabel=LOG_RATIO, ylabel="share of rows per nat")
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
    """Show estimated against true log p/q, where the truth is known, and the error.

    Parameters
    ----------
    true, estimated : array-like of shape (n,)
        Log-ratios at the same rows. Rows at which either is infinite are left out.
    is_p : array-like of bool of shape (n,), optional
        Which rows are of p; the others are of q.
    labels, ax
        As in :mod:`isthmus.plots`.

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
    both = np.concatenate([t[finite], e[finite]])
    ends = [float(both.min()), float(both.max())]
    ax.plot(ends, ends, color=GREY, linewidth=1, zorder=1)
    groups = [(finite, P)] if side is None else [(finite & side, P), (finite & ~side, Q)]
    shown = [
        ax.scatter(t[rows], e[rows], s=9, color=color, alpha=0.5, linewidths=0)
        for rows, color in groups
    ]
    if side is not None:
        legend(ax, shown, labels)
    error = float(np.sqrt(np.mean((t[finite] - e[finite]) ** 2)))
    told = f"root mean square error {error:.3g} nats"
    ax.text(0.98, 0.04, told, ha="right", transform=ax.transAxes)
    ax.set(xlabel=f"true {LOG_RATIO}", ylabel="estimated")
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
    weight_p, weight_q, name, labels, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> rng, x = np.random.default_rng(0), np.linspace(-3, 4, 50)
    >>> ax = ratio_curve(rng.normal(0, 1, 500), rng.normal(1, 1, 500), x, 0.5 - x)
    >>> ax.get_xlabel()
    'x'
    """
    samples = both_samples(x_p, x_q, weight_p, weight_q, "x")
    points, curve = as_values(grid, "grid"), as_values(log_ratio, "log_ratio")
    truth = None if true is None else as_values(true, "true")
    low, high = (None, None) if band is None else (as_values(end, "band") for end in band)
    same_length(grid=points, log_ratio=curve, true=truth, low=low, high=high)
    ax = axes_or_new(ax)
    below: Any = ax.twinx()
    inside = [s.rows[(s.rows >= points[0]) & (s.rows <= points[-1])] for s in samples]
    edges = edges_of(*inside, most=90)
    shapes: list[Any] = []
    for sample, color in zip(samples, (P, Q), strict=True):
        height = heights(sample, edges)
        height /= max(float(height.max()), 1e-300)
        shapes.append(silhouette(below, edges, height, color, alpha=0.35))
    below.set_ylim(0.0, 4.5)
    below.axis("off")
    # The curve lies over the outlines.
    ax.set_zorder(below.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    names = list(labels)
    if truth is not None:
        shapes += ax.plot(points, truth, color=GREY, linewidth=4, alpha=0.6)
        names.append("true log p/q")
    shapes += ax.plot(points, curve, color="black", linewidth=1.6)
    names.append("log p/q")
    if low is not None and high is not None:
        ax.fill_between(points, low, high, color="black", alpha=0.15, linewidth=0)
    ax.set(xlabel=as_label(name), ylabel=LOG_RATIO)
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
    name, ax
        As in :mod:`isthmus.plots`.

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
    for half in (k * spread, 0.5 * k * spread):
        shade = ax.fill_between(
            points, centre - half, centre + half, color=P, alpha=0.2, linewidth=0
        )
    shown: list[Any] = [*ax.plot(points, centre, color=P, linewidth=1.6), shade]
    names = ["mean", f"± {k:g} standard deviations"]
    if truth is not None:
        shown += ax.plot(points, truth, color="black", linewidth=1, linestyle="--")
        names.append("truth")
    ax.set(xlabel=as_label(name), ylabel=LOG_RATIO)
    legend(ax, shown, names)
    return ax


def ratio_points(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    log_ratio: npt.ArrayLike,
    *,
    limit: float | None = None,
    names: tuple[str, str] = ("x0", "x1"),
    ax: Axes | None = None,
) -> Axes:
    """Show rows in two columns, coloured by log p/q, with a colour bar beside them.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The two columns.
    log_ratio : array-like of shape (n,)
        Log p/q at the rows. Blue is where p is the denser, vermilion where q is.
    limit : float, optional
        Where the colours end; by default all but two per cent lie within.
    names, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> x, y = np.random.default_rng(0).normal(size=(2, 200))
    >>> ax = ratio_points(x, y, x - y, names=("height", "weight"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('height', 'weight')
    """
    first, second = as_values(x, "x"), as_values(y, "y")
    ratio = as_values(log_ratio, "log_ratio")
    same_length(x=first, y=second, log_ratio=ratio)
    ax = axes_or_new(ax)
    limit = _limit(limit, ratio)
    # Rows that say most are drawn last, over the others.
    order = np.argsort(np.abs(ratio), kind="stable")
    shown = ax.scatter(
        first[order],
        second[order],
        c=np.clip(ratio[order], -limit, limit),
        s=10,
        cmap=diverging(),
        vmin=-limit,
        vmax=limit,
        linewidths=0,
    )
    _colour_bar(ax, shown, names)
    return ax


def ratio_map(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    log_ratio: npt.ArrayLike,
    *,
    rows_p: npt.ArrayLike | None = None,
    rows_q: npt.ArrayLike | None = None,
    limit: float | None = None,
    names: tuple[str, str] = ("x0", "x1"),
    labels: tuple[str, str] = ("p", "q"),
    ax: Axes | None = None,
) -> Axes:
    """Map log p/q over a grid of two columns, with the line on which it is zero.

    Parameters
    ----------
    x, y : array-like of shape (k,) and (m,)
        The grid's points along each column, in increasing order.
    log_ratio : array-like of shape (m, k)
        Log p/q at the grid, y along the first axis.
    rows_p, rows_q : array-like of shape (n, 2), optional
        Rows of the two samples to draw over the map.
    limit : float, optional
        As in :func:`ratio_points`.
    names, labels, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> x = np.linspace(-2, 2, 20)
    >>> ax = ratio_map(x, x, np.subtract.outer(x, x))
    >>> ax.get_xlim() == (-2.0, 2.0)
    True
    """
    first, second = as_values(x, "x"), as_values(y, "y")
    ratio = np.asarray(log_ratio, dtype=np.float64)
    if ratio.shape != (len(second), len(first)):
        raise ValueError(
            f"log_ratio must have the shape (len(y), len(x)) = ({len(second)}, {len(first)}); "
            f"received {ratio.shape}."
        )
    ax = axes_or_new(ax)
    limit = _limit(limit, ratio.ravel())
    held = np.clip(np.nan_to_num(ratio, nan=0.0, posinf=limit, neginf=-limit), -limit, limit)
    levels = np.linspace(-limit, limit, 14).tolist()
    colours = diverging()
    shown = ax.contourf(
        first, second, held, levels=levels, cmap=colours, alpha=0.55, antialiased=True
    )
    if held.min() < 0 < held.max():
        ax.contour(first, second, held, levels=[0.0], colors="black", linewidths=1)
    dots, told = [], []
    for rows, color, label in ((rows_p, P, labels[0]), (rows_q, Q, labels[1])):
        if rows is not None:
            at = np.asarray(rows, dtype=np.float64)
            dots.append(ax.scatter(at[:, 0], at[:, 1], s=6, color=color, linewidths=0))
            told.append(label)
    if dots:
        legend(ax, dots, told)
    ax.set(xlim=(first[0], first[-1]), ylim=(second[0], second[-1]))
    _colour_bar(ax, shown, names)
    return ax


def _limit(limit: float | None, ratio: Array) -> float:
    if limit is None:
        return symmetric_limit(ratio)
    return check_number(limit, "limit", low=0, open_low=True)


def _colour_bar(ax: Axes, shown: Any, names: tuple[str, str]) -> None:
    """Add the colour bar of a picture over two columns, and the names of these."""
    from matplotlib.ticker import MaxNLocator

    figure: Any = ax.figure
    bar = figure.colorbar(shown, ax=ax, label=LOG_RATIO, ticks=MaxNLocator(5))
    bar.outline.set_visible(False)
    ax.set(xlabel=as_label(names[0]), ylabel=as_label(names[1]))
