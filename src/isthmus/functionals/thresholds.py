"""Lower bounds on divergences that hold whatever the fit: by data processing, with a level."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from ..data.sample import bounded_rows
from ..data.validation import check_number
from ..typing import Array
from .arrays import Ratios, check_ratios
from .divergences import Divergence, get_divergence

_TAILS = (0.0, 0.01, 0.03, 0.1)
"""Shares of q's rows above the thresholds of which the tails are bounded exactly."""

_POINTS = 256
"""Rows of either sample at which the uniform band is looked at, at most."""

_MOST_ROWS = 50_000
"""Rows of a sample that are sorted for each column."""

_TOP_ROWS = 10
"""A held-out log-ratio counts at most as much as at this row of q, from the top: fewer rows
cannot carry a mean of exp(t)."""

_FARTHEST = 30.0
"""Nats beyond which a log-ratio is cut off, so that no single row makes a bound worthless."""


_LEAST_SIZE = 5.0
"""Rows that weights have to leave, for a bound with a level."""


@dataclass(frozen=True)
class Bound:
    """A number that a divergence is at least, with some probability.

    Attributes
    ----------
    low : float
        The bound; 0 where nothing is proven.
    by : str
        What proves it, for people; empty where nothing does.

    Examples
    --------
    >>> max(Bound(0.1, "column 3"), Bound(0.2, "thresholds"), key=lambda one: one.low).by
    'thresholds'
    """

    low: float = 0.0
    by: str = ""


def threshold_bound(
    p_values: npt.ArrayLike,
    q_values: npt.ArrayLike,
    level: float = 0.95,
    *,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    divergence: str | Divergence | Callable[[Any], Any] = "kl",
    both_sides: bool = True,
) -> float:
    r"""A divergence is at least this, with probability ``level``, by what one number per row shows.

    What is done to a row cannot make p and q easier to tell apart. For any statistic s
    and any set :math:`A = \{s > t\}`,

    .. math:: D(p\|q) \ge d\bigl(P(A), Q(A)\bigr),

    the divergence of two coins. :math:`P(A)` is bounded from below and :math:`Q(A)` from above,
    for all t at once by the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart, and for a few
    t in the tails, which are order statistics of q, exactly by beta distributions (Clopper and
    Pearson). Both hold for any distribution, with ties too, and for any number of rows.

    Parameters
    ----------
    p_values, q_values : array-like of shape (n_p,) and (n_q,)
        The statistic at rows of p and of q, chosen without these rows. Infinities are allowed.
    level : float
        Probability with which the bound holds.
    weight_p, weight_q : array-like, optional
        Weights of the rows. Rows then count as many as Kish's effective number, and the level is
        approximate.
    divergence : str, Divergence or callable
        As in :func:`get_divergence`.
    both_sides : bool
        Whether sets :math:`\{s < t\}` are looked at too; a log-ratio needs none of them.

    Returns
    -------
    float
        The bound; 0 where nothing is proven.

    References
    ----------
    Massart (1990), Annals of Probability 18. Clopper and Pearson (1934), Biometrika 26.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import threshold_bound
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(1, 1, 2000), rng.normal(0, 1, 2000)  # the KL is 0.5
    >>> 0.15 < threshold_bound(p, q) < 0.5
    True
    >>> threshold_bound(p[:1000], p[1000:])
    0.0
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    s = check_ratios(p_values, q_values, weight_p, weight_q)
    if s.p.ndim > 1 or s.q.ndim > 1:
        raise ValueError(
            f"p_values and q_values must have one axis; received shapes {s.p.shape} and "
            f"{s.q.shape}."
        )
    return _threshold_bound(s, 1.0 - level, get_divergence(divergence), both_sides)


def column_bound(
    p: npt.ArrayLike,
    q: npt.ArrayLike,
    level: float = 0.95,
    *,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    divergence: str | Divergence | Callable[[Any], Any] = "kl",
) -> Bound:
    """The best of the bounds by single columns, all of which hold at once.

    Parameters
    ----------
    p, q : array-like of shape (n_p, d) and (n_q, d)
        Rows of p and of q. A missing value counts as one below all others. Of more than
        50,000 rows some are taken.
    level, weight_p, weight_q, divergence
        As of :func:`threshold_bound`.

    Returns
    -------
    Bound
        Which column proves it, counted from 0, is told as "column 3".

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import column_bound
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(size=(1000, 4)), rng.normal(size=(1000, 4))
    >>> p[:, 2] += 1.5
    >>> column_bound(p, q).by, column_bound(q[:500], q[500:])
    ('column 2', Bound(low=0.0, by=''))
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    rows, weights, d = [], [], get_divergence(divergence)
    for name, x, weight in (("p", p, weight_p), ("q", q, weight_q)):
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 2 or not x.size:
            raise ValueError(f"{name} must have rows and columns; received shape {x.shape}.")
        some = bounded_rows(len(x), _MOST_ROWS)
        rows.append(x[some])
        weights.append(None if weight is None else np.asarray(weight, dtype=np.float64)[some])
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(
            f"p and q must have the same columns; received {rows[0].shape[1]} and "
            f"{rows[1].shape[1]}."
        )
    risk, best = (1.0 - level) / rows[0].shape[1], Bound()
    for j in range(rows[0].shape[1]):
        column = [np.where(np.isnan(x[:, j]), -np.inf, x[:, j]) for x in rows]
        low = _threshold_bound(check_ratios(*column, *weights), risk, d, True)
        if low > best.low:
            best = Bound(low, f"column {j}")
    return best


