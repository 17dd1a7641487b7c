"""Mutual information where one of the two, or both, has a few values only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..data.holdout import PROVEN, random_folds
from ..data.seeds import Seeds
from ..data.telling import tell
from ..typing import Array, IntArray
from .evaluation import row_gain
from .marginal import Marginal
from .result import Answer
from .values import Values

# Fewer rows than this for each cell of a table: the correction of its bias is a guess.
_FULL = 5.0


def pair_information(
    x: Values,
    y: Values,
    seeds: Seeds,
    n_folds: int,
    numbers: Callable[[Marginal, Marginal], Answer],
) -> Answer:
    """Mutual information of x and y, each numbers or labels, given how it is done for numbers."""
    if x.discrete and y.discrete:
        return table_information(x.array, y.array)
    if x.discrete or y.discrete:
        rows, label = (y, x) if x.discrete else (x, y)
        return label_information(rows.array, label.array, seeds, n_folds)
    left, right = (Marginal.of(side.array, seeds(f"ties {k}")) for k, side in enumerate((x, y)))
    if not left.width or not right.width:
        return Answer(0.0, 0.0, "constant", np.zeros(len(x)))
    return numbers(left, right)


def table_information(x: IntArray, y: IntArray) -> Answer:
    r"""Mutual information of two labels, from the table of counts.

    .. math:: \hat I = \sum_{ij} \hat p_{ij}\log\frac{\hat p_{ij}}{\hat p_i\,\hat p_j}
        - \frac{K_{xy} - K_x - K_y + 1}{2n},

    with the numbers K of cells and levels (Miller 1955, Madow). Labels are 0, 1, ..., and
    each occurs.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat([0, 1], 500)
    >>> round(table_information(x, x).value, 2)  # log 2
    0.69
    """
    n, k_x, k_y = len(x), int(x.max()) + 1, int(y.max()) + 1
    cells, place, count = np.unique(x * k_y + y, return_inverse=True, return_counts=True)
    terms = np.log(count / n)[place] - np.log(np.bincount(x) / n)[x] - np.log(np.bincount(y) / n)[y]
    if n < _FULL * len(cells):
        tell(
            f"n is small: {n} rows for {len(cells)} different pairs of labels. At least "
            f"{_FULL:g} rows a pair are needed for an estimate that can be relied on.",
            stacklevel=2,
        )
    extra = len(cells) - k_x - k_y + 1
    freedom = max((k_x - 1) * (k_y - 1), 1)
    # The second term is the chi-square noise that remains where the labels are independent.
    error = np.sqrt(terms.var() / n + freedom / (2.0 * n * n))
    return Answer(float(terms.mean() - extra / (2.0 * n)), float(error), "table")


def label_information(rows: Array, label: IntArray, seeds: Seeds, n_folds: int) -> Answer:
    r"""Mutual information of numbers and a label, by cross-fitted classifiers.

    .. math:: I = E\left[\log\frac{p(l \mid x)}{p(l)}\right]

    The probabilities come from multinomial logistic regression on normal scores and their
    products, or from boosted trees if held-out rows prefer them clearly.
    """
    n, side = len(rows), Marginal.of(rows, seeds("ties"))
    share = np.bincount(label) / n
    best, inside = np.zeros(n), 0.0
    trials: list[dict[str, Any]] = [{"name": "independent", "score": 0.0}]
    if len(share) < 2 or side.width == 0:
        return Answer(0.0, 0.0, "classifier", best, trials=tuple(trials))
    splits = random_folds(n, n_folds, seeds("folds"))
    features = _quadratic(side.scores)
    for name, inputs, model in _classifiers(features, side.raw, n, seeds):
        terms, within = np.empty(n), []
        for split in splits:
            model.fit(inputs[split.train], label[split.train])
            terms[split.held] = _terms(model, inputs[split.held], label[split.held], share)
            within.append(_terms(model, inputs[split.train], label[split.train], share).mean())
        gain = row_gain(terms, best)
        trials.append({"name": name, "score": float(terms.mean())})
        if gain.mean > PROVEN * gain.std_error:
            # On fitted rows a regression is too good by as much as it is too bad on
            # others; trees are too good by far more.
            best = terms
            inside = float(np.mean(within)) if name == "logistic" else float(terms.mean())
    outside = float(best.mean())
    error = np.hypot(best.std() / np.sqrt(n), 0.5 * (inside - outside))
    if not best.any():
        # Chi-square noise of a regression without an effect.
        error = np.sqrt(features.shape[1] * (len(share) - 1) / 2.0) / n
    value = 0.5 * (inside + outside)
    return Answer(value, float(error), "classifier", best, trials=tuple(trials))


def _classifiers(
    quadratic: Array, raw: Array, n: int, seeds: Seeds
) -> Iterator[tuple[str, Array, Any]]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    yield "logistic", quadratic, LogisticRegression(C=100.0, max_iter=2000)
    if n >= 500:
        seed = int(seeds("trees").integers(2**31))
        trees = HistGradientBoostingClassifier(
            learning_rate=0.1, max_leaf_nodes=15, early_stopping=True, random_state=seed
        )
        yield "trees", raw, trees


def _terms(model: Any, inputs: Array, label: IntArray, share: Array) -> Array:
    """Log p(l | x) / p(l), a label that the fit has not seen counting as one row."""
    probability = np.zeros((len(inputs), len(share)))
    probability[:, model.classes_] = model.predict_proba(inputs)
    probability = (probability + 1e-4 * share) / (1.0 + 1e-4)
    rows = np.arange(len(inputs))
    return np.asarray(np.log(probability[rows, label]) - np.log(share[label]))


def _quadratic(z: Array) -> Array:
    """Scores, and their products as long as these are not too many."""
    d = z.shape[1]
    squares = [z * z]
    if d * (d - 1) // 2 <= len(z) / 50:
        first, second = np.triu_indices(d, 1)
        squares.append(z[:, first] * z[:, second])
    return np.hstack([z, *squares])
