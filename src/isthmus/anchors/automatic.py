"""An anchor chosen by held-out likelihood."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.holdout import MOST_GAIN, paired_gain, split_rows
from ..data.sample import Sample
from ..maps.coordinates import Surroundings
from ..typing import Array
from .copula import CopulaAnchor
from .elliptical import SampleAnchor
from .fit import bias_of, fit_anchor
from .gaussian import GaussianAnchor
from .mixture import MixtureAnchor
from .student_t import StudentTAnchor
from .truncated import TruncatedAnchor

_ROWS = 20_000
_FEW_ROWS = 3000
_SIZES = (2, 3, 4, 6, 8, 12, 16)
_MISSES, _FEW_COLUMNS = 2, 12
_ROWS_PER_PARAMETER = 5
_MANY_COLUMNS = 60
_MOST_EACH = 3.0


class AutoAnchor(SampleAnchor):
    """The simplest of several families that is good enough for the rows of a class.

    Candidates come in the order of their complexity: normal, Student-t, two or
    three normals on a line (in one dimension: a normal that is cut off), margins
    of any shape under a normal copula, mixtures of a growing number of normals.
    One replaces a simpler one only if it gives rows that neither has seen a higher
    log-density, by more than three standard errors: there are many candidates, and
    far from the rows they differ wildly. The Student-t, a normal with one parameter more,
    is judged by Schwarz's criterion, doubled. Mixtures grow until two sizes in a row bring nothing.

    Attributes
    ----------
    anchor_ : anchor
        The chosen one, fitted to all rows.
    scores_ : dict of str to float
        Mean held-out log-density of every candidate.
    choice_ : str
        Name of the chosen candidate.
    rivals_ : list
        A Student-t, fitted to some of the rows, where Schwarz's criterion prefers it
        to a normal, but not by a wide margin.
    """

    def learn(self, sample: Sample, surroundings: Surroundings | None) -> None:
        """Choose a family and fit it."""
        quarter = min(len(sample), _ROWS) // 4
        split = split_rows(len(sample), np.random.default_rng(0), held=quarter, most=_ROWS)
        train, held = sample.take(split.train), sample.take(split.held)
        self.scores_: dict[str, float] = {}
        self.rivals_: list[Any] = []
        best: dict[str, _Candidate] = {}
        misses: dict[str, int] = {}
        patience = _MISSES if sample.rows.shape[1] <= _FEW_COLUMNS else 1
        for kind, name, candidate in _candidates(train.rows, held.rows, surroundings):
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
            own = best.get(kind, best.get("gaussian"))
            if own is None or (kind != "student-t" and fitted.beats(own)):
                best[kind], misses[kind] = fitted, 0
            elif kind == "student-t":
                evidence = _evidence(candidate, own.anchor, train)
                schwarz = np.log(len(train))
                # Across a chasm the two are worlds apart: the criterion is to be met twice over.
                if evidence > 2.0 * schwarz:
                    best["gaussian"] = fitted
                elif evidence > schwarz:
                    self.rivals_.append(candidate)
            else:
                misses[kind] = misses.get(kind, 0) + 1
        winner = best.pop("gaussian")
        for fitted in best.values():
            if fitted.beats(winner):
                winner = fitted
        self.choice_ = winner.name
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


@dataclass(frozen=True)
class _Candidate:
    """A fitted anchor, and its log-density at the held-out rows with their shares."""

    name: str
    anchor: Any
    density: Array
    share: Array

    def beats(self, other: _Candidate) -> bool:
        """Whether it gives these rows a higher density than another does, beyond doubt."""
        # One far outlier may cost a normal density a million nats; it counts as one row.
        gain = paired_gain([self.density], [other.density], [self.share], most=MOST_GAIN)
        return gain.proven(len(self.share))


def _candidates(
    X: Array, held: Array, surroundings: Surroundings | None
) -> Iterator[tuple[str, str, Any]]:
    """Kind, name and unfitted anchor of every candidate that there are rows enough for."""
    n, d = X.shape
    yield "gaussian", "gaussian", GaussianAnchor()
    if n < 4 * d + 20:
        return
    yield "student-t", "student-t", StudentTAnchor()
    if d == 1:
        for edges in _edges(X[:, 0], surroundings):
            yield f"cut off {edges}", f"normal cut off {edges}", TruncatedAnchor(edges)
    else:
        for k in (2, 3):
            yield "line", f"{k} normals on a line", MixtureAnchor(k, "line")
    if n >= 200:
        yield "columns", "copula of the columns", CopulaAnchor("columns")
        if d > 1:
            yield "canonical", "copula of the axes", CopulaAnchor("canonical")
        if 1 < d <= _MANY_COLUMNS and not _round(X):
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


def _evidence(student: Any, normal: Any, sample: Sample) -> float:
    """Twice the gain in log-likelihood by one parameter more, over the rows of the fits.

    Above the logarithm of the number of rows, Schwarz's criterion prefers the Student-t. One
    in hundreds of normal samples gets there by chance, in tens of thousands to twice as much.
    Held-out rows would need many more to say the same. A few outliers do not decide it. Both are
    taken as they were fitted: with its noise taken out, neither is the likeliest of its family, and
    in many columns that would decide it.
    """
    X = sample.rows
    fits = [replace(one.component_, rows=np.inf).log_density(X) for one in (student, normal)]
    gain = np.clip(fits[0] - fits[1], -_MOST_EACH, _MOST_EACH)
    return float(2.0 * len(X) * (sample.share @ gain))


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


def _round(X: Array) -> bool:
    """Whether the fourth moment of the distance from the centre is that of a normal."""
    n, d = X.shape
    Z = GaussianAnchor().fit(X).component_.standard(X)
    square = np.einsum("ij,ij->i", Z, Z)
    excess = float(np.mean(square**2)) - d * (d + 2.0) * (n - 1.0) / (n + 1.0)
    return bool(abs(excess) < 4.0 * np.sqrt(8.0 * d * (d + 2.0) / n))
