"""An anchor chosen by held-out likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.holdout import LIKELY, MOST_GAIN, Gain, paired_gain, split_rows
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .copula import CopulaAnchor
from .elliptical import SampleAnchor
from .fit import bias_of, fit_anchor
from .gaussian import GaussianAnchor
from .mixture import MixtureAnchor
from .tails import MOST_COLUMNS, TailFamily, choose_tails, is_round
from .truncated import TruncatedAnchor

_ROWS = 20_000
_FEW_ROWS = 3000
_SIZES = (2, 3, 4, 6, 8, 12, 16)
_MISSES, _FEW_COLUMNS = 2, 12
_ROWS_PER_PARAMETER = 5
_MANY_COLUMNS = 60
# In more columns than the families of tails are tried in, laws that are fitted quickly.
_QUICK = ("normal", "logistic", "laplace")


class AutoAnchor(SampleAnchor):
    """The simplest of several families that is good enough for the rows of a class.

    Families that say how a tail goes on are judged by the likelihood of all rows, with
    Schwarz's criterion, doubled: normal, Student-t and generalised normal; margins of such
    families and with exponential tails, of the columns or of independent sources. See
    :func:`~isthmus.anchors.tails.choose_tails`. The others come in the order of their complexity:
    two or three normals on a line (in one dimension: a normal that is cut off), margins of any
    shape under a normal copula, mixtures of a growing number of normals. One of these replaces a
    simpler one only if it gives rows that neither has seen a higher log-density, by more than three
    standard errors: there are many candidates, and far from the rows they differ wildly.
    Mixtures grow until two sizes in a row bring nothing.

    Attributes
    ----------
    anchor_ : anchor
        The chosen one, fitted to all rows.
    scores_ : dict of str to float
        Mean held-out log-density of the normal, of the best family of tails, and of every other
        candidate.
    evidence_ : dict of str to float
        Twice the gain of every family of tails over the normal in log-likelihood.
    choice_ : str
        Name of the chosen candidate.
    rivals_ : list
        Fitted anchors of other families that the rows cannot refuse.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.anchors import AutoAnchor
    >>> rows = np.random.default_rng(0).normal(size=(500, 2))
    >>> anchor = AutoAnchor().fit(rows)
    >>> anchor.score_samples(rows[:3]).shape
    (3,)
    """

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Choose a family and fit it."""
        quarter = min(len(sample), _ROWS) // 4
        split = split_rows(len(sample), np.random.default_rng(0), held=quarter, most=_ROWS)
        train, held = sample.take(split.train), sample.take(split.held)
        few = sample if len(sample) <= _ROWS else sample.take(np.union1d(split.train, split.held))
        tails = choose_tails(few, surroundings)
        self.evidence_ = tails.evidence
        self.scores_: dict[str, float] = {}
        best: dict[str, _Candidate] = {}
        misses: dict[str, int] = {}
        normal: _Candidate | None = None
        patience = _MISSES if sample.rows.shape[1] <= _FEW_COLUMNS else 1
        for kind, name, candidate in _candidates(tails.chosen, train.rows, held.rows, surroundings):
            if misses.get(kind, 0) >= patience:
                continue
            try:
                fit_anchor(candidate, train, surroundings)
            except np.linalg.LinAlgError:
                # Rows on a plane, or few: what cannot be fitted is not chosen.
                continue
            fitted = _Candidate(name, candidate, candidate.score_samples(held.rows), held.share)
            self.scores_[name] = float(fitted.share @ fitted.density)
            # A family grows as long as it gets better itself, whatever leads at the moment.
            own = best.get(kind, best.get("tails"))
            if kind.startswith("cut off"):
                # Tails that are not normal may be those of a normal that ends.
                own = normal
            if own is None or kind == "tails" or fitted.beats(own):
                normal = fitted if own is None else normal
                best[kind], misses[kind] = fitted, 0
            else:
                misses[kind] = misses.get(kind, 0) + 1
        first = best.pop("tails")
        winner = first
        for kind, fitted in best.items():
            as_good = kind.startswith("cut off") and not first.exceeds(fitted)
            if fitted.beats(winner) or (winner is first and as_good):
                winner = fitted
        self.choice_ = winner.name
        if winner is first:
            self.rivals_: list[Any] = [one.anchor for one in tails.rivals]
            self.anchor_ = tails.chosen.anchor
            if few is not sample:
                self.anchor_ = fit_anchor(clone(self.anchor_), sample, surroundings)
        else:
            others = [one for one in (first, *best.values()) if one is not winner]
            self.rivals_ = [one.anchor for one in others if not winner.exceeds(one)]
            self.anchor_ = fit_anchor(clone(winner.anchor), sample, surroundings)

    def score_samples(self, X: Array) -> Array:
        """Log-density of every row, shape (n,)."""
        return np.asarray(self.anchor_.score_samples(X))

    @property
    def bias_(self) -> float:
        """Bias of the log-density."""
        return bias_of(self.anchor_)

    @property
    def components_(self) -> list[Any]:
        """The fit as a mixture of components."""
        return list(self.anchor_.components_)

    @property
    def is_mixture(self) -> bool:
        """Whether its density is that of the components."""
        return getattr(self.anchor_, "is_mixture", False)


