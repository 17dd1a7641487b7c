"""Pictures beside the checks: calibration, importance weights, accuracy of the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..data.validation import as_weight, check_number
from ..functionals import effective_sample_size, importance_weights
from ..typing import Array
from .style import GREY, P, Q, as_label, as_values, axes_or_new, same_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 400


def calibration(
    probability: npt.ArrayLike,
    happened: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    bins: int = 10,
    level: float = 0.95,
    name: str = "p",
    ax: Axes | None = None,
) -> Axes:
    """Show whether what is given a probability happens that often.

    Rows are put into bins of equal width by their probability. A point is a bin:
    the mean probability, and how often the rows are of the class; the line through
    it is Wilson's interval. On the diagonal the probabilities are right.

    Parameters
    ----------
    probability : array-like of shape (n,)
        Probability of the class at every row. From a log-ratio of p and q it is
        ``expit(log_ratio + log(n_p / n_q))`` over the rows of both.
    happened : array-like of bool of shape (n,)
        Whether the row is of the class.
    weight : array-like of shape (n,), optional
        Weights of the rows.
    bins : int
        Number of bins.
    level : float
        Level of the intervals.
    name : str
        Name of the class.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.uniform(size=2000)
    >>> ax = calibration(chance, rng.uniform(size=2000) < chance)
    >>> ax.get_ylabel()
    'share of rows that are of p'
    """
    check_number(bins, "bins", low=1, integer=True)
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    chance = as_values(probability, "probability")
    true = np.asarray(happened, dtype=bool)
    same_length(probability=chance, happened=true)
    if not ((chance >= 0) & (chance <= 1)).all():
        raise ValueError(
            f"probability must lie between 0 and 1; received {chance.min():g} to {chance.max():g}."
        )
    mass = as_weight(weight, len(chance), "weight")
    mass = np.ones(len(chance)) if mass is None else mass
    place = np.minimum((chance * bins).astype(int), bins - 1)
    total = np.bincount(place, mass, bins)
    used = total > 0
    mean = np.bincount(place, mass * chance, bins)[used] / total[used]
    share = np.bincount(place, mass * true, bins)[used] / total[used]
    # Weighted rows are worth fewer than they are.
    rows = total[used] ** 2 / np.bincount(place, mass**2, bins)[used]
    low, high = _wilson(share, rows, level)
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, zorder=1)
    ax.vlines(mean, low, high, color=P, linewidth=1.6, alpha=0.6)
    sizes = 12 + 90 * np.sqrt(total[used] / total.max())
    ax.scatter(mean, share, s=sizes, color=P, linewidths=0, zorder=3)
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel(f"probability of {as_label(name)}")
    ax.set_ylabel(f"share of rows that are of {as_label(name)}")
    return ax


def _wilson(share: Array, rows: Array, level: float) -> tuple[Array, Array]:
    """Ends of Wilson's interval for a share of so many rows (Wilson, 1927)."""
    z2 = float(ndtri(0.5 + 0.5 * level)) ** 2
    centre = (share + 0.5 * z2 / rows) / (1.0 + z2 / rows)
    half = np.sqrt(z2 * (share * (1.0 - share) / rows + 0.25 * z2 / rows**2)) / (1.0 + z2 / rows)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def weight_curve(
    log_ratio: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show how few rows of q carry the weight when they are weighted to look like p.

    Rows are sorted by importance weight, the heaviest first; the curve is the share
    of the total weight that the first rows have. On the diagonal all weigh the
    same. A curve that jumps up at once rests on a handful of rows.

    Parameters
    ----------
    log_ratio : array-like of shape (n,)
        Log p/q at rows of q.
    weight : array-like of shape (n,), optional
        Weights that the rows have already.
    ax : Axes, optional

    Returns
    -------
    Axes
        With the effective number of rows written in it.

    Examples
    --------
    >>> ax = weight_curve(np.log([1.0, 1.0, 2.0]))
    >>> ax.texts[0].get_text()
    '3 rows count as 2.67'
    """
    ratio = as_values(log_ratio, "log_ratio")
    mass = as_weight(weight, len(ratio), "weight")
    if mass is not None:
        ratio = ratio[mass > 0] + np.log(mass[mass > 0])
    size = float(effective_sample_size(ratio))
    heaviest = np.sort(importance_weights(ratio))[::-1]
    share = np.concatenate([[0.0], np.cumsum(heaviest)]) / heaviest.sum()
    # Every row where they are few; otherwise points that lie closer where the curve is steep.
    at = np.unique((len(heaviest) * np.linspace(0, 1, _POINTS) ** 2).astype(int))
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.fill_between(at / len(heaviest), share[at], color=Q, alpha=0.15, linewidth=0)
    ax.plot(at / len(heaviest), share[at], color=Q, linewidth=1.8)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.02)
    ax.set_xlabel("share of the rows of q, heaviest first")
    ax.set_ylabel("share of the weight")
    worth = f"{size:,.0f}" if size >= 100 else f"{size:.3g}"
    ax.text(0.97, 0.06, f"{len(heaviest):,} rows count as {worth}", ha="right")
    return ax


def class_accuracy(
    accuracy: Mapping[str, float],
    *,
    band: tuple[float, float] = (0.5, 0.95),
    ax: Axes | None = None,
) -> Axes:
    """Show how surely each class is told from the others, against a band.

    Above the band every class stands alone and nothing joins p to q; below it the
    classes cannot be told apart. The paper chooses the auxiliaries by it.

    Parameters
    ----------
    accuracy : mapping of str to float
        Held-out accuracy by class, such as
        ``comparison.diagnostics["accuracy"].details``.
    band : pair of float
        The band, by default the paper's: 50 to 95 %.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = class_accuracy({"p": 0.9, "q": 0.8, "m1": 0.7})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['p', 'q', 'm1']
    """
    if not accuracy:
        raise ValueError("accuracy must name at least one class; received none.")
    values = as_values(list(accuracy.values()), "accuracy")
    ax = axes_or_new(ax)
    ax.axvspan(*band, color=GREY, alpha=0.18, linewidth=0)
    places = np.arange(len(values))
    colors = [{"p": P, "q": Q}.get(name, GREY) for name in accuracy]
    ax.hlines(places, 0, values, color=colors, linewidth=1.4, alpha=0.5)
    ax.scatter(values, places, s=44, color=colors, linewidths=0, zorder=3)
    ax.set_yticks(places, labels=[as_label(name, 16) for name in accuracy])
    ax.invert_yaxis()
    ax.margins(y=0.2)
    ax.set_xlim(0, 1.03)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25 %", "50 %", "75 %", "100 %"])
    ax.set_xlabel(f"held-out accuracy; the band is {100 * band[0]:g} to {100 * band[1]:g} %")
    return ax
