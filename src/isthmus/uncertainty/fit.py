"""A fitted model with its rows: what every posterior is made of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.telling import tell
from ..mdre import MDRE
from ..model.classes import ClassModel
from ..model.objective import Objective, Point
from ..model.rows import ClassRows
from ..typing import Array
from .influence import Influence


@dataclass(frozen=True)
class Fit:
    """A fitted MDRE, its model, the rows of every class, and the objective over these.

    The parameters ``theta`` are zero where the penalty is infinite.
    """

    mdre: MDRE
    model: ClassModel
    rows: ClassRows
    objective: Objective
    theta: Array

    @property
    def learns(self) -> bool:
        """Whether the penalty is finite, so that critics leave their anchors."""
        return self.model.critic is not None

    @property
    def kinds_of_anchors(self) -> str:
        """Their names, for messages."""
        return ", ".join(sorted({type(anchor).__name__ for anchor in self.model.offsets.anchors}))

    @cached_property
    def point(self) -> Point:
        """The objective at the parameters of the fit."""
        return self.objective.at(self.theta)

    @cached_property
    def influence(self) -> Influence:
        """What every row did to the fit."""
        return Influence(self.point, self.model.anchored)

    def warn_of_weights(self, way: str) -> None:
        """Warn where rows of p and q count more than once in the likelihood."""
        given = np.array([sample.weight.sum() for sample in self.rows.samples])
        factor = float((self.objective.blocks.mass[:2] / given).max())
        if factor > 1.05:
            tell(
                f"Rows of p or q weigh {factor:.2g} each in the objective, as another class has "
                f"more rows: the posterior is too narrow by up to {np.sqrt(factor):.2g}. Fit MDRE "
                f"with prior='counts', in which every row weighs one, or use {way}.",
                stacklevel=3,
            )

    def warn_of_anchors(self) -> None:
        """Warn where anchors were fitted in a way whose error has no formula."""
        if not self.model.has_influence:
            tell(
                f"The error of the anchors ({self.kinds_of_anchors}) is not counted: use "
                "isthmus.uncertainty.bootstrap, which fits them again.",
                stacklevel=3,
            )


def fit_of(mdre: Any, infinite: bool = False, rows: ClassRows | None = None) -> Fit:
    """The fit of an MDRE with its rows, or an error that says what is missing.

    An infinite penalty must be allowed for. The rows of every class are made again unless given.
    """
    if not isinstance(mdre, MDRE):
        raise ValueError(
            f"mdre must be an MDRE, whose objective is needed; received a {type(mdre).__name__}. "
            "compare(p, q, critic='quadratic') fits one."
        )
    check_is_fitted(mdre)
    model = mdre.model_
    if not isinstance(model, ClassModel) or model.network is not None:
        raise ValueError(
            "critic must be one of isthmus.critics, and convex, for a posterior of its parameters; "
            "received a classifier or a network."
        )
    if model.critic is None and not infinite:
        raise ValueError(
            "l2 must be finite for a posterior; received a fit with an infinite one, whose critics "
            "stay at their anchors. Set l2, or use covariance='sandwich' of laplace, "
            "which counts the error of the anchors."
        )
    if rows is None:
        rows = mdre.fitted_to_.rows(model.offsets)
    objective = mdre.objective_over(rows)
    theta = np.zeros(objective.n_parameters) if model.critic is None else model.theta
    return Fit(mdre, model, rows, objective, theta)
