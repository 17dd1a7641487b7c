"""What values a score can take, by its name."""

from __future__ import annotations

import math

_SHARES = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "f1",
    "jaccard",
    "precision",
    "recall",
    "roc_auc",
    "top_k_accuracy",
)
_AT_MOST_ONE = ("r2", "explained_variance", "d2_")


def score_range(scoring: object) -> tuple[float, float]:
    """Least and largest value of one of scikit-learn's scores; of any other nothing is known.

    Examples
    --------
    >>> score_range("accuracy"), score_range("r2"), score_range("neg_log_loss")
    ((0.0, 1.0), (-inf, 1.0), (-inf, 0.0))
    """
    name = scoring if isinstance(scoring, str) else ""
    if name.startswith("neg_"):
        return -math.inf, 0.0
    if name.startswith(_SHARES):
        return 0.0, 1.0
    if name.startswith(_AT_MOST_ONE):
        return -math.inf, 1.0
    return (-1.0, 1.0) if name == "matthews_corrcoef" else (-math.inf, math.inf)
