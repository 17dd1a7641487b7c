"""From a fit to a sample to one to all rows: what is convex or closed-form is fitted again.

Everything else stays as the sample made it. Rows outside the sample have not been seen by it,
and those of the sample keep what fits without them say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..candidates.base import limited
from ..crossfit import CrossFit, own
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..data.telling import quiet
from ..functionals.binned import Binned, BinnedRatios
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..selection.record import Selection
from ..stacked import StackedMDRE
from ..typing import Array, IntArray
from ..uncertainty.all_rows import AllRows
from .anchors import REWEIGHTED, Family
from .coefficients import LEAST_ROWS, Weighing, judged, weighed
from .critic import STEPS, Curvature, Slope, drawn_source, step
from .judged import Counting, JudgedRatios, misfit
from .normals import log_ratio_of
from .passes import Passes
from .pieces import GROUPS, Pieces, groups_of
from .quick import quick as quickened
from .scoring import Scoring

LogRatio = Callable[[Array], Array]

_MOST_COLUMNS = 200
_NORMALS = "normal for p, normal for q"


@dataclass(frozen=True)
class Drawn:
    """The sample that a fit was made to, and how to go on from there.

    Attributes
    ----------
    samples : TwoSamples
        Its rows, in the columns that the estimator sees.
    numbers : pair of ndarray
        Their numbers among all rows of p and of q, in order.
    pieces : pair of Pieces
        What makes such rows of the batches of p and of q.
    seeds : Seeds
    more : TwoSamples or None
        Further rows, which nothing was fitted to.
    """

    samples: TwoSamples
    numbers: tuple[IntArray, IntArray]
    pieces: tuple[Pieces, Pieces]
    seeds: Seeds
    more: TwoSamples | None = None


def fit_all_rows(
    estimator: Any, crossfit: CrossFit, drawn: Drawn, passes: Passes
) -> tuple[Any, CrossFit, AllRows]:
    """Fit to all rows what can be, and take every row's log-ratio.

    Parameters
    ----------
    estimator : estimator
        Fitted to the sample.
    crossfit : CrossFit
        What the folds of the sample gave.
    drawn : Drawn
    passes : Passes

    Returns
    -------
    estimator, CrossFit, AllRows
    """
    if isinstance(estimator, StackedMDRE) and estimator.single_ is None:
        return _stack(estimator, crossfit, drawn, passes)
    if isinstance(estimator, MDRE) and isinstance(estimator.model_, ClassModel):
        found = fit_model(estimator, drawn, passes)
        if found is not None:
            model, without, names = found
            all_rows = _by_groups(without, names, drawn, passes)
            return _with_model(estimator, model), crossfit, all_rows
    light = quickened(without_rows(own(estimator)))
    binned = _unseen(light.log_ratio_at, crossfit, drawn, passes)
    return estimator, crossfit, AllRows(binned, passes.count)


def _by_groups(
    without: Sequence[ClassModel], names: tuple[str, ...], drawn: Drawn, passes: Passes
) -> AllRows:
    """Every row's log-ratio by the model that was fitted without its group."""
    moved = tuple(_pair(drawn.samples, one.log_ratio) for one in without)
    log_ratios = [log_ratio_of(one, drawn.samples.p.rows) for one in without]
    p, q = _scored(passes, drawn, log_ratios, moved[0])
    binned = JudgedRatios(p.binned, q.binned, misfit(p.counts, q.counts))
    return AllRows(binned, passes.count, names, moved)


def fit_model(
    mdre: MDRE, drawn: Drawn, passes: Passes
) -> tuple[ClassModel, list[ClassModel], tuple[str, ...]] | None:
    """A model fitted to all rows, those without each group, and what of it was fitted so.

    None where nothing of it is convex or closed-form, or its auxiliaries are made of rows.
    """
    model = mdre.model_
    assert isinstance(model, ClassModel)
    offsets = model.offsets
    if model.network is not None or (model.critic is not None and len(offsets.learned) > 2):
        return None
    # Without a critic auxiliaries do nothing, and anchors of p and of q are all there is.
    family = Family.of(offsets.anchors[:2])
    if family is None and model.critic is None:
        return None
    names: tuple[str, ...] = ()
    without = [model] * GROUPS
    if family is not None:
        family, others = _anchors(family, model, drawn, passes)
        without = [_on(model, one) for one in others]
        model, names = _on(model, family), family.names
    if model.critic is not None:
        model, without = _critic(mdre, model, drawn, passes)
        names = (*names, "critic")
    return model, without, names


