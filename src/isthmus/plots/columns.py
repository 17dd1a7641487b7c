"""Pictures of single columns: which of them differ, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..data.validation import check_number
from .style import (
    GREY,
    P,
    Q,
    as_label,
    as_values,
    axes_or_new,
    both_samples,
    legend,
    name_rows,
    same_length,
    silhouettes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def column_ranking(
    names: Sequence[str],
    values: npt.ArrayLike,
    std_errors: npt.ArrayLike,
    *,
    level: float = 0.95,
    most: int = 20,
    what: str = "nats",
    ax: Axes | None = None,
) -> Axes:
    """Show how much each column differs, the most at the top.

    A column whose interval reaches zero is grey.

    Parameters
    ----------
    names : sequence of str
    values, std_errors : array-like of shape (n,)
        How much each differs, and the standard error; see
        :func:`isthmus.diagnostics.rank_columns`.
    most : int
        How many columns to show.
    what : str
        Name of the axis.
    level, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = column_ranking(["age", "income"], [0.1, 0.7], [0.1, 0.1])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['income', 'age']
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    check_number(most, "most", low=1, integer=True)
    value, error = as_values(values, "values"), as_values(std_errors, "std_errors")
    same_length(names=names, values=value, std_errors=error)
    order = np.argsort(-value, kind="stable")[:most]
    value, half = value[order], float(ndtri(0.5 + 0.5 * level)) * error[order]
    ax = axes_or_new(ax)
    places = np.arange(len(order))
    colors = [P if sure else GREY for sure in value > half]
    ax.barh(places, value, height=0.62, color=colors, alpha=0.75)
    ax.errorbar(value, places, xerr=half, fmt="none", ecolor="black", elinewidth=1, capsize=2.5)
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    name_rows(ax, [names[k] for k in order], 24)
    ax.set_xlabel(what)
    return ax


def column_values(
    values_p: npt.ArrayLike,
    values_q: npt.ArrayLike,
    *,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    name: str = "x",
    labels: tuple[str, str] | None = ("p", "q"),
    ax: Axes | None = None,
) -> Axes:
    r"""Show a column of numbers in the two samples.

    Parameters
    ----------
    values_p, values_q : array-like of shape (n_p,) and (n_q,)
        The column in each sample; missing values are left out.
    weight_p, weight_q, name, labels, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ax = column_values(rng.normal(size=500), rng.normal(size=500), name="$_income")
    >>> print(ax.get_xlabel())
    \$_income
    """
    samples = both_samples(values_p, values_q, weight_p, weight_q, "values")
    ax = axes_or_new(ax)
    shapes = silhouettes(ax, samples, most=40)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(as_label(name))
    legend(ax, shapes, labels)
    return ax


def level_shares(
    levels: Sequence[str],
    share_p: npt.ArrayLike,
    share_q: npt.ArrayLike,
    *,
    name: str = "x",
    labels: tuple[str, str] | None = ("p", "q"),
    most: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Show how often each level of a category occurs in the two samples.

    Parameters
    ----------
    levels : sequence of str
        Names of the levels.
    share_p, share_q : array-like of shape (k,)
        Share of the rows of each sample that have the level.
    most : int
        How many levels to show: those whose shares differ most, in their order.
    name, labels, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = level_shares(["laptop", "phone"], [0.3, 0.7], [0.5, 0.5], name="device")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['laptop', 'phone']
    """
    check_number(most, "most", low=1, integer=True)
    p, q = as_values(share_p, "share_p"), as_values(share_q, "share_q")
    same_length(levels=levels, share_p=p, share_q=q)
    kept = np.sort(np.argsort(-np.abs(p - q), kind="stable")[:most])
    ax = axes_or_new(ax)
    places = np.arange(len(kept))
    shapes = [
        ax.barh(places + shift, share[kept], height=0.36, color=color, alpha=0.75)
        for shift, share, color in ((-0.19, p, P), (0.19, q, Q))
    ]
    name_rows(ax, [levels[k] for k in kept], 20)
    # One digit more where the longest bar is short.
    ax.xaxis.set_major_formatter("{x:.0%}" if max(p.max(), q.max()) > 0.08 else "{x:.1%}")
    ax.set_xlabel(as_label(name))
    legend(ax, shapes, labels)
    return ax
