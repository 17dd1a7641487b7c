"""``importance_weights(source, target)``: weights under which a source looks like a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.validation import check_number, check_option
from ..functionals import effective_sample_size
from ..sources.whole import in_memory
from ..typing import Array, BoolArray, RandomState
from ..words import number
from .judging import Case, Pair
from .lacking import table_notes
from .quantities import check_balance_option, chosen
from .result import NORMALISATIONS, WeightingError, Weights, normalised
from .smoothing import pareto_smoothed
from .tilting import OutsideHull, tilted
from .trimming import Trim, trimmed

_INSTEAD = (
    "isthmus.score(isthmus.compare(target, source), source, folder, weights=True) writes the "
    "weights of any number of rows."
)


def importance_weights(
    source: Any,
    target: Any,
    *,
    least_ess: float | None = None,
    design_effect: float | None = None,
    balance: Any = None,
    weight_source: Any = None,
    weight_target: Any = None,
    normalise: str = "mean",
    on_failure: str = "raise",
    estimator: Any = None,
    columns: Any = None,
    drop: Any = (),
    keep: Any = (),
    missing: str = "indicator",
    dates: Any = "days",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Any = None,
) -> Weights:
    """Weights of the source's rows under which they look like the target, with a certificate.

    The weight of a row is the ratio of the two densities, target over source, by a model that
    has not seen the row. The largest weights are smoothed by the tail that they are draws of. What
    the weights are worth is said: effective sample size, balance of every column, overlap, and a
    verdict.

    Parameters
    ----------
    source, target : array-like or frame of shape (n, d) or (n,)
        The sample to be weighted, and the one that it shall look like. Frames are taken as they
        are, matched by column name: dates, text, missing values. ``notes`` of the result, and its
        verdict, say which columns the weights do not look at, and why. What :func:`compare` reads
        in parts, such as a folder of Parquet files, is taken into memory; of too many rows it is
        refused, and ``isthmus.score(isthmus.compare(target, source), ..., weights=True)`` writes
        the weights of any number, without a certificate.
    least_ess : float, optional
        Least effective sample size. If the weights are worth fewer rows, source and target are
        restricted to the largest population in which they are, by rules on the columns;
        ``population`` of the result says which.
    design_effect : float, optional
        Largest design effect, rows over effective rows; likewise.
    balance : "means" or list of str, optional
        Columns whose weighted means, or shares of levels, shall be the target's to the decimal:
        the weights are tilted as little as possible (entropy balancing; raking for levels).
    weight_source, weight_target : array-like of shape (n,), optional
        Weights that the rows have already, such as those of a survey. The weights of the result
        contain those of the source.
    normalise : {"mean", "sum", "target"}, default "mean"
        Whether the weights average one over the kept rows, add up to one, or add up to the rows
        of the target (in the population that remains).
    on_failure : {"raise", "return"}, default "raise"
        What to do where no weighting helps: raise :class:`WeightingError`, or return weights whose
        ``usable`` is False.
    estimator : estimator, optional
        As in :func:`compare`; by default regressions and trees, weighed.
    columns, drop, keep, missing, dates, random_state, n_jobs, progress
        As in :func:`compare`.

    Returns
    -------
    Weights

    Raises
    ------
    WeightingError
        Where no weighting helps; it carries the weights with their certificate.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> source = {"age": rng.normal(40, 10, 800), "town": rng.choice(["Bonn", "Kiel"], 800)}
    >>> target = {"age": rng.normal(45, 10, 800), "town": rng.choice(["Bonn", "Kiel"], 800)}
    >>> w = isthmus.importance_weights(source, target, balance="means", random_state=0)
    >>> bool(abs(np.average(source["age"], weights=w.values) - target["age"].mean()) < 1e-6)
    True
    >>> w.certificate.verdict
    'ok'
    """
    wish = Wish(least_ess, design_effect, balance, normalise, on_failure)
    source, target = (
        in_memory(value, name, _INSTEAD) for name, value in (("source", source), ("target", target))
    )
    pair = Pair.of(
        source,
        target,
        weight_source,
        weight_target,
        estimator=estimator,
        columns=columns,
        drop=drop,
        keep=keep,
        missing=missing,
        dates=dates,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return weigh(pair, wish, progress)


@dataclass(frozen=True)
class Wish:
    """What is asked of weights; see :func:`importance_weights`."""

    least_ess: float | None = None
    design_effect: float | None = None
    balance: Any = None
    normalise: str = "mean"
    on_failure: str = "raise"

    def __post_init__(self) -> None:
        if self.least_ess is not None:
            check_number(self.least_ess, "least_ess", low=1)
        if self.design_effect is not None:
            check_number(self.design_effect, "design_effect", low=1, open_low=True)
        check_option(self.normalise, "normalise", NORMALISATIONS)
        check_option(self.on_failure, "on_failure", ["raise", "return"])
        check_balance_option(self.balance)


def weigh(pair: Pair, wish: Wish, progress: Any = None) -> Weights:
    """Weights of the source's rows of a pair that was checked at a door."""
    least_ess, design_effect = wish.least_ess, wish.design_effect
    if least_ess is not None and least_ess > pair.rows:
        raise ValueError(
            f"least_ess must be at most the number of rows of the source, {pair.rows}; "
            f"received {least_ess!r}."
        )
    asked = chosen(pair.every, wish.balance, pair.encoder)
    found = pair.compared(progress)
    every = Case.of(pair, found)
    positive = every.source.weight > 0
    short = ""
    trim = None
    if not _enough(every, positive, least_ess, design_effect):
        trim = trimmed(
            every.every,
            every.target,
            every.source,
            every.log_ratios,
            lambda inside: _enough(every, inside & positive, least_ess, design_effect),
        )
        if trim is None:
            short = _short(every, positive, least_ess, design_effect)
    inside = positive if trim is None else positive & trim.source
    case = every.take(
        np.ones(len(every.target), dtype=bool) if trim is None else trim.target, inside
    )
    raw, log_weight, notes = _smoothed(case, trim)
    unseen = None
    if asked is not None:
        try:
            log_weight, unseen = _balanced(case, asked, log_weight)
        except OutsideHull as error:
            short = str(error)
        else:
            notes.append("The weights were tilted until the means asked for are the target's.")
    certificate = case.certificate(log_weight, raw, unseen, short)
    kept, out = np.zeros(pair.rows, dtype=bool), np.full(pair.rows, -np.inf)
    places = np.flatnonzero(pair.used)[inside]
    kept[places] = True
    out[places] = normalised(log_weight, wish.normalise, float(case.target.weight.sum()))
    weights = Weights(
        out,
        kept,
        certificate,
        found,
        None if trim is None else trim.population,
        wish.normalise,
        (*notes, *table_notes(pair.encoder)),
        shape=pair.shape,
    )
    if not weights.usable and wish.on_failure == "raise":
        raise WeightingError(weights.verdict, weights)
    return weights