def _anchors(
    family: Family, model: ClassModel, drawn: Drawn, passes: Passes
) -> tuple[Family, list[Family]]:
    """Anchors fitted to all rows, and to all but those of each group."""
    where = model.offsets.where
    sums: list[Any] = []
    before = family
    for _ in range(REWEIGHTED if family.heavy else 1):
        before, tasks = family, family.tasks(where, drawn.pieces, list(drawn.samples))
        sums = passes("moments", tasks)
        family = before.after(sums)
    return family, [before.after(sums, group) for group in range(GROUPS)]


def _critic(
    mdre: MDRE, model: ClassModel, drawn: Drawn, passes: Passes
) -> tuple[ClassModel, list[ClassModel]]:
    """The critic fitted to all rows, and without each group of them."""
    rows = mdre.fitted_to_.rows(model.offsets)
    sizes = [source.rows for source in passes.sources]
    seed = int(drawn.seeds("auxiliaries of all rows").integers(2**63))
    sources = [
        drawn_source(one, name, max(sizes), seed + k, drawn.pieces[0].columns)
        for k, (name, one) in enumerate(zip(model.class_names[2:], model.auxiliaries, strict=True))
    ]
    labels = [Pieces(source.label, source.n_columns) for source in sources]
    pieces = [*drawn.pieces, *labels]
    # Weights of rows are those of the sample on average; class c gets the share pi_c of them all.
    means = [*(sample.weight.mean() for sample in drawn.samples), *(1.0 for _ in sources)]
    masses = np.array([*sizes, *(source.rows for source in sources)]) * means
    scales = np.exp(model.log_prior) * masses.sum() / masses
    curvature = Curvature.of(rows, model, mdre.l2_, float(masses.sum()))
    without = [model] * GROUPS
    for _ in range(STEPS):
        tasks = [
            Slope(own, model, label, float(scale))
            for label, (own, scale) in enumerate(zip(pieces, scales, strict=True))
        ]
        slopes = passes("critic", tasks, *sources)
        model, without = step(model, slopes, mdre.l2_, curvature)
    return model, without


def _stack(
    stack: StackedMDRE, crossfit: CrossFit, drawn: Drawn, passes: Passes
) -> tuple[Any, CrossFit, AllRows]:
    """A stack whose densities and coefficients are fitted to all rows.

    Densities of all rows may know what other candidates learned from the sample. Where further
    rows ask for nothing besides them, they are the answer.
    """
    again = copy(stack)
    names: tuple[str, ...] = ()
    densities = stack.densities_ or _normals(drawn)
    without: list[ClassModel] = []
    if densities is not None and isinstance(densities.model_, ClassModel):
        family = Family.of(densities.model_.offsets.anchors[:2])
        if family is not None and densities.model_.critic is None:
            family, others = _anchors(family, densities.model_, drawn, passes)
            without = [_on(densities.model_, one) for one in others]
            again.densities_ = _with_model(densities, _on(densities.model_, family))
            names = family.names
    light = quickened(without_rows(again))
    at = np.array([again.first_, *(a for a, _ in again.members_), again.constant_])
    if without and drawn.more is not None and drawn.more.least >= LEAST_ROWS:
        every = np.arange(len(at) - 1)
        heard = [said(light, every, sample.rows) for sample in drawn.more]
        verdict = judged(heard, [sample.weight for sample in drawn.more], at)
        if verdict.alone:
            all_rows = _by_groups(without, names, drawn, passes)
            single: Any = copy(again.densities_)
            single.selection_ = _told(stack, np.r_[1.0, np.zeros(len(at) - 2)])
            return single, _crossed(crossfit, drawn, all_rows), all_rows
        at = verdict.coefficients
    counts = np.r_[at[:-1] > 0, True]
    names = (*names, "coefficients")
    if counts[:-1].any():
        says = partial(said, light, np.flatnonzero(counts[:-1]))
        tasks = [
            Weighing(pieces, says, at[counts], sign, numbers)
            for pieces, sign, numbers in zip(drawn.pieces, (1.0, -1.0), drawn.numbers, strict=True)
        ]
        curves = passes("coefficients", tasks)
        # Where most rows are those of the sample, its coefficients know more than the others'.
        if all(c.weight > s.weight.sum() for c, s in zip(curves, drawn.samples, strict=True)):
            at[counts] = weighed(at[counts], curves, sum(one.rows for one in passes.sources))
    for one in (again, light):
        one.first_, one.constant_ = float(at[0]), float(at[-1])
        one.members_ = tuple(
            (float(a), fit) for a, (_, fit) in zip(at[1:-1], one.members_, strict=True) if a > 0
        )
    again.selection_ = _told(stack, at[:-1])
    binned = _unseen(light.evaluate, crossfit, drawn, passes)
    return again, crossfit, AllRows(binned, passes.count, names)


