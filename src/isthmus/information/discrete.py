"""Mutual information where one of the two, or both, has a few values only."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..typing import Array
from .judge import Folds
from .sides import Side

# Fewer rows than this for each cell of a table: the correction of its bias is a guess.
_FULL = 5.0
_MARGIN = 3.0


def table_information(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    r"""Mutual information of two labels, from the table of counts.

    .. math:: \hat I = \sum_{ij} \hat p_{ij}\log\frac{\hat p_{ij}}{\hat p_i\,\hat p_j}
        - \frac{K_{xy} - K_x - K_y + 1}{2n},

    with the numbers K of cells and levels that occur (Miller 1955, Madow).

    Parameters
    ----------
    x, y : ndarray of int of shape (n,)
        Labels 0, 1, ...

    Returns
    -------
    value, std_error : float

    Examples
    --------
    >>> import numpy as np
    >>> x = np.repeat([0, 1], 500)
    >>> round(table_information(x, x)[0], 2)  # log 2
    0.69
    """
    n = len(x)
    k_x, k_y = int(x.max()) + 1, int(y.max()) + 1
    code = np.asarray(x, dtype=np.int64) * k_y + np.asarray(y, dtype=np.int64)
    cells, place = np.unique(code, return_inverse=True)
    count = np.bincount(place.reshape(-1))
    p_x, p_y = np.bincount(x, minlength=k_x) / n, np.bincount(y, minlength=k_y) / n
    terms = np.log(count / n) - np.log(p_x[cells // k_y]) - np.log(p_y[cells % k_y])
    rows = terms[place.reshape(-1)]
    extra = len(cells) - np.count_nonzero(p_x) - np.count_nonzero(p_y) + 1
    if n < _FULL * len(cells):
        warnings.warn(
            f"n is small: {n} rows for {len(cells)} different pairs of labels. At least "
            f"{_FULL:g} rows a pair are needed for an estimate that can be relied on.",
            stacklevel=2,
        )
    levels = int(np.count_nonzero(p_x)), int(np.count_nonzero(p_y))
    freedom = max((levels[0] - 1) * (levels[1] - 1), 1)
    # The second term is the chi-square noise that remains where the labels are independent.
    error = np.sqrt(rows.var() / n + freedom / (2.0 * n * n))
    return float(rows.mean() - extra / (2.0 * n)), float(error)


def label_information(
    rows: Array, label: np.ndarray, seeds: Seeds, n_folds: int
) -> tuple[float, float, Array, list[dict[str, Any]]]:
    r"""Mutual information of numbers and a label, by cross-fitted classifiers.

    .. math:: I = E\left[\log\frac{p(l \mid x)}{p(l)}\right]

    The probabilities come from multinomial logistic regression on normal scores and their
    products, or from boosted trees if held-out rows prefer them clearly.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    label : ndarray of int of shape (n,)
    seeds : Seeds
    n_folds : int

    Returns
    -------
    value, std_error : float
    terms : ndarray of shape (n,)
        Log-ratio of every row, from a fit without it.
    trials : list of dict
    """
    n = len(rows)
    side = Side.of(rows)
    n_labels = int(label.max()) + 1
    share = np.bincount(label, minlength=n_labels) / n
    if n_labels < 2 or side.width == 0:
        return 0.0, 0.0, np.zeros(n), [{"name": "independent", "score": 0.0}]
    folds = Folds.split(n, n_folds, seeds("folds"))
    features = _quadratic(side.scores)
    best = np.zeros(n)
    inside = 0.0
    trials: list[dict[str, Any]] = [{"name": "independent", "score": 0.0}]
    for name, inputs, model in _classifiers(features, side.raw, n, seeds):
        terms, within = np.empty(n), []
        for fold, part in enumerate(folds.parts):
            fitted = folds.others(fold)
            model.fit(inputs[fitted], label[fitted])
            terms[part] = _terms(model, inputs[part], label[part], share)
            within.append(float(_terms(model, inputs[fitted], label[fitted], share).mean()))
        gain = terms - best
        trials.append({"name": name, "score": float(terms.mean())})
        if gain.mean() > _MARGIN * gain.std() / np.sqrt(n):
            # On fitted rows a regression is too good by as much as it is too bad on
            # others; trees are too good by far more.
            best = terms
            inside = float(np.mean(within)) if name == "logistic" else float(terms.mean())
    outside = float(best.mean())
    if not best.any():
        # Chi-square noise of a regression without an effect.
        return 0.0, float(np.sqrt(features.shape[1] * (n_labels - 1) / 2.0)) / n, best, trials
    error = np.hypot(best.std() / np.sqrt(n), 0.5 * (inside - outside))
    return 0.5 * (inside + outside), float(error), best, trials


def _classifiers(quadratic: Array, raw: Array, n: int, seeds: Seeds) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    yield "logistic", quadratic, LogisticRegression(C=100.0, max_iter=2000)
    if n >= 500:
        seed = int(seeds("trees").integers(2**31))
        yield "trees", raw, HistGradientBoostingClassifier(
            learning_rate=0.1, max_leaf_nodes=15, early_stopping=True, random_state=seed
        )  # fmt: skip


def _terms(model: Any, inputs: Array, label: np.ndarray, share: Array) -> Array:
    """Log p(l | x) / p(l), a label that the fit has not seen counting as one row."""
    probability = np.full((len(inputs), len(share)), 0.0)
    probability[:, model.classes_] = model.predict_proba(inputs)
    floor = 1e-4 * share
    probability = (probability + floor) / (1.0 + 1e-4)
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
