"""A comparison of all rows, from that of a sample: the last passes over them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..candidates.base import limited
from ..crossfit import CrossFit, own
from ..data.telling import quiet
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..selection.record import Selection
from ..stacked import StackedMDRE
from ..typing import Array, IntArray
from ..uncertainty.all_rows import AllRows
from .anchors import Family
from .coefficients import LEAST_ROWS, Curve, Weighing, judged, one_in, weighed
from .fitting import Drawn, fit_anchors, fit_model, on_anchors, with_model
from .judged import Counting, JudgedRatios
from .passes import Passes
from .pieces import GROUPS, groups_of
from .quick import quick as quickened
from .ratios import by_groups, together, unseen
from .scoring import StackScoring

_MOST_COLUMNS = 200
_NORMALS = "normal for p, normal for q"

_FAR = 0.03
"""Nats that the last step may move log-ratios by, in the mean: its square is what is neglected."""


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
            all_rows = by_groups(without, names, drawn, passes)
            return with_model(estimator, model), crossfit, all_rows
    light = quickened(without_rows(own(estimator)))
    binned = unseen(light.log_ratio_at, crossfit, drawn, passes)
    return estimator, crossfit, AllRows(binned, passes.count)


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
            family, others = fit_anchors(family, densities.model_, drawn, passes)
            without = [on_anchors(densities.model_, one) for one in others]
            again.densities_ = with_model(densities, on_anchors(densities.model_, family))
            names = family.names
    light = quickened(without_rows(again))
    at = np.array([again.first_, *(a for a, _ in again.members_), again.constant_])
    if without and drawn.more is not None and drawn.more.least >= LEAST_ROWS:
        every = np.arange(len(at) - 1)
        heard = [said(light, every, sample.rows) for sample in drawn.more]
        verdict = judged(heard, [sample.weight for sample in drawn.more], at)
        if verdict.alone:
            all_rows = by_groups(without, names, drawn, passes)
            single: Any = copy(again.densities_)
            single.selection_ = _told(stack, np.r_[1.0, np.zeros(len(at) - 2)])
            return single, _crossed(crossfit, drawn, all_rows), all_rows
        at = verdict.coefficients
    names = (*names, "coefficients")
    if (at[:-1] > 0).any():
        at = _asked(light, at, drawn, passes)
    binned = None
    if (at[:-1] > 0).any():
        at, binned = _moved(light, at, crossfit, drawn, passes)
    for one in (again, light):
        one.first_, one.constant_ = float(at[0]), float(at[-1])
        one.members_ = tuple(
            (float(a), fit) for a, (_, fit) in zip(at[1:-1], one.members_, strict=True) if a > 0
        )
    again.selection_ = _told(stack, at[:-1])
    if binned is None:
        binned = unseen(light.evaluate, crossfit, drawn, passes)
    return again, crossfit, AllRows(binned, passes.count, names)


def _asked(light: StackedMDRE, at: Array, drawn: Drawn, passes: Passes) -> Array:
    """Coefficients after a step over rows outside the sample, some where there are very many."""
    counts = np.append(at[:-1] > 0, True)
    says = partial(said, light, np.flatnonzero(counts[:-1]))
    tasks = [
        Weighing(pieces, says, at[counts], sign, numbers, one_in(source.rows))
        for pieces, sign, numbers, source in zip(
            drawn.pieces, (1.0, -1.0), drawn.numbers, passes.sources, strict=True
        )
    ]
    curves = passes("coefficients", tasks)
    found = at.copy()
    if _know_more(curves, drawn):
        found[counts] = weighed(at[counts], curves, sum(one.rows for one in passes.sources))
    return found


def _moved(
    light: StackedMDRE, at: Array, crossfit: CrossFit, drawn: Drawn, passes: Passes
) -> tuple[Array, JudgedRatios | None]:
    """Log-ratios of all rows by coefficients of all rows, and these; one pass has both.

    None where coefficients move too far for that.
    """
    counts = np.append(at[:-1] > 0, True)
    says = partial(said, light, np.flatnonzero(counts[:-1]))
    ratios = crossfit.log_ratio_p, crossfit.log_ratio_q
    sizes = passes.sources[0].rows, passes.sources[1].rows
    counting = Counting.both(drawn.samples, ratios, sizes)
    tasks = [
        StackScoring(pieces, says, at[counts], sign, numbers, own)
        for pieces, sign, numbers, own in zip(
            drawn.pieces, (1.0, -1.0), drawn.numbers, counting, strict=True
        )
    ]
    scored = passes("divergences", tasks)
    found = at.copy()
    curves = [one.curve for one in scored if one is not None]
    if len(curves) == len(scored) and _know_more(curves, drawn):
        found[counts] = weighed(at[counts], curves, sum(sizes))
    by = (found - at)[counts]
    if any(one is not None and one.binned.distance(by) > _FAR for one in scored):
        return found, None
    binned = [None if one is None else replace(one, binned=one.binned.moved(by)) for one in scored]
    return found, together(crossfit, drawn, binned)


def _know_more(curves: Sequence[Curve], drawn: Drawn) -> bool:
    """Whether rows outside the sample weigh more than it; otherwise its coefficients stay."""
    return all(c.weight > s.weight.sum() for c, s in zip(curves, drawn.samples, strict=True))


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


def without_rows(estimator: Any) -> Any:
    """A fitted estimator of ours without the rows of its fit, which need not travel."""
    light = copy(estimator)
    for name in ("fitted_to_", "crossfit_", "selection_"):
        light.__dict__.pop(name, None)
    if getattr(light, "densities_", None) is not None:
        light.densities_ = without_rows(light.densities_)
    return light
