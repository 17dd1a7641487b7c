"""Pictures of what columns share with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .style import P, as_label, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More columns than this have no numbers in their cells, and more than that not all their names.
_WRITTEN, _MOST_NAMES = 14, 60


def information_map(
    names: Sequence[str],
    values: npt.ArrayLike,
    *,
    trusted: npt.ArrayLike | None = None,
    what: str = "mutual information, nats",
    ax: Axes | None = None,
) -> Axes:
    """Show how much every pair of columns shares: the darker, the more.

    The cells of pairs that are not trusted are crossed out. The diagonal is empty.

    Parameters
    ----------
    names : sequence of str
        The columns.
    values : array-like of shape (d, d)
        Mutual informations; what is not finite is left empty.
    trusted : array-like of bool, shape (d, d), optional
        Which numbers are trusted; by default all.
    what : str
        Name of the scale.
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = information_map(["age", "town"], [[0, 0.2], [0.2, 0]], trusted=[[1, 0], [0, 1]])
    >>> [text.get_text() for text in ax.get_yticklabels()], len(ax.lines)  # two crosses
    (['age', 'town'], 4)
    """
    from matplotlib.colors import LinearSegmentedColormap

    shown = np.array(values, dtype=np.float64)
    d = len(names)
    sure = np.ones((d, d), dtype=bool) if trusted is None else np.asarray(trusted, dtype=bool)
    for name, array in (("values", shown), ("trusted", sure)):
        if array.shape != (d, d):
            raise ValueError(
                f"{name} must have a row and a column for each name, {(d, d)}; received shape "
                f"{array.shape}."
            )
    np.fill_diagonal(shown, np.nan)
    shown[~np.isfinite(shown)] = np.nan
    ax = axes_or_new(ax)
    colours = LinearSegmentedColormap.from_list("information", ["#f3f4f5", P])
    top = float(np.nanmax(shown, initial=0.0))
    mesh = ax.pcolormesh(
        np.ma.masked_invalid(shown), cmap=colours, vmin=0.0, vmax=top if top > 0 else 1.0,
        edgecolors="white", linewidth=0.6 if d <= _MOST_NAMES else 0.0,
    )  # fmt: skip
    ax.invert_yaxis()
    ax.set_aspect("equal")
    _name_columns(ax, names)
    if d <= _WRITTEN:
        _write_numbers(ax, shown, top)
    for i, j in np.argwhere(~sure & np.isfinite(shown)):
        for up in (i, i + 1):
            ends = [up, 2 * i + 1 - up]
            ax.plot([j, j + 1], ends, color="black", linewidth=0.7, alpha=0.6)
    figure: Any = ax.figure
    bar = figure.colorbar(mesh, ax=ax, shrink=0.8)
    bar.outline.set_visible(False)
    bar.set_label(what)
    return ax


def _name_columns(ax: Axes, names: Sequence[str]) -> None:
    step = max(1, -(-len(names) // _MOST_NAMES))
    at = range(0, len(names), step)
    labels = [as_label(names[k], 20) for k in at]
    middles = [k + 0.5 for k in at]
    ax.set_xticks(middles, labels=labels, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(middles, labels=labels)
    ax.set_xlabel("column")


def _write_numbers(ax: Axes, shown: npt.NDArray[np.float64], top: float) -> None:
    for i, j in np.argwhere(np.isfinite(shown)):
        colour = "white" if shown[i, j] > 0.6 * top > 0 else "black"
        ax.text(
            j + 0.5, i + 0.5, f"{shown[i, j]:.2f}", ha="center", va="center", fontsize=7,
            color=colour,
        )  # fmt: skip
