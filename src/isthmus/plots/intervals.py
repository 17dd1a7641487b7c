"""A picture of numbers with their intervals, some of which have one end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .style import P, as_values, axes_or_new, name_rows, same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEYOND = 0.12


def intervals(
    names: Sequence[str],
    values: npt.ArrayLike,
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    *,
    what: str = "nats",
    color: str = P,
    ax: Axes | None = None,
) -> Axes:
    """Show numbers with their intervals, the first at the top.

    An infinite end is one that is not known: an arrow points there, beyond all numbers
    that are shown.

    Parameters
    ----------
    names : sequence of str
    values, lows, highs : array-like of shape (n,)
        Numbers and the ends of their intervals; a value that is not finite is left out.
    what : str
        Name of the axis.
    color : str
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = intervals(["KL", "reverse KL"], [0.5, 0.4], [0.4, 0.3], [0.6, float("inf")])
    >>> [text.get_text() for text in ax.get_yticklabels()], len(ax.texts)  # one arrow
    (['KL', 'reverse KL'], 1)
    """
    value, low, high = (
        as_values(x, name) for x, name in ((values, "values"), (lows, "lows"), (highs, "highs"))
    )
    same_length(names=names, values=value, lows=low, highs=high)
    shown = np.concatenate([value, low, high])
    shown = shown[np.isfinite(shown)]
    ax = axes_or_new(ax)
    least, most = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    room = _BEYOND * ((most - least) or abs(most) or 1.0)
    for place, (at, *ends) in enumerate(zip(value, low, high, strict=True)):
        drawn = [end if np.isfinite(end) else at for end in ends]
        for end, tip in zip(ends, (least - room, most + room), strict=True):
            if not np.isfinite(end):
                start = float(next((x for x in (at, *ends[::-1]) if np.isfinite(x)), least))
                _arrow(ax, start, tip, place, color)
        if np.isfinite(drawn).all():
            ax.plot(drawn, [place, place], color=color, linewidth=2.5, solid_capstyle="butt")
        if np.isfinite(at):
            ax.plot(at, place, "o", color=color, markersize=5)
    ax.set_xlim(least - 1.5 * room, most + 1.5 * room)
    name_rows(ax, names, 24)
    ax.set_xlabel(what)
    return ax


def _arrow(ax: Axes, start: float, tip: float, place: int, color: str) -> None:
    how = {"arrowstyle": "-|>", "color": color, "linewidth": 2.0, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=(tip, place), xytext=(start, place), arrowprops=how)