@dataclass(frozen=True)
class _Candidate:
    """A fitted anchor, and its log-density at the held-out rows with their shares."""

    name: str
    anchor: Any
    density: Array
    share: Array

    def beats(self, other: _Candidate) -> bool:
        """Whether it gives these rows a higher density than another does, beyond doubt."""
        return self._gain(other).proven(len(self.share))

    def exceeds(self, other: _Candidate) -> bool:
        """Whether it gives these rows a higher density, by more than chance."""
        gain = self._gain(other)
        return gain.mean > LIKELY * gain.std_error

    def _gain(self, other: _Candidate) -> Gain:
        # One far outlier may cost a normal density a million nats; it counts as one row.
        return paired_gain([self.density], [other.density], [self.share], most=MOST_GAIN)


def _candidates(
    tails: TailFamily, X: Array, held: Array, surroundings: Surroundings | None
) -> Iterator[tuple[str, str, Any]]:
    """Kind, name and unfitted anchor of every candidate that there are rows enough for."""
    n, d = X.shape
    yield "tails", "gaussian", GaussianAnchor()
    if tails.name != "gaussian":
        yield "tails", tails.name, clone(tails.anchor)
    if n < 4 * d + 20:
        return
    if d == 1:
        for edges in _edges(X[:, 0], surroundings):
            yield f"cut off {edges}", f"normal cut off {edges}", TruncatedAnchor(edges)
    else:
        for k in (2, 3):
            yield "line", f"{k} normals on a line", MixtureAnchor(k, "line")
    if n >= 200:
        sources = 1 < d <= _MANY_COLUMNS and not is_round(X)
        if sources and d > MOST_COLUMNS:
            yield "sources", "exponential sources", CopulaAnchor("independent", _QUICK)
        yield "columns", "copula of the columns", CopulaAnchor("columns")
        if d > 1:
            yield "canonical", "copula of the axes", CopulaAnchor("canonical")
        if sources:
            yield "sources", "independent sources", CopulaAnchor("independent")
    for k in _SIZES:
        for covariance, size in (("shared", d), ("full", 1 + d + d * (d + 1) // 2)):
            if d == 1 and covariance == "shared":
                continue
            mixture = MixtureAnchor(k, covariance)
            enough = d <= _MANY_COLUMNS and n > _ROWS_PER_PARAMETER * k * size
            if enough and _promising(mixture, X, held, surroundings):
                shape = " of one shape" if covariance == "shared" else ""
                yield covariance, f"{k} normals{shape}", mixture


def _edges(x: Array, surroundings: Surroundings | None) -> list[str]:
    """Sides on which the values may end: not where those of the other sample just go on."""
    ends = ["below", "above"]
    if surroundings is not None:
        others, spread = surroundings.others[:, 0], x.std()
        if ((others < x.min()) & (others > x.min() - spread)).any():
            ends.remove("below")
        if ((others > x.max()) & (others < x.max() + spread)).any():
            ends.remove("above")
    return [*ends, "both"] if len(ends) == 2 else ends


def _promising(mixture: Any, X: Array, held: Array, surroundings: Any) -> bool:
    """Whether a mixture beats one normal when both are fitted to few rows: EM takes long."""
    few = max(_FEW_ROWS, 50 * X.shape[1])
    if len(X) <= 2 * few:
        return True
    one = GaussianAnchor().fit(X[:few]).score_samples(held)
    try:
        two = clone(mixture).fit(X[:few], surroundings=surroundings).score_samples(held)
    except np.linalg.LinAlgError:
        return False
    return bool(np.clip(two - one, -MOST_GAIN, MOST_GAIN).mean() > 0)
