"""From a fit to a sample to one to all rows: what is convex or closed-form is fitted again.

Everything else stays as the sample made it.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..typing import IntArray
from .anchors import REWEIGHTED, Family
from .critic import STEPS, Curvature, Slope, drawn_source, step
from .passes import Passes
from .pieces import GROUPS, Pieces


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
        family, others = fit_anchors(family, model, drawn, passes)
        without = [on_anchors(model, one) for one in others]
        model, names = on_anchors(model, family), family.names
    if model.critic is not None:
        model, without = _critic(mdre, model, drawn, passes)
        names = (*names, "critic")
    return model, without, names


def fit_anchors(
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
    for left in reversed(range(STEPS)):
        tasks = [
            Slope(own, model, label, float(scale), 1 if left else GROUPS)
            for label, (own, scale) in enumerate(zip(pieces, scales, strict=True))
        ]
        slopes = passes("critic", tasks, *sources)
        model, without = step(model, slopes, mdre.l2_, curvature)
    return model, without


def on_anchors(model: ClassModel, family: Family) -> ClassModel:
    """The model on other anchors of p and of q."""
    offsets = model.offsets
    return replace(model, offsets=replace(offsets, anchors=(*family.anchors, *offsets.anchors[2:])))


def with_model(mdre: MDRE, model: ClassModel) -> MDRE:
    again = copy(mdre)
    again.model_ = model
    return again
