"""Whether the fit did what it could: convergence, support and flexibility."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.holdout import paired_gain
from ..data.threads import limited_threads
from ..model.solvers import Solution
from ..typing import Array
from .check import Check, advised
from .evidence import Evidence, spaced

_TREE_ROWS = 10_000


def check_convergence(solutions: Sequence[Solution]) -> Check:
    """Whether every fit reached its tolerance.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.diagnostics import check_convergence
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 500), rng.normal(1, 1, 500))
    >>> mdre = isthmus.MDRE(
    ...     critic="quadratic", maps=None, anchor="gaussian", l2=1.0, random_state=0
    ... )
    >>> check_convergence([mdre.fit(X, y).solution_]).verdict
    'ok'
    """
    worst = max(solutions, key=lambda solution: (not solution.converged, solution.gradient_norm))
    late = sum(not solution.converged for solution in solutions)
    return advised(
        worst.gradient_norm,
        "ok" if worst.converged else "fail",
        ok=f"All {len(solutions)} fits reached their tolerance.",
        fail=f"{late} of {len(solutions)} fits did not converge: {worst.status}.",
    )


def convergence(e: Evidence) -> Check | None:
    """Of the fit to all rows and of those of the folds."""
    every = (e.facts.solution, *e.comparison.crossfit.solutions)
    solutions = [solution for solution in every if solution is not None]
    return check_convergence(solutions) if e.comparison.crossfit.solutions else None


def check_rising(rising: bool) -> Check:
    """Whether the held-out likelihood had stopped rising when flexibility ended.

    Examples
    --------
    >>> from isthmus.diagnostics import check_rising
    >>> check_rising(False).verdict, check_rising(True).verdict
    ('ok', 'warn')
    """
    return advised(
        float(rising),
        "warn" if rising else "ok",
        ok="More flexible critics do not predict held-out rows better.",
        warn="The held-out likelihood was still rising at the weakest penalty: the critic is too "
        "simple for these samples. Try critic=HistGradientBoostingClassifier().",
    )


def rising(e: Evidence) -> Check | None:
    """Where something was tried."""
    return check_rising(e.facts.selection.rising) if e.facts.selection.trials else None


def check_support(p: Array, q: Array) -> Check:
    """Whether each sample varies wherever the other does.

    Parameters
    ----------
    p, q : ndarray of shape (n, r)
        Rows in coordinates in which the pooled sample is white.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.diagnostics import check_support
    >>> rng = np.random.default_rng(0)
    >>> check_support(rng.normal(size=(99, 2)), rng.normal(size=(99, 2))).verdict
    'ok'
    """
    narrowest = [np.linalg.eigvalsh(np.atleast_2d(np.cov(rows.T)))[0] for rows in (p, q)]
    spread = np.sqrt(np.maximum(narrowest, 0.0))
    return advised(
        float(spread.min()),
        "ok" if spread.min() > 1e-8 else "fail",
        ok="Both samples vary in every direction.",
        fail=f"{'p' if spread[0] <= spread[1] else 'q'} does not vary in a direction in which the "
        "pooled sample does, such as a category that one sample lacks: the true ratio is zero or "
        "infinite there, and the divergences are not to be believed. Leave that column out.",
    )


def support(e: Evidence) -> Check | None:
    """Where there are such coordinates."""
    return None if e.white is None else check_support(*e.white)


def check_flexibility(p: Array, q: Array, log_ratio_p: Array, log_ratio_q: Array) -> Check:
    """Whether boosted trees or a straight line tell p from q better than the log-ratio does.

    Trees see what a smooth critic is blind to, such as several modes; a logistic
    regression sees more than they do where there are few rows for the columns. If, on
    rows that neither has seen, one of them classifies with a lower cross-entropy, the
    critic misses part of the difference.

    Parameters
    ----------
    p, q : ndarray of shape (n, r)
        Rows of the two samples.
    log_ratio_p, log_ratio_q : ndarray of shape (n,)
        Cross-fitted log-ratios at these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.diagnostics import check_flexibility
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (500, 1)), rng.normal(2, 1, (500, 1))
    >>> check_flexibility(p, q, 2 - 2 * p[:, 0], 2 - 2 * q[:, 0]).verdict  # the true log-ratio
    'ok'
    >>> check_flexibility(p, q, np.zeros(500), np.zeros(500)).verdict
    'fail'
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    take_p, take_q = spaced(len(p), _TREE_ROWS // 2), spaced(len(q), _TREE_ROWS // 2)
    X = np.concatenate([p[take_p], q[take_q]])
    y = np.repeat([1, 0], [len(take_p), len(take_q)])
    trees = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
    # With few rows for the columns trees see little, and a straight line may see more.
    line = make_pipeline(StandardScaler(), LogisticRegression(C=1.0 / X.shape[1]))
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    ours = -np.logaddexp(0.0, -np.concatenate([log_ratio_p[take_p], -log_ratio_q[take_q]]))
    share = np.where(y == 1, 0.5 / len(take_p), 0.5 / len(take_q))
    found = []
    # On so few rows the threads of the trees cost more than they bring.
    with limited_threads():
        for name, model in (
            ("Boosted trees classify", trees),
            ("A straight line classifies", line),
        ):
            probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
            # The samples may differ in size; as if they did not, like the log-ratio. (Weights for
            # that would make the trees many times slower.)
            odds = np.log(np.maximum(probability, 1e-12)) @ np.array([-1.0, 1.0])
            odds -= np.log(len(take_p) / len(take_q))
            theirs = -np.logaddexp(0.0, np.where(y == 1, -odds, odds))
            found.append((*paired_gain([theirs], [ours], [share]), name))
    value, error, name = max(found, key=lambda one: one[0] - 3.0 * one[1])
    seen = value > max(3.0 * error, 0.01)
    return advised(
        value,
        "ok" if not seen else "fail" if value > 0.05 else "warn",
        ok="Neither boosted trees nor a straight line tell p from q better than the log-ratio "
        "does.",
        warn=f"{name} p and q better, by {value:.2g} nats a row on held-out rows: "
        "the critic misses part of the difference, and the divergences are probably too low.",
        details={"std_error": error},
    )


def flexibility(e: Evidence) -> Check | None:
    """Where the fit has coordinates of its own, and rows count once."""
    return (
        None if e.inside is None or e.weighted else check_flexibility(*e.inside, e.p.rows, e.q.rows)
    )
