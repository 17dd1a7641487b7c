"""Whether other anchors and other families that fit the samples as well give the same KL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..anchors import CopulaAnchor, MixedAnchor
from ..crossfit import chosen
from ..data.holdout import LIKELY, MOST_GAIN, Gain, halves, paired_gain
from ..data.sample import Sample, TwoSamples
from ..data.telling import quiet
from ..mdre import MDRE
from ..typing import Array
from .check import Check, advised, graded
from .evidence import Evidence
from .tails import LEAST_KL

_LEAST_ROWS, _FEW_COLUMNS = 40, 20
_ANCHORS_ALONE: dict[str, Any] = {
    "critic": "quadratic",
    "auxiliaries": "bridge",
    "l2": np.inf,
    "random_state": 0,
}


def check_anchors(means: Sequence[float]) -> Check:
    """Whether anchors that fit the samples equally well give about the same KL.

    Parameters
    ----------
    means : sequence of float
        Mean log p/q over rows of p: by the chosen anchors, then by others that
        held-out rows cannot tell from them.

    Examples
    --------
    >>> from isthmus.diagnostics import check_anchors
    >>> check_anchors([2.0, 2.05]).verdict, check_anchors([2.0, 9.0]).verdict
    ('ok', 'fail')
    """
    spread = float(max(means) - min(means)) / max(abs(means[0]), LEAST_KL)
    return advised(
        spread,
        graded(spread, 0.2, 1.0),
        ok="Anchors that fit equally well agree.",
        warn=f"Anchors that fit the samples equally well give {min(means):.3g} to {max(means):.3g} "
        "for the KL: it depends on tails that these rows do not show. The interval reaches over "
        "all of them; more rows would decide.",
        details={"means": list(means)},
    )


def anchors(e: Evidence) -> Check | None:
    """Where anchors were chosen."""
    means = e.facts.selection.by_anchor
    return check_anchors(means) if means else None


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
    count = "one other family" if len(others) == 1 else f"{len(others)} other families"
    ok = f"The KL agrees with that of {count} that fit as well."
    return advised(
        spread,
        graded(spread, 0.2, 1.0),
        ok=ok if others else "No other family fits these samples as well.",
        warn=f"Another family that fits as well ({name}) gives {others.get(name, kl):.3g} for the "
        f"KL, not {kl:.3g}: it depends on what these rows do not show. If one of the two is known "
        "to be right, ask for it; otherwise take the KL for unknown between them.",
        details={"kl": float(kl), **others},
    )


def agreement(e: Evidence) -> Check | None:
    """Fit other families to half of the rows, and judge them on the other half.

    Where the model has densities, that of p is replaced by itself, then that of q, each
    judged by the log-likelihood of held-out rows of its own sample. Otherwise the ratio is
    replaced, and judged by the log-likelihood of the rows' labels. Halves of fewer than 40 rows
    cannot judge.
    """
    splits = [halves(len(rows), np.random.default_rng(0)) for rows in e.some.values()]
    pairs = [(split.train, split.held) for split in splits]
    samples = TwoSamples.of(e.some["p"], e.some["q"])
    train, held = (samples.take(*places) for places in zip(*pairs, strict=True))
    if e.weighted or train.least < _LEAST_ROWS or not e.comparison.kept.finite:
        return None
    # What there is to warn of, the comparison has said.
    with quiet():
        mine = HeldOut.of(chosen(e.comparison.estimator), train, held)
        judged, fitting = False, {}
        for name, model, evidence in _families(e, train):
            try:
                other = HeldOut.of(model, train, held)
            except (ValueError, np.linalg.LinAlgError):
                continue
            judged = True
            for side, kl, gain in other.instead_of(mine):
                if gain.above(evidence):
                    fitting[f"{name}{side}"] = kl
    # The fits share their rows, and most of their noise.
    error = float(mine.ratio[0].std() / np.sqrt(len(held.p)))
    error = error if np.isfinite(error) else 0.0
    return check_agreement(mine.kl, fitting, error) if judged else None


def _families(e: Evidence, train: TwoSamples) -> Iterator[tuple[str, Any, float]]:
    """Name, unfitted model, and how many standard errors better than the model it must fit.

    A Student-t contains the normal; that it fits as well says nothing, and it has to fit better.
    The other families of tails, which may move either way from a normal, have to do so clearly.
    Densities of levels compare with such densities alone.
    """
    anchor = getattr(e.comparison.estimator, "best_params_", {}).get("anchor")
    if isinstance(anchor, MixedAnchor):
        plain = {**_ANCHORS_ALONE, "maps": None, "auxiliaries": None}
        yield "student-t numbers", MDRE(anchor=MixedAnchor(tails="student-t"), **plain), 1.0
        yield "numbers without maps", MDRE(anchor=MixedAnchor(maps=None), **plain), -1.0
        return
    yield "normal", MDRE(anchor="gaussian", maps=None, **_ANCHORS_ALONE), -1.0
    yield "student-t", MDRE(anchor="student-t", maps=None, **_ANCHORS_ALONE), 1.0
    yield (
        "generalised normal",
        MDRE(anchor="generalised-normal", maps=None, **_ANCHORS_ALONE),
        LIKELY,
    )
    if train.n_columns <= _FEW_COLUMNS:
        margins = CopulaAnchor("columns", "exponential")
        yield "exponential tails", MDRE(anchor=margins, maps=None, **_ANCHORS_ALONE), LIKELY
    positive = np.minimum(train.p.rows.min(axis=0), train.q.rows.min(axis=0)) > 0
    if positive.any():
        maps = ["log" if one else None for one in positive]
        yield "log-normal", MDRE(anchor="gaussian", maps=maps, **_ANCHORS_ALONE), -1.0
    if not e.facts.selection.by_anchor:
        yield "the default", MDRE(**_ANCHORS_ALONE), -1.0


@dataclass(frozen=True)
class HeldOut:
    """What a model fitted to one half of the rows says of the other.

    Log p/q at the rows of p and of q; and, where the model has densities, their logarithms
    at the rows of p and of q under their own, and of q at the rows of p.
    """

    ratio: list[Array]
    density: list[Array] | None

    @classmethod
    def of(cls, estimator: Any, train: TwoSamples, held: TwoSamples) -> HeldOut:
        """Fit a model to rows and ask it of others."""
        fit = estimator.fit_samples(train)
        ratio = [fit.log_ratio_at(sample.rows) for sample in held]
        model, (p, q), found = fit.facts.model, held, []
        if model is not None and model.anchored:
            asked = ((p, "p"), (q, "q"), (p, "q"))
            found = [model.log_density(sample.rows, side) for sample, side in asked]
        known = [density for density in found if density is not None]
        return cls(ratio, known or None)

    @property
    def kl(self) -> float:
        """Mean log p/q over the rows of p."""
        return float(self.ratio[0].mean())

    @property
    def labels(self) -> list[Array]:
        """Log-likelihood of the labels of the rows of p and of q."""
        return [-np.logaddexp(0.0, -self.ratio[0]), -np.logaddexp(0.0, self.ratio[1])]

    def instead_of(self, mine: HeldOut) -> Iterator[tuple[str, float, Gain]]:
        """Which sample, the KL, and the gain in log-likelihood over another model."""
        if self.density is None or mine.density is None:
            yield "", self.kl, _gain(self.labels, mine.labels)
            return
        (p, q, q_at_p), (mine_p, mine_q, mine_q_at_p) = self.density, mine.density
        yield " for p", float(np.mean(p - mine_q_at_p)), _gain([p], [mine_p])
        yield " for q", float(np.mean(mine_p - q_at_p)), _gain([q], [mine_q])


def _gain(theirs: list[Array], mine: list[Array]) -> Gain:
    """Mean log-likelihood above another's, and its standard error, summed over samples."""
    shares = [Sample.of(one).share for one in theirs]
    return paired_gain(theirs, mine, shares, most=MOST_GAIN)
