"""The checks behind ``Comparison.diagnostics``, each testable by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..data.sample import Sample
from ..functionals import effective_sample_size
from ..model.solvers import Solution
from ..typing import Array
from .check import Check, Verdict

CHASM = 0.95
MIXED = 0.50
FEW_ROWS = 30.0
COVERED = 0.99
_TREE_ROWS = 10_000
_UNBRIDGED = 0.99


def check_convergence(solutions: Sequence[Solution]) -> Check:
    """Whether every fit reached its tolerance."""
    worst = max(solutions, key=lambda solution: (not solution.converged, solution.gradient_norm))
    if worst.converged:
        return Check(
            worst.gradient_norm, "ok", f"All {len(solutions)} fits reached their tolerance."
        )
    late = sum(not solution.converged for solution in solutions)
    return Check(
        worst.gradient_norm,
        "fail",
        f"{late} of {len(solutions)} fits did not converge: {worst.status}.",
    )


def check_accuracy(accuracy: Mapping[str, float], binary: float) -> Check:
    """Held-out accuracy of every class against the paper's band.

    All classes above 95 %: no auxiliary joins p and q. All below 50 %: the
    auxiliaries cannot be told from them.

    Parameters
    ----------
    accuracy : mapping of class name to accuracy
    binary : float
        Accuracy with which the log-ratio tells p from q.
    """
    least, most = min(accuracy.values()), max(accuracy.values())
    details = dict(accuracy)
    if least > CHASM:
        return Check(
            least,
            "fail",
            "Every class is told apart with more than 95 % accuracy: no auxiliary joins p and q. "
            "Use other auxiliaries, or more of them.",
            details=details,
        )
    if most < MIXED:
        # Where p and q are alike themselves there is nothing that an auxiliary could do.
        alike = binary < 0.75
        return Check(
            most,
            "ok" if alike else "warn",
            "All classes are hard to tell apart, as p and q are themselves."
            if alike
            else "All classes are hard to tell apart although p and q are not: use fewer of them.",
            details=details,
        )
    return Check(
        least,
        "ok",
        f"The classes overlap without being alike (held-out accuracy {least:.0%} to {most:.0%}).",
        details=details,
    )


def accuracy_band(estimator: Any, X: Any, y: Any) -> float:
    """Score for ``GridSearchCV(scoring=accuracy_band)``: the paper's way to choose K.

    Parameters
    ----------
    estimator : MDRE
        Fitted.
    X, y : array-like
        Rows that it has not seen.

    Returns
    -------
    float
        Minus the distance of the mean accuracy over the classes from the middle of
        the band of 50 to 95 %: the classes overlap without being alike.

    Examples
    --------
    >>> import isthmus
    >>> from sklearn.model_selection import GridSearchCV
    >>> from isthmus.auxiliaries import LinearMixing
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(-3, 1, (150, 1)), rng.normal(3, 1, (150, 1)))
    >>> grid = {"auxiliaries": [LinearMixing([0.5]), LinearMixing([0.25, 0.5, 0.75])]}
    >>> search = GridSearchCV(isthmus.MDRE(random_state=0), grid, scoring=accuracy_band, cv=3)
    >>> len(search.fit(X, y).best_estimator_.auxiliaries_)
    3
    """
    accuracy = estimator.class_log_likelihood(X, y)[1]
    return -abs(float(np.mean(accuracy)) - 0.5 * (CHASM + MIXED))


def check_normalisation(log_terms: Array, weight: Array | None, what: str, how: str) -> Check:
    """Whether a density that was estimated up to a ratio has total mass one.

    Parameters
    ----------
    log_terms : ndarray of shape (n,)
        Log of the terms whose mean should be one.
    weight : ndarray of shape (n,), optional
    what : str
        The expectation, such as "E_q[p/q]".
    how : str
        Which rows the mean runs over.
    """
    share = Sample.of(log_terms, weight).share
    log_mean = float(logsumexp(log_terms, b=share))
    value = float(np.exp(min(log_mean, 700.0)))
    terms = np.exp(np.minimum(log_terms, 700.0) - np.clip(log_mean, -700.0, 700.0))
    error = float(np.sqrt((share**2 * (terms - 1.0) ** 2).sum())) * value
    gap = abs(value - 1.0)
    # One row may carry such a mean, and make it much too large, where nothing is wrong.
    known = gap < (0.5 if value < 1.0 else 1.0)
    verdict: Verdict = "ok" if gap <= max(3.0 * error, 0.05) and known else "warn"
    if gap > max(5.0 * error, 0.5) or not np.isfinite(value):
        verdict = "fail"
    told = f"{what} is {value:.3g} ± {error:.2g} over {how} and should be 1"
    advice = {
        "ok": f"{told}, within its error.",
        "warn": f"{told}: the ratio is off somewhere; more rows or other auxiliaries may help.",
        "fail": f"{told}: the critic does not fit these samples; try another critic or anchor.",
    }[verdict]
    return Check(value, verdict, advice, details={"std_error": error})


def check_effective_size(log_ratio_q: Array, weight: Array | None = None) -> Check:
    """Effective number of rows of q after they are weighted to look like p."""
    if weight is not None:
        log_ratio_q = log_ratio_q[weight > 0] + np.log(weight[weight > 0])
    # With no weight anywhere, no row counts.
    weighty = bool((log_ratio_q > -np.inf).any())
    size = float(effective_sample_size(log_ratio_q)) if weighty else 0.0
    share = size / len(log_ratio_q)
    verdict: Verdict = "ok" if size >= 100 and share >= 0.05 else "warn"
    if size < FEW_ROWS:
        verdict = "fail"
    shown = f"{size:,.0f}" if size >= 100 else f"{size:.2f}"
    told = f"Weighted to look like p, {len(log_ratio_q)} rows of q count as {shown}"
    advice = {
        "ok": f"{told}.",
        "warn": f"{told}: weighted averages are noisy.",
        "fail": f"{told}: do not reweight q; the log-ratio and the divergences can still be right.",
    }[verdict]
    return Check(size, verdict, advice, concerns="weights", details={"share": share})


def check_support(p: Array, q: Array) -> Check:
    """Whether each sample varies wherever the other does.

    Parameters
    ----------
    p, q : ndarray of shape (n, r)
        Rows in coordinates in which the pooled sample is white.
    """
    narrowest = [np.linalg.eigvalsh(np.atleast_2d(np.cov(rows.T)))[0] for rows in (p, q)]
    spread = np.sqrt(np.maximum(narrowest, 0.0))
    least = float(spread.min())
    if least > 1e-8:
        return Check(least, "ok", "Both samples vary in every direction.")
    side = "p" if spread[0] <= spread[1] else "q"
    return Check(
        least,
        "fail",
        f"{side} does not vary in a direction in which the pooled sample does, such as a category "
        "that one sample lacks: the true ratio is zero or infinite there, and the divergences are "
        "not to be believed. Leave that column out.",
    )


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
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    # Rows are evenly spaced in number: a sorted file is seen from end to end.
    take_p = np.unique(np.linspace(0, len(p) - 1, _TREE_ROWS // 2).astype(int))
    take_q = np.unique(np.linspace(0, len(q) - 1, _TREE_ROWS // 2).astype(int))
    X = np.concatenate([p[take_p], q[take_q]])
    y = np.repeat([1, 0], [len(take_p), len(take_q)])
    trees = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
    # With few rows for the columns trees see little, and a straight line may see more.
    line = make_pipeline(StandardScaler(), LogisticRegression(C=1.0 / X.shape[1]))
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    ours = np.logaddexp(0.0, -np.concatenate([log_ratio_p[take_p], -log_ratio_q[take_q]]))
    share = np.where(y == 1, 0.5 / len(take_p), 0.5 / len(take_q))
    found = []
    # On so few rows the threads of the trees cost more than they bring.
    with threadpool_limits(1, user_api="openmp"):
        for name, model in (("Boosted trees", trees), ("A straight line", line)):
            probability = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
            # The samples may differ in size; as if they did not, like the log-ratio. (Weights for
            # that would make the trees many times slower.)
            odds = np.log(np.maximum(probability, 1e-12)) @ np.array([-1.0, 1.0])
            odds -= np.log(len(take_p) / len(take_q))
            gain = ours - np.logaddexp(0.0, np.where(y == 1, -odds, odds))
            value = float(share @ gain)
            error = float(np.sqrt((share**2 * (gain - value) ** 2).sum()))
            found.append((value, error, name))
    value, error, name = max(found, key=lambda one: one[0] - 3.0 * one[1])
    verdict: Verdict = "ok"
    if value > max(3.0 * error, 0.01):
        verdict = "fail" if value > 0.05 else "warn"
    verb = "classify" if name == "Boosted trees" else "classifies"
    advice = (
        "Neither boosted trees nor a straight line tell p from q better than the log-ratio does."
        if verdict == "ok"
        else f"{name} {verb} p and q better, by {value:.2g} nats a row on held-out rows: "
        "the critic misses part of the difference, and the divergences are probably too low."
    )
    return Check(value, verdict, advice, details={"std_error": error})


def check_anchors(means: Sequence[float]) -> Check:
    """Whether anchors that fit the samples equally well give about the same KL.

    Parameters
    ----------
    means : sequence of float
        Mean log p/q over rows of p: by the chosen anchors, then by others that
        held-out rows cannot tell from them.
    """
    spread = float(max(means) - min(means)) / max(abs(means[0]), 0.1)
    verdict: Verdict = "ok" if spread <= 0.2 else "warn"
    if spread > 1.0:
        verdict = "fail"
    advice = (
        "Anchors that fit equally well agree."
        if verdict == "ok"
        else f"Anchors that fit the samples equally well give {min(means):.3g} to {max(means):.3g} "
        "for the KL: it depends on tails that these rows do not show. More rows would decide."
    )
    return Check(spread, verdict, advice, details={"means": list(means)})


def check_rising(rising: bool) -> Check:
    """Whether the held-out likelihood had stopped rising when flexibility ended."""
    if not rising:
        return Check(0.0, "ok", "More flexible critics do not predict held-out rows better.")
    return Check(
        1.0,
        "warn",
        "The held-out likelihood was still rising at the weakest penalty: the critic is too simple "
        "for these samples. Try critic=HistGradientBoostingClassifier().",
    )


def check_bridge(accuracy: Mapping[str, float], learned: bool) -> Check:
    """Whether some auxiliary overlaps p, and one q, closely enough to learn from.

    Parameters
    ----------
    accuracy : mapping
        For p and for q, how surely the auxiliary nearest to it is told from it.
    learned : bool
        Whether the critics were learned at all, or stayed at their anchors.
    """
    worst = max(accuracy.values())
    told = " and ".join(f"{value:.0%} from {name}" for name, value in accuracy.items())
    if worst <= _UNBRIDGED:
        return Check(worst, "ok", f"The nearest auxiliary is told {told}.", details=dict(accuracy))
    if not learned:
        advice = f"The nearest auxiliary is told {told}; the ratio rests on the anchors alone."
        return Check(worst, "ok", advice, details=dict(accuracy))
    advice = f"The chasm is not bridged: the nearest auxiliary is told {told}. Use others."
    return Check(worst, "warn", advice, details=dict(accuracy))
