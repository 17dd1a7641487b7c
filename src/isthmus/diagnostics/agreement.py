"""Whether other families that fit the samples as well give the same KL."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.holdout import MOST_GAIN, Gain, paired_gain
from ..data.kept import KeptRows
from ..data.sample import TwoSamples
from ..estimator import own
from ..model.classes import ClassModel
from ..typing import Array
from .check import Check, Verdict
from .tails import LEAST_KL

_ROWS = 2000
_LEAST_ROWS = 40
_PLAIN: dict[str, Any] = {
    "critic": "quadratic",
    "auxiliaries": "bridge",
    "l2": np.inf,
    "random_state": 0,
}


@dataclass(frozen=True)
class Alternative:
    """Another family, fitted to half of the rows and judged on the other half.

    Attributes
    ----------
    name : str
    kl : float
        Mean log p/q over held-out rows of p.
    gain : float
        Held-out log-likelihood per row above that of the model in question.
    std_error : float
        Standard error of the gain.
    evidence : float
        How many standard errors the gain must be above zero for the family to count.
    """

    name: str
    kl: float
    gain: float
    std_error: float
    evidence: float

    @property
    def fits(self) -> bool:
        """Whether held-out rows leave it in the running."""
        return self.gain >= self.evidence * self.std_error


def check_agreement(kl: float, others: Mapping[str, float], std_error: float = 0.0) -> Check:
    """Whether other families that fit as well give about the same KL.

    Parameters
    ----------
    kl : float
        KL by the model in question.
    others : mapping of str to float
        KL by other families that held-out rows do not tell from it.
    std_error : float
        Standard error of the KL; what differs by less than two of these agrees.

    Returns
    -------
    Check
        Its value is the largest difference as a share of the smaller of the two
        numbers, or of a tenth of a nat if that is larger.

    Examples
    --------
    >>> check_agreement(28.0, {"mapped by log": 306.0}, 0.8).verdict
    'fail'
    >>> check_agreement(28.0, {"student-t": 27.0}, 0.8).verdict
    'ok'
    """
    spread, name = 0.0, ""
    for other, value in others.items():
        if np.isfinite(value) and abs(value - kl) <= 2.0 * std_error:
            continue
        share = abs(value - kl) / max(min(abs(kl), abs(value)), LEAST_KL)
        share = float(share) if np.isfinite(share) else np.inf
        if share > spread:
            spread, name = share, other
    verdict: Verdict = "ok" if spread <= 0.2 else "warn" if spread <= 1.0 else "fail"
    if verdict == "ok":
        count = len(others)
        advice = "No other family fits these samples as well."
        if count:
            told = "one other family" if count == 1 else f"{count} other families"
            advice = f"The KL agrees with that of {told} that fit as well."
    else:
        advice = (
            f"Another family that fits as well ({name}) gives {others[name]:.3g} for the KL, not "
            f"{kl:.3g}: it depends on what these rows do not show. If one of the two is known to "
            "be right, ask for it; otherwise take the KL for unknown between them."
        )
    return Check(spread, verdict, advice, details={"kl": float(kl), **others})


def alternatives(comparison: Any, kept: KeptRows) -> tuple[float, float, list[Alternative]]:
    """Fit other families to half of the rows, and judge them on the other half.

    Where the model has densities, that of p is replaced by itself, then that of q, each
    judged by the log-likelihood of held-out rows of its own sample. Otherwise the ratio is
    replaced, and judged by the log-likelihood of the rows' labels.

    Parameters
    ----------
    comparison : Comparison
        Without weights.
    kept : KeptRows
        Its rows.

    Returns
    -------
    kl : float
        Mean log p/q over held-out rows of p by the comparison's own model, fitted with its
        settings to the same half.
    std_error : float
        Standard error of that mean; the fits share their rows, and most of their noise.
    found : list of Alternative
        None if there are fewer than 40 rows in a half.
    """
    halves = [_halves(rows) for rows in (kept.p, kept.q)]
    train, held = ([pair[k] for pair in halves] for k in (0, 1))
    if min(map(len, train)) < _LEAST_ROWS or np.isnan(kept.p).any() or np.isnan(kept.q).any():
        return 0.0, 0.0, []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # What there is to warn of, the comparison has said.
        warnings.simplefilter("ignore")
        mine = _Judged(_own(comparison), train, held)
        found = []
        for name, model, evidence in _families(comparison.estimator, train):
            try:
                other = _Judged(model, train, held)
            except (ValueError, np.linalg.LinAlgError):
                continue
            found += [
                Alternative(f"{name}{side}", kl, gain, error, evidence)
                for side, kl, gain, error in other.instead_of(mine)
            ]
    error = float(mine.ratio[0].std() / np.sqrt(len(held[0])))
    return mine.kl, error if np.isfinite(error) else 0.0, found


def _families(model: Any, train: list[Array]) -> Iterator[tuple[str, Any, float]]:
    """Name, unfitted model and the evidence it needs.

    A Student-t contains the normal; that it fits as well says nothing, and it has to fit better.
    """
    from ..mdre import MDRE

    yield "normal", MDRE(anchor="gaussian", maps=None, **_PLAIN), -1.0
    yield "student-t", MDRE(anchor="student-t", maps=None, **_PLAIN), 1.0
    pooled = np.concatenate(train)
    positive = pooled.min(axis=0) > 0
    if positive.any():
        maps = ["log" if one else None for one in positive]
        yield "log-normal", MDRE(anchor="gaussian", maps=maps, **_PLAIN), -1.0
    selection = getattr(model, "selection_", None)
    if selection is None or not selection.by_anchor:
        yield "the default", MDRE(**_PLAIN), -1.0


def _own(comparison: Any) -> Any:
    full = comparison.estimator
    return clone(full).set_params(**getattr(full, "best_params_", {}))


class _Judged:
    """A model fitted to one half, and what it says of the other."""

    def __init__(self, model: Any, train: list[Array], held: list[Array]) -> None:
        self.model = own(model).fit_samples(TwoSamples.of(*train))
        self.held = held
        self.ratio = [self.model.log_ratio_at(rows) for rows in held]
        self.kl = float(self.ratio[0].mean())
        self.elsewhere = self.ratio[0]
        self.density = self._density()

    def _density(self) -> list[Array] | None:
        """Log-density of held-out rows of p and of q under their own, by way of an auxiliary.

        ``elsewhere`` becomes that of q at rows of p.
        """
        model = getattr(self.model, "model_", None)
        if not isinstance(model, ClassModel) or not model.offsets.anchors:
            return None
        elsewhere = model.log_density(self.held[0], "q")
        if elsewhere is None:
            return None
        self.elsewhere = elsewhere
        found = [model.log_density(x, side) for side, x in zip("pq", self.held, strict=True)]
        return [density for density in found if density is not None]

    def instead_of(self, own: _Judged) -> Iterator[tuple[str, float, float, float]]:
        """Which sample, the KL, the gain in held-out log-likelihood and its standard error."""
        if self.density is None or own.density is None:
            yield "", self.kl, *_gain(self._labels(), own._labels())
            return
        (mine_p, mine_q), (own_p, own_q) = self.density, own.density
        yield " for p", float(np.mean(mine_p - own.elsewhere)), *_gain([mine_p], [own_p])
        yield " for q", float(np.mean(own_p - self.elsewhere)), *_gain([mine_q], [own_q])

    def _labels(self) -> list[Array]:
        return [-np.logaddexp(0.0, -self.ratio[0]), -np.logaddexp(0.0, self.ratio[1])]


def _gain(mine: list[Array], theirs: list[Array]) -> Gain:
    """Mean log-likelihood above another's, and its standard error, summed over samples."""
    shares = [np.full(len(one), 1.0 / len(one)) for one in mine]
    return paired_gain(mine, theirs, shares, most=MOST_GAIN)


def _halves(rows: Array) -> tuple[Array, Array]:
    take = np.unique(np.linspace(0, len(rows) - 1, _ROWS).astype(np.intp))
    take = np.random.default_rng(0).permutation(take)
    return rows[take[len(take) // 2 :]], rows[take[: len(take) // 2]]
