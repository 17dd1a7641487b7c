"""A picture of drift over time: the divergence of every window, alarms, and when it began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .style import GREY, P, Q, as_label, as_values, axes_or_new, legend, same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 8


def drift_line(
    places: Sequence[Any],
    values: npt.ArrayLike,
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    *,
    alarms: Sequence[bool] | None = None,
    began: int | None = None,
    name: str = "Jensen–Shannon",
    ax: Axes | None = None,
) -> Axes:
    """Show the divergence of windows from a reference as a line with a band.

    Parameters
    ----------
    places : sequence of dates or of names
        Where the windows lie; names are put at equal distances.
    values, lows, highs : array-like of shape (n,)
        Divergences and the ends of their intervals; an infinite end is drawn at the value.
    alarms : sequence of bool, optional
        Which windows raise an alarm.
    began : int, optional
        The first window with drift, before which a line is drawn.
    name : str
        Name of the divergence.
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = drift_line(["a", "b", "c"], [0, 0.01, 0.2], [0, 0, 0.1], [0.1, 0.1, 0.3], began=2)
    >>> ax.get_ylabel()
    'Jensen–Shannon, nats'
    """
    value, low, high = (
        as_values(x, argument)
        for x, argument in ((values, "values"), (lows, "lows"), (highs, "highs"))
    )
    marked = np.zeros(len(value), dtype=bool) if alarms is None else np.asarray(alarms, dtype=bool)
    same_length(places=places, values=value, lows=low, highs=high, alarms=marked)
    ax = axes_or_new(ax)
    dated = all(hasattr(place, "strftime") for place in places)
    x = np.array(places, dtype="M8[us]") if dated else np.arange(len(value))
    low, high = (np.where(np.isfinite(end), end, value) for end in (low, high))
    if len(value) > 1:
        band: Any = ax.fill_between(x, low, high, color=P, alpha=0.2, linewidth=0)
    else:
        band = ax.vlines(x, low, high, color=P, alpha=0.4, linewidth=3)
    (line,) = ax.plot(x, value, color=P, linewidth=1.4, marker=".", markersize=5)
    handles, told = [line, band], ["divergence", "interval"]
    if marked.any():
        (dots,) = ax.plot(x[marked], value[marked], "o", color=Q, markersize=6, linestyle="none")
        handles.append(dots)
        told.append("alarm")
    if began is not None and 0 < began < len(x):
        # Between the last window without drift and the first with it.
        middle = x[began - 1] + (x[began] - x[began - 1]) / 2
        handles.append(ax.axvline(middle, color=GREY, linewidth=1.2, linestyle="--"))
        told.append("began")
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    top = float(max(high.max(), value.max()))
    ax.set_ylim(-0.04 * top if top > 0 else -0.01, 1.06 * top if top > 0 else 0.01)
    ax.set_ylabel(f"{as_label(name)}, nats")
    ax.set_xlabel("window")
    if dated:
        _name_dates(ax)
    else:
        _name_places(ax, places)
    legend(ax, handles, told)
    return ax


def _name_dates(ax: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator: Any = AutoDateLocator(maxticks=8)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    formatter: Any = ConciseDateFormatter(locator)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_formatter(formatter)


def _name_places(ax: Axes, places: Sequence[Any]) -> None:
    step = max(1, -(-len(places) // _MOST_NAMES))
    at = list(range(0, len(places), step))
    ax.set_xticks(at, labels=[as_label(places[k], 18) for k in at])
    if len(at) > 4:
        ax.tick_params(axis="x", rotation=30)


def drift_map(
    names: Sequence[str],
    places: Sequence[Any],
    effects: npt.ArrayLike,
    *,
    what: str = "Jensen–Shannon of the column alone, nats",
    ax: Axes | None = None,
) -> Axes:
    """Show which columns differ in which windows: the darker, the more.

    Parameters
    ----------
    names : sequence of str
        Columns, the first at the top.
    places : sequence of dates or of names
        Windows, at equal distances.
    effects : array-like of shape (columns, windows)
        Effect sizes; what is negative or not a number is drawn as none.
    what : str
        Name of the scale.
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = drift_map(["age", "town"], ["a", "b", "c"], [[0, 0, 0.1], [0, 0.2, 0.3]])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['age', 'town']
    """
    from matplotlib.colors import LinearSegmentedColormap

    values = np.maximum(np.nan_to_num(np.asarray(effects, dtype=np.float64)), 0.0)
    if values.shape != (len(names), len(places)):
        raise ValueError(
            f"effects must have a row for each name and a column for each place, "
            f"{(len(names), len(places))}; received shape {values.shape}."
        )
    ax = axes_or_new(ax)
    colours = LinearSegmentedColormap.from_list("drift", ["#f3f4f5", Q])
    top = float(values.max()) if values.size else 0.0
    mesh = ax.pcolormesh(
        values, cmap=colours, vmin=0.0, vmax=top if top > 0 else 1.0, edgecolors="white",
        linewidth=0.6,
    )  # fmt: skip
    ax.set_yticks(np.arange(len(names)) + 0.5, labels=[as_label(name, 24) for name in names])
    ax.invert_yaxis()
    step = max(1, -(-len(places) // _MOST_NAMES))
    at = list(range(0, len(places), step))
    dated = all(hasattr(place, "strftime") for place in places)
    words = [f"{places[k]:%Y-%m-%d}" if dated else as_label(places[k], 18) for k in at]
    ax.set_xticks([k + 0.5 for k in at], labels=words)
    if len(at) > 4:
        ax.tick_params(axis="x", rotation=30)
    ax.set_xlabel("window")
    figure: Any = ax.figure
    bar = figure.colorbar(mesh, ax=ax, shrink=0.8)
    bar.outline.set_visible(False)
    bar.set_label(what)
    return ax