def _normals(drawn: Drawn) -> MDRE | None:
    """Two normals, which all rows may fit better than the sample does what a stack is made of."""
    if drawn.more is None or drawn.samples.n_columns > _MOST_COLUMNS:
        return None
    mdre = MDRE(maps=None, anchor="gaussian", critic="quadratic", l2=np.inf, random_state=0)
    with quiet():
        return mdre.fit_samples(drawn.samples)


def _crossed(crossfit: CrossFit, drawn: Drawn, all_rows: AllRows) -> CrossFit:
    """What fits to all rows say of the sample's, each without its group; the stack is a rival."""
    found = []
    for side, numbers in enumerate(drawn.numbers):
        group = groups_of(numbers, GROUPS)
        every = np.stack([pair[side] for pair in all_rows.without])
        found.append(every[group, np.arange(len(numbers))])
    rival = crossfit.log_ratio_p, crossfit.log_ratio_q
    return replace(
        crossfit, log_ratio_p=found[0], log_ratio_q=found[1], smaller=None, rivals=(rival,)
    )


def _told(stack: StackedMDRE, coefficients: Array) -> Selection:
    """The record with other coefficients of the densities and of the candidates that count."""
    selection = stack.selection_
    if stack.densities_ is None and coefficients[0] > 0:
        selection = replace(selection, trials=[], rule=_NORMALS)
    left = iter(coefficients)
    members = [
        replace(one, coefficient=float(next(left))) if k == 0 or one.coefficient > 0 else one
        for k, one in enumerate(selection.members)
    ]
    return replace(selection, members=members)


def said(stack: StackedMDRE, which: IntArray, rows: Array) -> Array:
    """What some candidates of a stack say of rows, the densities first, shape (n, k)."""
    base = nothing = np.zeros(len(rows))
    if stack.densities_ is not None:
        base = limited(stack.densities_.log_ratio_at(rows))
    before = base if stack.before_ else nothing
    return np.column_stack(
        [base if k == 0 else stack.members_[k - 1][1].log_ratio(rows, before) for k in which]
    )


def _unseen(log_ratio: LogRatio, crossfit: CrossFit, drawn: Drawn, passes: Passes) -> JudgedRatios:
    """Log-ratios of all rows: of those outside the sample by a fit to it, of its own by folds."""
    ratios = crossfit.log_ratio_p, crossfit.log_ratio_q
    of_sample = [
        Binned.of(ratio, sample.weight if sample.weighted else None)
        for ratio, sample in zip(ratios, drawn.samples, strict=True)
    ]
    scored = _scored(passes, drawn, [log_ratio], ratios, drawn.numbers)
    p, q = (
        own if one is None else own + one.binned for own, one in zip(of_sample, scored, strict=True)
    )
    # Where one sample has no row outside, nothing says more than the checks of the sample do.
    whole = any(one is None for one in scored)
    off = 0.0 if whole else misfit(*(one.counts for one in scored))
    return JudgedRatios(p, q, off, BinnedRatios(*of_sample))


def _scored(
    passes: Passes,
    drawn: Drawn,
    log_ratios: Sequence[LogRatio],
    of_sample: tuple[Array, Array],
    seen: tuple[IntArray | None, IntArray | None] = (None, None),
) -> list[Any]:
    """The last pass: log-ratios of p and of q in bins; None where all rows of one are seen."""
    p, q = (source.rows for source in passes.sources)
    counting = Counting.both(drawn.samples, of_sample, (p, q))
    tasks = [
        Scoring(own, log_ratios, at, count)
        for own, at, count in zip(drawn.pieces, seen, counting, strict=True)
    ]
    return passes("divergences", tasks)


def _pair(samples: TwoSamples, log_ratio: LogRatio) -> tuple[Array, Array]:
    p, q = (log_ratio(sample.rows) for sample in samples)
    return p, q


def _on(model: ClassModel, family: Family) -> ClassModel:
    """The model on other anchors of p and of q."""
    offsets = model.offsets
    return replace(model, offsets=replace(offsets, anchors=(*family.anchors, *offsets.anchors[2:])))


def _with_model(mdre: MDRE, model: ClassModel) -> MDRE:
    again = copy(mdre)
    again.model_ = model
    return again


def without_rows(estimator: Any) -> Any:
    """A fitted estimator of ours without the rows of its fit, which need not travel."""
    light = copy(estimator)
    for name in ("fitted_to_", "crossfit_", "selection_"):
        light.__dict__.pop(name, None)
    if getattr(light, "densities_", None) is not None:
        light.densities_ = without_rows(light.densities_)
    return light
