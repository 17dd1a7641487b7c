"""Whether the classes overlap: no classifier learns a ratio where they do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..crossfit import own
from ..typing import Array
from .check import Check, advised, graded
from .evidence import Compared, Evidence

ALONE = 1e-3
"""Probability of all other classes together below which a row stands alone."""

APART, MIXED = 0.95, 0.50
"""The paper's band: accuracies above and below it are too high and too low."""

_UNBRIDGED = 0.99
_ROWS = 20_000


def check_accuracy(accuracy: Mapping[str, float], binary: float) -> Check:
    """Held-out accuracy of every class against the paper's band.

    All classes above 95 %: no auxiliary joins p and q. All below 50 %: the
    auxiliaries cannot be told from them.

    Parameters
    ----------
    accuracy : mapping of class name to accuracy
    binary : float
        Accuracy with which the log-ratio tells p from q.

    Examples
    --------
    >>> from isthmus.diagnostics import check_accuracy
    >>> check_accuracy({"p": 0.8, "q": 0.75, "m1": 0.6}, binary=0.99).verdict
    'ok'
    """
    least, most = min(accuracy.values()), max(accuracy.values())
    if least > APART:
        fail = (
            "Every class is told apart with more than 95 % accuracy: no auxiliary joins p and q. "
            "Use other auxiliaries, or more of them."
        )
        return advised(least, "fail", fail=fail, details=accuracy)
    if most < MIXED:
        # Where p and q are alike themselves there is nothing that an auxiliary could do.
        return advised(
            most,
            "ok" if binary < 0.75 else "warn",
            "All classes are hard to tell apart",
            ok=", as p and q are themselves.",
            warn=" although p and q are not: use fewer of them.",
            details=accuracy,
        )
    told = f"The classes overlap without being alike (held-out accuracy {least:.0%} to {most:.0%})"
    return advised(least, "ok", told, details=accuracy)


def accuracy(e: Evidence) -> Check | None:
    """The mean over the folds, where the estimator has classes."""
    accuracies = e.comparison.crossfit.accuracies
    if not accuracies or e.facts.model is None:
        return None
    mean = np.mean(accuracies, axis=0).tolist()
    binary = 0.5 * float((e.p.rows > 0).mean() + (e.q.rows < 0).mean())
    return check_accuracy(dict(zip(e.facts.model.class_names, mean, strict=True)), binary)


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
    return -abs(float(np.mean(estimator.class_log_likelihood(X, y)[1])) - 0.5 * (APART + MIXED))


def check_bridge(accuracy: Mapping[str, float], learned: bool) -> Check:
    """Whether some auxiliary overlaps p, and one q, closely enough to learn from.

    Parameters
    ----------
    accuracy : mapping
        For p and for q, how surely the auxiliary nearest to it is told from it.
    learned : bool
        Whether the critics were learned at all, or stayed at their anchors.

    Examples
    --------
    >>> from isthmus.diagnostics import check_bridge
    >>> check_bridge({"p": 0.8, "q": 0.75}, learned=True).verdict
    'ok'
    >>> check_bridge({"p": 0.8, "q": 0.999}, learned=True).verdict
    'warn'
    """
    worst = max(accuracy.values())
    told = " and ".join(f"{value:.0%} from {name}" for name, value in accuracy.items())
    joined = worst <= _UNBRIDGED
    return advised(
        worst,
        "ok" if joined or not learned else "warn",
        ok=f"The nearest auxiliary is told {told}"
        + ("." if joined else "; the ratio rests on the anchors alone."),
        warn=f"The chasm is not bridged: the nearest auxiliary is told {told}. Use others.",
        details=accuracy,
    )


def bridge(e: Evidence) -> Check | None:
    """For p and for q, the auxiliary nearest to it; where the fit has coordinates of its own."""
    model, rows = e.facts.model, e.comparison.class_rows
    if model is None or rows is None or not e.facts.auxiliaries:
        return None
    nearest = {"p": 1.0, "q": 1.0}
    given = {n: sample.rows for n, sample in zip(rows.class_names, rows.given, strict=True)}
    for name in nearest:
        for other in rows.class_names[2:]:
            some = given[other][:: -(-len(given[other]) // _ROWS)]
            right = np.mean(model.log_ratio(given[name][:_ROWS], name, other) > 0)
            right += np.mean(model.log_ratio(some, name, other) < 0)
            nearest[name] = min(nearest[name], 0.5 * float(right))
    return check_bridge(nearest, e.facts.learned)


def check_chasm(
    others: Mapping[str, Array], *, joined: bool, learned: bool, anchored: bool
) -> Check:
    """Whether rows of p lie where neither q nor an auxiliary has rows, or rows of q.

    A classifier learns a ratio only where two classes meet. What it says of a row at
    which all other classes together have a probability below a thousandth is a
    continuation of what it learned elsewhere.

    Parameters
    ----------
    others : mapping of str to ndarray
        For "p" and for "q", the log-probability of all other classes together at rows
        of that sample.
    joined, learned, anchored : bool
        Whether there are auxiliaries, whether the ratio was learned from the classes (that of
        anchors alone, of waymarks or of densities was not), and whether it departs from anchors.

    Returns
    -------
    Check
        Its value is the larger of the two shares of rows that stand alone.

    Examples
    --------
    >>> near, far = np.log(np.full(100, 0.4)), np.full(100, -50.0)
    >>> how = {"joined": False, "learned": True, "anchored": False}
    >>> check_chasm({"p": near, "q": near}, **how).verdict
    'ok'
    >>> check_chasm({"p": far, "q": near}, **how).verdict
    'fail'
    """
    shares = {name: float(np.mean(values < np.log(ALONE))) for name, values in others.items()}
    worst = max(shares.values())
    told = " and ".join(f"{share:.0%} of the rows of {name}" for name, share in shares.items())
    alone = f"{told} lie where no other class has rows"
    if not learned:
        return advised(
            worst, "ok", alone, ok="; the ratio does not rest on classes.", details=shares
        )
    # Auxiliaries are there to leave no row alone; without them far rows are to be expected.
    most, too_many = (0.05, 0.5) if joined else (0.5, 0.9)
    what = "other auxiliaries, or more of them" if joined else "auxiliaries, as MDRE does"
    return advised(
        worst,
        graded(worst, most, np.inf if anchored else too_many),
        alone,
        warn=f": the ratio there is a continuation that no row supports. Use {what}.",
        details=shares,
    )


def chasm(e: Evidence) -> Check:
    """At some rows of p and of q."""
    return check_chasm(
        others_of(e.comparison, e.some),
        joined=len(e.facts.auxiliaries) > 0,
        learned=e.facts.learned and not own(e.comparison.estimator).crosses_chasm,
        anchored=e.facts.model is not None and e.facts.model.anchored,
    )


def others_of(comparison: Compared, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Log-probability of all classes but its own, at rows of "p" and of "q"."""
    model = own(comparison.estimator).facts.model
    if model is None:
        found = comparison.crossfit
        return {
            "p": -np.logaddexp(0.0, found.log_ratio_p),
            "q": -np.logaddexp(0.0, -found.log_ratio_q),
        }
    out = {}
    for name, values in rows.items():
        log_proba = model.log_proba(values)
        log_proba[:, model.class_names.index(name)] = -np.inf
        out[name] = np.logaddexp.reduce(log_proba, axis=1)
    return out