def lower_end(
    log_r_p: npt.ArrayLike,
    log_r_q: npt.ArrayLike,
    weight_p: npt.ArrayLike | None = None,
    weight_q: npt.ArrayLike | None = None,
    *,
    divergence: str | Divergence | Callable[[Any], Any] = "kl",
    level: float = 0.95,
    columns: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    others: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]] = (),
) -> Bound:
    r"""The largest of several lower bounds on a divergence, all of which hold at once.

    Half of the error probability goes to means of held-out log-ratios t, in equal parts for every
    model, the rest in equal parts to thresholds of each of them and to the columns. The mean is
    :math:`E_p[t] - \log E_q[e^t]` (Donsker and Varadhan) for "kl", the same with p and q
    exchanged for "reverse-kl", and for "js" its own; other divergences have none, and thresholds
    have all of the probability. None of them asks a ratio to be right.

    Parameters
    ----------
    log_r_p, log_r_q : array-like of shape (n_p,) and (n_q,)
        Log-ratios at rows that their model has not seen.
    weight_p, weight_q : array-like, optional
        Weights of the rows.
    divergence : str, Divergence or callable
        As in :func:`get_divergence`.
    level : float
        Probability with which the bound holds.
    columns : (array-like, array-like), optional
        Rows of p and of q, for :func:`column_bound`.
    others : sequence of (array-like, array-like)
        Held-out log-ratios of other models at the same rows of p and of q.

    Returns
    -------
    Bound

    Notes
    -----
    Before its mean is taken, t is cut off at its tenth largest value over q, so that the mean of
    exp(t) does not hang on rows that q might have had and has not; any function t will do.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.functionals import lower_end
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(1, 1, 2000), rng.normal(0, 1, 2000)
    >>> found = lower_end(p - 0.5, q - 0.5)  # the truth is 0.5
    >>> 0.3 < found.low < 0.5, found.by
    (True, 'held-out log-ratios')
    >>> lower_end(0 * p, 0 * q, columns=(p[:, None], q[:, None])).by
    'column 0'
    """
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    d = get_divergence(divergence)
    counts = [np.asarray(weight, float) for weight in (weight_p, weight_q) if weight is not None]
    if any(np.ptp(w) > 0 and w.sum() ** 2 < _LEAST_SIZE * (w @ w) for w in counts):
        # The level is approximate for weights, and nothing with so few rows.
        return Bound()
    by_mean, models = _MEANS.get(d.name), [(log_r_p, log_r_q), *others]
    each = 0.5 * (1.0 - level) / len(models)
    rest = (1.0 - level) * (0.5 if by_mean else 1.0) / (len(models) + (columns is not None))
    found = []
    for k, ratios in enumerate(models):
        t = check_ratios(*ratios, weight_p, weight_q)
        told = f"held-out log-ratios{f' of model {k}' if k else ''}"
        if by_mean is not None:
            found.append(Bound(by_mean(t, each, d), told))
        found.append(Bound(_threshold_bound(t, rest, d, False), f"thresholds of {told}"))
    if columns is not None:
        weights: dict[str, Any] = {"weight_p": weight_p, "weight_q": weight_q}
        found.append(column_bound(*columns, 1.0 - rest, **weights, divergence=d))
    best = max(found, key=lambda one: one.low)
    return best if best.low > 0.0 else Bound()


def _threshold_bound(s: Ratios, risk: float, d: Divergence, both_sides: bool) -> float:
    """The largest divergence of two coins that is proven, over both kinds of thresholds."""
    ordered_p, ordered_q = _Sorted.of(s.p, s.share_p), _Sorted.of(s.q, s.share_q)
    sides = [(ordered_p, ordered_q)]
    if both_sides:
        sides.append((ordered_p.mirrored(), ordered_q.mirrored()))
    each = 0.5 * risk / len(sides)
    chances = [bounded(*side, each) for side in sides for bounded in (_uniform, _in_tails)]
    p, q = np.concatenate(chances, axis=1)
    proven = (p > q) & (q < 1.0)
    if not proven.any():
        return 0.0
    return float(_of_coins(d, p[proven], q[proven]).max())


