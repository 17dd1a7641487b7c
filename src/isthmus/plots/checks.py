"""Pictures beside the checks: of probabilities, of importance weights, of models, of the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from ..data.sample import Sample
from ..data.validation import as_weight, check_number
from ..functionals import effective_sample_size, importance_weights
from ..typing import Array
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
    weighted_log_ratio,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVE_POINTS, _TAIL_POINTS = 400, 300
_LEAST_LOG10 = -12.0
_SIDES = {"p": P, "q": Q}


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
    bins : int
        Number of bins.
    name : str
        Name of the class.
    weight, level, ax
        As in :mod:`isthmus.plots`.

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
    place = np.minimum((chance * bins).astype(int), bins - 1)
    total = np.bincount(place, mass, bins)
    used = total > 0
    mean = np.bincount(place, mass * chance, bins)[used] / total[used]
    share = np.bincount(place, mass * true, bins)[used] / total[used]
    # Weighted rows are worth fewer than they are.
    rows = total[used] ** 2 / np.bincount(place, mass**2, bins)[used]
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, zorder=1)
    ax.vlines(mean, *wilson_interval(share, rows, level), color=P, linewidth=1.6, alpha=0.6)
    sizes = 12 + 90 * np.sqrt(total[used] / total.max())
    ax.scatter(mean, share, s=sizes, color=P, linewidths=0, zorder=3)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ax.set_xlabel(f"probability of {as_label(name)}")
    ax.set_ylabel(f"share of rows that are of {as_label(name)}")
    return ax


def wilson_interval(share: Array, rows: Array, level: float) -> tuple[Array, Array]:
    """Ends of Wilson's interval for a share of so many rows (Wilson, 1927)."""
    z2 = float(ndtri(0.5 + 0.5 * level)) ** 2
    centre = (share + 0.5 * z2 / rows) / (1.0 + z2 / rows)
    half = np.sqrt(z2 * (share * (1.0 - share) / rows + 0.25 * z2 / rows**2)) / (1.0 + z2 / rows)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def weight_curve(
    log_ratio: npt.ArrayLike, *, weight: npt.ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Show how few rows of q carry the weight when they are weighted to look like p.

    Rows are sorted by importance weight, the heaviest first; the curve is the share
    of the total weight that the first rows have. On the diagonal all weigh the
    same. A curve that jumps up at once rests on a handful of rows. The effective number
    of rows is written in it.

    Parameters
    ----------
    log_ratio : array-like of shape (n,)
        Log p/q at rows of q.
    weight, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = weight_curve(np.log([1.0, 1.0, 2.0]))
    >>> ax.texts[0].get_text()
    '3 rows count as 2.67'
    """
    ratio = weighted_log_ratio(log_ratio, weight)
    n, size = len(ratio), float(effective_sample_size(ratio))
    heaviest = np.sort(importance_weights(ratio))[::-1]
    share = np.concatenate([[0.0], np.cumsum(heaviest)]) / heaviest.sum()
    # Every row where they are few; otherwise points that lie closer where the curve is steep.
    at = np.unique((n * np.linspace(0, 1, _CURVE_POINTS) ** 2).astype(int))
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    ax.fill_between(at / n, share[at], color=Q, alpha=0.15, linewidth=0)
    ax.plot(at / n, share[at], color=Q, linewidth=1.8)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="share of the weight")
    ax.set_xlabel("share of the rows of q, heaviest first")
    worth = f"{size:,.0f}" if size >= 100 else f"{size:.3g}"
    ax.text(0.97, 0.06, f"{n:,} rows count as {worth}", ha="right")
    return ax


def weight_tail(
    log_ratio: npt.ArrayLike,
    *,
    weight: npt.ArrayLike | None = None,
    k: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Show how heavy the tail of the importance weights is.

    The curve is the share of rows of q that weigh at least so much, both on logarithmic
    scales. A heavy tail ends as a straight line of slope -1/k; a light one falls off.

    Parameters
    ----------
    log_ratio : array-like of shape (n,)
        Log p/q at rows of q.
    k : float, optional
        Shape of the tail, as ``comparison.diagnostics["pareto"].value``, to be written
        beside it.
    weight, ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ax = weight_tail(rng.normal(size=500), k=0.5)
    >>> ax.get_xlabel()
    'weight p/q, the mean being 1 (log10)'
    """
    ratio = weighted_log_ratio(log_ratio, weight)
    ratio = np.sort(ratio[ratio > -np.inf])
    if not ratio.size or not np.isfinite(ratio[-1]):
        raise ValueError("log_ratio must have a finite value, and none of +inf; received none.")
    n = len(ratio)
    ratio = ratio - (np.logaddexp.reduce(ratio) - np.log(n))
    at = np.unique(n - 1 - (n * np.linspace(0, 1, _TAIL_POINTS, endpoint=False) ** 2).astype(int))
    x, y = ratio[at] / np.log(10), np.log10((n - at) / n)
    ax = axes_or_new(ax)
    ax.plot(x, y, color=Q, linewidth=1.8)
    if k is not None and np.isfinite(k):
        ax.text(0.03, 0.06, f"Pareto's k = {k:.2f}", transform=ax.transAxes)
    ax.set_ylim(min(y.min(), -1.0) - 0.15, 0.1)
    if x.max() - x.min() > 20.0:
        ax.set_xlim(x.max() - 20.0, x.max() + 1.0)
    ax.set_xlabel("weight p/q, the mean being 1 (log10)")
    ax.set_ylabel("share of rows above it (log10)")
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
    ax
        As in :mod:`isthmus.plots`.

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
    colors = [_SIDES.get(name, GREY) for name in accuracy]
    ax.hlines(places, 0, values, color=colors, linewidth=1.4, alpha=0.5)
    ax.scatter(values, places, s=44, color=colors, linewidths=0, zorder=3)
    ax.set_yticks(places, labels=[as_label(name, 16) for name in accuracy])
    ax.invert_yaxis()
    ax.margins(y=0.2)
    ax.set_xlim(0, 1.03)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0", "25 %", "50 %", "75 %", "100 %"])
    ax.set_xlabel(f"held-out accuracy; the band is {100 * band[0]:g} to {100 * band[1]:g} %")
    return ax


def lone_rows(
    others: Mapping[str, npt.ArrayLike], *, alone: float = 1e-3, ax: Axes | None = None
) -> Axes:
    """Show how likely all other classes are at the rows of p and of q.

    Rows are sorted, the loneliest first. Below the line nothing but their own
    class has rows there, and the ratio is a continuation.

    Parameters
    ----------
    others : mapping of str to array-like
        For "p" and for "q", the log-probability of all other classes together at rows
        of that sample.
    alone : float
        Probability below which a row stands alone.
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = lone_rows({"p": np.log([0.5, 0.1, 1e-5]), "q": np.log([0.4, 0.3])})
    >>> len(ax.lines)
    3
    """
    ax = axes_or_new(ax)
    ax.axhline(np.log10(alone), color=GREY, linewidth=1)
    handles = []
    for name, values in others.items():
        log10 = np.sort(as_values(values, name)) / np.log(10)
        at = np.unique(np.linspace(0, len(log10) - 1, _TAIL_POINTS).astype(int))
        share, height = (at + 0.5) / len(log10), np.maximum(log10[at], _LEAST_LOG10)
        handles += ax.plot(share, height, color=_SIDES.get(name, GREY), linewidth=1.8)
    ax.set(xlim=(0, 1), ylim=(None, 0.3))
    ax.set_xlabel("share of the rows, the loneliest first")
    ax.set_ylabel("probability of other classes (log10)")
    legend(ax, handles, [f"rows of {name}" for name in others])
    return ax


def family_agreement(kl: float, others: Mapping[str, float], *, ax: Axes | None = None) -> Axes:
    """Show the KL of the model beside that of other families that fit as well.

    The band is a fifth of the model's KL to either side.

    Parameters
    ----------
    kl : float
        KL by the model in question.
    others : mapping of str to float
        KL by other families; one that is not finite is left out.
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = family_agreement(28.0, {"student-t": 27.0})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['this model', 'student-t']
    """
    every = {"this model": kl, **others}
    found = {name: float(value) for name, value in every.items() if np.isfinite(value)}
    ax = axes_or_new(ax)
    if np.isfinite(kl):
        ax.axvspan(kl - 0.2 * abs(kl), kl + 0.2 * abs(kl), color=GREY, alpha=0.18, linewidth=0)
    places = np.arange(len(found))
    colors = [P if name == "this model" else GREY for name in found]
    ax.scatter(list(found.values()), places, s=44, color=colors, linewidths=0, zorder=3)
    ax.set_yticks(places, labels=[as_label(name, 28) for name in found])
    ax.invert_yaxis()
    ax.margins(x=0.15, y=0.3)
    ax.set_xlabel("KL(p‖q) on held-out rows, nats")
    return ax


def permutation_null(
    null: npt.ArrayLike, statistic: float, *, p_value: float | None = None, ax: Axes | None = None
) -> Axes:
    """Show a test's statistic beside what it is when labels are permuted.

    Parameters
    ----------
    null : array-like of shape (n,)
        The statistic under permuted labels: ``null`` of a
        :class:`isthmus.diagnostics.TwoSampleTest`.
    statistic : float
        The statistic of the samples.
    p_value : float, optional
        To be written beside it.
    ax
        As in :mod:`isthmus.plots`.

    Examples
    --------
    >>> ax = permutation_null(np.random.default_rng(0).exponential(size=999), 9.0, p_value=0.001)
    >>> ax.texts[0].get_text()
    'p = 0.001'
    """
    values = as_values(null, "null")
    ax = axes_or_new(ax)
    edges = edges_of(values)
    silhouette(ax, edges, heights(Sample.of(values), edges), GREY)
    ax.axvline(statistic, color=P, linewidth=1.8)
    ax.set_ylim(bottom=0)
    ax.set_yticks([])
    ax.set_xlabel("statistic; grey: with labels permuted")
    if p_value is not None:
        side = statistic > 0.5 * sum(ax.get_xlim())
        ax.annotate(
            f"p = {p_value:.3g}",
            (statistic, 0.92),
            xycoords=("data", "axes fraction"),
            xytext=(-6 if side else 6, 0),
            textcoords="offset points",
            ha="right" if side else "left",
        )
    return ax
