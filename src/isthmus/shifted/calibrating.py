"""What a conformal predictor is made of: checked parameters, rows to fit to and to calibrate."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.frozen import FrozenEstimator

from ..data.seeds import Seeds
from ..typing import Array, IntArray
from .conformity import KINDS, SETS, Interval, LabelSet, predicted
from .doors import Labelled
from .held_out import held_out_predictions
from .inner import fit_clone
from .spread import fit_spread


def kind_of(estimator: Any, conformity: str) -> str:
    """The name of the conformity scores of an estimator; refuses what does not go together."""
    if is_classifier(estimator):
        what = "classifier"
    elif is_regressor(estimator):
        what = "regressor"
    else:
        raise ValueError(
            "estimator must be a regressor or a classifier; received a "
            f"{type(estimator).__name__}, which is neither."
        )
    if what == "classifier" and not hasattr(estimator, "predict_proba"):
        raise ValueError(
            "estimator must have predict_proba where it is a classifier; received a "
            f"{type(estimator).__name__}, which has none. "
            "sklearn.calibration.CalibratedClassifierCV adds it."
        )
    kind = KINDS[what][0] if conformity == "auto" else conformity
    if kind not in KINDS[what]:
        raise ValueError(
            f"conformity must be one of {', '.join(map(repr, KINDS[what]))} for a {what}; "
            f"received {kind!r}."
        )
    return kind


def split(n: int, share: float, seeds: Seeds) -> tuple[IntArray, IntArray]:
    """Places of rows to fit to, and of a share of rows to calibrate with."""
    if n < 2:
        raise ValueError(f"X must have at least 2 rows to be split; received {n} (n_samples={n}).")
    count = min(max(round(share * n), 1), n - 1)
    order = seeds("split").permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])


def conformity_of(
    kind: str, estimator: Any, fitted: Any, part: Labelled, target: Any
) -> Interval | LabelSet:
    """Conformity scores of an estimator.

    A spread is learned from rows that do not calibrate; predictions of them are those of the
    fitted estimator if it has not seen them, and otherwise of fits without each fold.
    """
    if kind in SETS:
        return LabelSet(SETS[kind])
    if kind == "absolute":
        return Interval()
    middle = (
        held_out_predictions(estimator, part, target)
        if fitted is None
        else predicted(fitted, part.rows)
    )
    distance = np.abs(part.labels - middle)
    # What is frozen learns nothing.
    learner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
    return Interval(
        fit_spread(distance, lambda z: fit_clone(learner, part.rows, z, target, part.weight))
    )


def effective_size(weight: Array) -> float:
    """How many rows of equal weight weighted rows are worth (Kish)."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def least_size(alpha: float) -> float:
    """Rows below which the coverage of one fit scatters by more than half of alpha.

    With n rows it scatters by the square root of alpha (1 - alpha) / n.
    """
    return 4.0 * (1.0 - alpha) / alpha
