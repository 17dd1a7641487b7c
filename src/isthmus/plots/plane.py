"""Log p/q over two columns: at rows, or as a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.validation import check_number
from ..typing import Array
from .ratio import LOG_RATIO
from .style import (
    P,
    Q,
    as_label,
    as_values,
    axes_or_new,
    diverging,
    legend,
    same_length,
    symmetric_limit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ratio_points(
    x: npt.ArrayLike,
    y: npt.ArrayLike,
    log_ratio: npt.ArrayLike,
    *,
    limit: float | None = None,
    names: tuple[str, str] = ("x0", "x1"),
    ax: Axes | None = None,
) -> Axes:
    """Show rows in two columns, coloured by log p/q.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The two columns.
    log_ratio : array-like of shape (n,)
        Log p/q at the rows. Blue is where p is the denser, vermilion where q is.
    limit : float, optional
        Where the colours end; by default all but two per cent lie within.
    names : pair of str
        Names of the columns.
    ax : Axes, optional

    Returns
    -------
    Axes
        With a colour bar beside it.

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
        first[order], second[order], c=np.clip(ratio[order], -limit, limit), s=10,
        cmap=diverging(), vmin=-limit, vmax=limit, linewidths=0,
    )  # fmt: skip
    _colour_bar(ax, shown)
    ax.set_xlabel(as_label(names[0]))
    ax.set_ylabel(as_label(names[1]))
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
        Where the colours end; by default all but two per cent lie within.
    names, labels : pair of str
        Names of the columns, and of the samples.
    ax : Axes, optional

    Returns
    -------
    Axes
        With a colour bar beside it.

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
    levels = np.linspace(-limit, limit, 14)
    shown = ax.contourf(
        first, second, held, levels=levels.tolist(), cmap=diverging(), alpha=0.55, antialiased=True
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
    ax.set_xlim(first[0], first[-1])
    ax.set_ylim(second[0], second[-1])
    _colour_bar(ax, shown)
    ax.set_xlabel(as_label(names[0]))
    ax.set_ylabel(as_label(names[1]))
    return ax


def _limit(limit: float | None, ratio: Array) -> float:
    if limit is None:
        return symmetric_limit(ratio)
    return check_number(limit, "limit", low=0, open_low=True)


def _colour_bar(ax: Axes, shown: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    figure: Any = ax.figure
    bar = figure.colorbar(shown, ax=ax, label=LOG_RATIO, ticks=MaxNLocator(5))
    bar.outline.set_visible(False)
