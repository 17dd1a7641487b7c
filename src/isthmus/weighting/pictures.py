"""Pictures of balance and of overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..data.validation import check_number
from ..plots.style import GREY, P, Q, axes_or_new, legend, name_rows
from .balance import Balance
from .overlap import Overlap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = 28
_SOME = 0.1


def love_plot(balance: Balance, ax: Axes | None = None, most: int = 20) -> Axes:
    """Draw standardised mean differences before weighting, and after at unseen rows.

    Bars reach over two standard errors. The lines at 0.1 are where a difference is worth a word.
    """
    check_number(most, "most", low=1, integer=True)
    ax = axes_or_new(ax)
    at = [j for j in balance.order if np.isfinite(balance.before[j])][: int(most)]
    y = np.arange(len(at))
    ax.axvline(0.0, color=GREY, linewidth=0.8)
    for edge in (-_SOME, _SOME):
        ax.axvline(edge, color=GREY, linewidth=0.8, linestyle=":")
    before = ax.scatter(balance.before[at], y, s=26, facecolor="none", edgecolor=Q, zorder=3)
    after = ax.scatter(balance.unseen[at], y, s=26, color=P, zorder=4)
    reach = 2.0 * balance.std_error[at]
    ax.hlines(y, balance.unseen[at] - reach, balance.unseen[at] + reach, color=P, alpha=0.5)
    name_rows(ax, [balance.labels[j] for j in at], _LETTERS)
    ax.set_xlabel("difference from the target, in its standard deviations")
    legend(ax, [before, after], ["before", "after weighting"])
    return ax


def overlap_plot(overlap: Overlap, ax: Axes | None = None) -> Axes:
    """Draw the shares of target and weighted source in every decile of the ratio."""
    ax = axes_or_new(ax)
    part = np.arange(1, len(overlap.source) + 1)
    bars = ax.bar(part, 100.0 * overlap.target, width=0.7, color=P, alpha=0.45)
    weighted = ax.scatter(part, 100.0 * overlap.weighted, s=26, color=Q, zorder=3)
    line = ax.plot(part, 100.0 * overlap.source, color=GREY, linewidth=1.0, linestyle="--")[0]
    ax.set_xticks(part)
    ax.set_xlabel("tenth of the source by the ratio, largest ratio last")
    ax.set_ylabel("share, %")
    ax.set_ylim(bottom=0)
    legend(ax, [bars, weighted, line], ["target", "weighted source", "source"])
    return ax
