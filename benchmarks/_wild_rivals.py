"""Log-ratios that a few lines of scikit-learn give, and their log-loss with equal classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

LogRatio = Callable[[np.ndarray], np.ndarray]
Rival = Callable[[np.ndarray, np.ndarray], LogRatio]


def stacked(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([p, q]), np.repeat([1, 0], [len(p), len(q)])


def from_classifier(model: object, p: np.ndarray, q: np.ndarray) -> LogRatio:
    """The logit of a classifier fitted to all rows alike, less the logarithm of their odds."""
    model.fit(*stacked(p, q))  # type: ignore[attr-defined]
    odds = np.log(len(p) / len(q))
    return lambda x: model.decision_function(x) - odds  # type: ignore[attr-defined]


def trees(p: np.ndarray, q: np.ndarray) -> LogRatio:
    """Boosted trees, with their defaults and without early stopping."""
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
    return from_classifier(model, p, q)


def ridge(p: np.ndarray, q: np.ndarray) -> LogRatio:
    """Logistic regression of standardised columns, its penalty by cross-validation."""
    folds = StratifiedKFold(min(5, len(p), len(q)), shuffle=True, random_state=0)
    model = LogisticRegressionCV(
        Cs=np.logspace(-4, 2, 10), cv=folds, scoring="neg_log_loss", max_iter=2000
    )
    return from_classifier(make_pipeline(StandardScaler(), model), p, q)


def neighbours(p: np.ndarray, q: np.ndarray) -> LogRatio:
    """Shares of p among the k nearest of standardised rows, k by a quarter of them."""
    X, y = stacked(p, q)
    scaler = StandardScaler().fit(X)
    Z, odds = scaler.transform(X), np.log(len(p) / len(q))
    held = np.random.default_rng(0).permutation(len(Z)) < len(Z) // 4

    def logit(Z0: np.ndarray, y0: np.ndarray, Z1: np.ndarray, k: int) -> np.ndarray:
        near = NearestNeighbors(n_neighbors=k).fit(Z0).kneighbors(Z1, return_distance=False)
        share = y.mean()
        # One more neighbour that is of p as often as all rows are, so that no share is 0 or 1.
        found = (y0[near].sum(axis=1) + share) / (k + 1)
        return np.log(found / (1 - found)) - odds

    sizes = [k for k in (3, 6, 12, 25, 50, 100, 200, 400) if k <= (~held).sum()]

    def loss(k: int) -> float:
        h = logit(Z[~held], y[~held], Z[held], k)
        return log_loss(h[y[held] == 1], h[y[held] == 0])

    best = min(sizes, key=loss) if 0 < y[held].sum() < held.sum() else sizes[-1]
    return lambda x: logit(Z, y, scaler.transform(x), best)


def normals(p: np.ndarray, q: np.ndarray) -> LogRatio:
    """Two normals of maximum likelihood; a millionth of the pooled variances is added."""
    least = 1e-6 * np.concatenate([p, q]).var(axis=0) + 1e-9

    def log_density(rows: np.ndarray) -> LogRatio:
        mean = rows.mean(axis=0)
        L = np.linalg.cholesky(np.atleast_2d(np.cov(rows.T, bias=True)) + np.diag(least))
        half = np.log(np.diag(L)).sum()
        return lambda x: -0.5 * (np.linalg.solve(L, (x - mean).T) ** 2).sum(axis=0) - half

    log_p, log_q = log_density(p), log_density(q)
    return lambda x: log_p(x) - log_q(x)


def nothing(p: np.ndarray, q: np.ndarray) -> LogRatio:
    """No difference."""
    return lambda x: np.zeros(len(x))


RIVALS: dict[str, Rival] = {
    "trees": trees,
    "ridge": ridge,
    "neighbours": neighbours,
    "normals": normals,
    "nothing": nothing,
}


def log_loss(h_p: np.ndarray, h_q: np.ndarray) -> float:
    """Mean log-loss of log-ratios at rows of p and of q, where each class counts a half."""
    return float(0.5 * np.logaddexp(0, -h_p).mean() + 0.5 * np.logaddexp(0, h_q).mean())


def out_of_fold(
    rival: Rival, p: np.ndarray, q: np.ndarray, fold_p: np.ndarray, fold_q: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log-ratios at every row by a fit without the row's fold."""
    h_p, h_q = np.empty(len(p)), np.empty(len(q))
    for fold in np.unique(np.concatenate([fold_p, fold_q])):
        a, b = fold_p == fold, fold_q == fold
        h = rival(p[~a], q[~b])
        if a.any():
            h_p[a] = h(p[a])
        if b.any():
            h_q[b] = h(q[b])
    return h_p, h_q