def _log_weight(case: Case) -> Array:
    return np.asarray(np.log(case.source.weight) + case.at_source)


def _enough(
    case: Case, inside: BoolArray, least_ess: float | None, design_effect: float | None
) -> bool:
    """Whether the weights of some rows of the source are worth what was asked for."""
    if inside.sum() < 2:
        return False
    part = np.log(case.source.weight[inside]) + case.at_source[inside]
    size = float(effective_sample_size(pareto_smoothed(part)[0]))
    return (least_ess is None or size >= least_ess) and (
        design_effect is None or inside.sum() / size <= design_effect
    )


def _short(
    case: Case, inside: BoolArray, least_ess: float | None, design_effect: float | None
) -> str:
    part = np.log(case.source.weight[inside]) + case.at_source[inside]
    size = float(effective_sample_size(pareto_smoothed(part)[0]))
    limits = {"least_ess": least_ess, "design_effect": design_effect}
    asked = [f"{name}={limit:g}" for name, limit in limits.items() if limit is not None]
    return (
        f"No population that rules on the columns describe, with a tenth of the target or more, "
        f"has {' and '.join(asked)}; all rows of the source are worth {number(round(size, 1))}."
    )


def _smoothed(case: Case, trim: Trim | None) -> tuple[Array, Array, list[str]]:
    """Log-weights as the ratio has them, with the tail smoothed, and what was done."""
    raw = _log_weight(case)
    log_weight, count = pareto_smoothed(raw)
    notes = []
    if trim is not None:
        told = trim.population
        notes.append(
            f"The weights stand for {told}: {100 * told.target_share:.3g} % of the target and "
            f"{100 * told.source_share:.3g} % of the source. Nothing is said of the rest."
        )
    if count:
        notes.append(
            f"The {count} largest weights were smoothed by the Pareto tail that they are draws of."
        )
    return raw, log_weight, notes


def _balanced(case: Case, asked: list[int], log_weight: Array) -> tuple[Array, Array]:
    """Weights with the target's means, and weights whose tilt has not seen the row's fold."""
    x = case.source.rows[:, asked]
    labels = [case.every[j].label for j in asked]
    means = case.target.share @ case.target.rows[:, asked]
    tilted_weight, slope = tilted(x, log_weight, means, labels)
    unseen = tilted_weight.copy()
    for fold in np.unique(case.fold_source):
        here, there = case.fold_source == fold, case.fold_target == fold
        if here.all() or there.all() or not there.any():
            continue
        part = case.target.take(~there)
        try:
            _, slope = tilted(x[~here], log_weight[~here], part.share @ part.rows[:, asked], labels)
        except OutsideHull:
            continue
        shifted = log_weight[here] + x[here] @ slope
        mass = np.logaddexp.reduce(log_weight[here]) - np.logaddexp.reduce(log_weight)
        unseen[here] = shifted - np.logaddexp.reduce(shifted) + mass
    return tilted_weight, unseen
