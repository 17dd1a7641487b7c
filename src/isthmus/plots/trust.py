"""Pictures beside the checks: the tail of weights, lone rows, other families, the test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..data.validation import as_weight
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
    silhouette,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 300
_LEAST_LOG10 = -12.0


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
    weight : array-like of shape (n,), optional
        Weights that the rows have already.
    k : float, optional
        Shape of the tail, as ``comparison.diagnostics["pareto"].value``, to be written
        beside it.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> ax = weight_tail(rng.normal(size=500), k=0.5)
    >>> ax.get_xlabel()
    'weight p/q, the mean being 1 (log10)'
    """
    ratio = as_values(log_ratio, "log_ratio")
    mass = as_weight(weight, len(ratio), "weight")
    if mass is not None:
        ratio = ratio[mass > 0] + np.log(mass[mass > 0])
    ratio = np.sort(ratio[ratio > -np.inf])
    if not ratio.size or not np.isfinite(ratio[-1]):
        raise ValueError("log_ratio must have a finite value, and none of +inf; received none.")
    n = len(ratio)
    ratio = ratio - (np.logaddexp.reduce(ratio) - np.log(n))
    at = np.unique(n - 1 - (n * np.linspace(0, 1, _POINTS, endpoint=False) ** 2).astype(int))
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
    ax : Axes, optional

    Returns
    -------
    Axes

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
        share = (np.arange(len(log10)) + 0.5) / len(log10)
        at = np.unique(np.linspace(0, len(log10) - 1, _POINTS).astype(int))
        color = {"p": P, "q": Q}.get(name, GREY)
        handles += ax.plot(
            share[at], np.maximum(log10[at], _LEAST_LOG10), color=color, linewidth=1.8
        )
    ax.set_xlim(0, 1)
    ax.set_ylim(top=0.3)
    ax.set_xlabel("share of the rows, the loneliest first")
    ax.set_ylabel("probability of other classes (log10)")
    legend(ax, handles, [f"rows of {name}" for name in others])
    return ax


def family_agreement(
    kl: float,
    others: Mapping[str, float],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Show the KL of the model beside that of other families that fit as well.

    The band is a fifth of the model's KL to either side.

    Parameters
    ----------
    kl : float
        KL by the model in question.
    others : mapping of str to float
        KL by other families; one that is not finite is left out.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = family_agreement(28.0, {"student-t": 27.0})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['this model', 'student-t']
    """
    found = {"this model": float(kl), **{n: float(v) for n, v in others.items()}}
    found = {name: value for name, value in found.items() if np.isfinite(value)}
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
        The statistic under permuted labels, as :attr:`isthmus.diagnostics.TwoSampleTest.null`.
    statistic : float
        The statistic of the samples.
    p_value : float, optional
        To be written beside it.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = permutation_null(np.random.default_rng(0).exponential(size=999), 9.0, p_value=0.001)
    >>> ax.texts[0].get_text()
    'p = 0.001'
    """
    values = as_values(null, "null")
    ax = axes_or_new(ax)
    edges = edges_of(values)
    silhouette(ax, edges, heights(values, edges), GREY)
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