def _of_coins(d: Divergence, p: Array, q: Array) -> Array:
    """The divergence of coins with these chances, which lie between 0 and 1."""
    p = np.minimum(p, 1.0 - 1e-15)
    chance_p, chance_q = np.stack([p, 1.0 - p], axis=-1), np.stack([q, 1.0 - q], axis=-1)
    t = np.log(chance_p / chance_q)
    return np.asarray(d.value(t, t, chance_p, chance_q))


@dataclass(frozen=True)
class _Sorted:
    """Values of a statistic in order, the share of rows above each place, and how many count."""

    values: Array
    above: Array
    size: float

    @classmethod
    def of(cls, values: Array, share: Array) -> _Sorted:
        values, share = values[share > 0], share[share > 0]
        order = np.argsort(values, kind="stable")
        above = np.append(np.cumsum(share[order][::-1])[::-1], 0.0)
        return cls(values[order], np.minimum(above, 1.0), float(1.0 / (share**2).sum()))

    def mirrored(self) -> _Sorted:
        """Those of the statistic with the other sign."""
        return _Sorted(-self.values[::-1], 1.0 - self.above[::-1], self.size)

    def beyond(self, at: Array) -> Array:
        """Share of the rows with values above these."""
        return np.asarray(self.above[np.searchsorted(self.values, at, side="right")])


def _uniform(p: _Sorted, q: _Sorted, risk: float) -> Array:
    """Lower ends of P(s > t) and upper ends of Q(s > t), at all t at once."""
    points = [
        one.values[np.linspace(0, len(one.values) - 1, _POINTS).astype(np.intp)] for one in (p, q)
    ]
    at = np.unique(np.concatenate(points))
    slack_p, slack_q = (math.sqrt(math.log(2.0 / risk) / (2.0 * one.size)) for one in (p, q))
    return np.stack([p.beyond(at) - slack_p, q.beyond(at) + slack_q])


def _in_tails(p: _Sorted, q: _Sorted, risk: float) -> Array:
    """The same where certain shares of q's rows lie above t, by beta distributions."""
    shares = np.array([*_TAILS, *(1.0 - one for one in _TAILS[1:])])
    # Each threshold has a set of its own, of which two chances are bounded.
    each = risk / (2.0 * len(shares))
    # The threshold is the row of q with at most this share above it: whatever ties there are,
    # the chance of values above it is then at most that of a uniform order statistic.
    places = np.searchsorted(-q.above[1:], -(shares + 1e-12), side="left")
    places = np.minimum(places, len(q.values) - 1)
    at, count = q.values[places], q.size * q.above[places + 1]
    high = betaincinv(count + 1.0, np.maximum(q.size - count, 1e-9), 1.0 - each)
    hits = p.size * p.beyond(at)
    low = betaincinv(np.maximum(hits, 1e-9), p.size - hits + 1.0, each)
    return np.stack([np.where(hits > 0.0, low, 0.0), high])


def _kl_mean(t: Ratios, risk: float, _: Divergence) -> float:
    """The bound of Donsker and Varadhan with t cut off, less its normal error."""
    value = np.sort(t.q[t.share_q > 0])
    cap = float(value[-min(_TOP_ROWS, len(value) // 2 + 1)])
    if not math.isfinite(cap):
        return 0.0
    p, q = (np.clip(x - cap, -_FARTHEST, 0.0) for x in (t.p, t.q))
    q = np.exp(q)
    mean_p, mean_q = float(t.share_p @ p), float(t.share_q @ q)
    variance = float((t.share_p**2 * (p - mean_p) ** 2).sum())
    variance += float((t.share_q**2 * (q / mean_q - 1.0) ** 2).sum())
    return mean_p - math.log(mean_q) - float(ndtri(1.0 - risk)) * math.sqrt(variance)


def _reverse_mean(t: Ratios, risk: float, d: Divergence) -> float:
    return _kl_mean(Ratios(-t.q, -t.p, t.share_q, t.share_p), risk, d)


def _own_mean(t: Ratios, risk: float, d: Divergence) -> float:
    """The divergence itself, where any log-ratio gives too little on average."""
    p, q = (np.clip(x, -_FARTHEST, _FARTHEST) for x in (t.p, t.q))
    value = variance = 0.0
    for term, share in ((d.p_term(p), t.share_p), (d.q_term(q), t.share_q)):
        mean = float(share @ term)
        value, variance = value + mean, variance + float((share**2 * (term - mean) ** 2).sum())
    return value - float(ndtri(1.0 - risk)) * math.sqrt(variance)


_MEANS: dict[str, Callable[[Ratios, float, Divergence], float]] = {
    "kl": _kl_mean,
    "alpha:1": _kl_mean,
    "renyi:1": _kl_mean,
    "reverse-kl": _reverse_mean,
    "alpha:0": _reverse_mean,
    "js": _own_mean,
}
