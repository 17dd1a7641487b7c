"""What speaks for a mutual information and what against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..data.holdout import PROVEN
from ..diagnostics.agreement import check_agreement
from ..diagnostics.calibration import check_calibration
from ..diagnostics.check import Check, advised, graded
from ..diagnostics.tails import LEAST_KL
from ..typing import Array
from .conditional import ConditionalRatio
from .evaluation import CHASM, Evaluation
from .learners import best_learner
from .result import Answer

# Nats that may be missing whatever the value is.
_LITTLE = 0.03
# What a row may carry of the number, and how many rows a column should have.
_ONE_ROW, _ROWS = 0.2, 10
# Rows for each column from which on dependence that is not seen is not there.
_SEEN = 25
# Rows prove at most their logarithm less this.
_PROVABLE = 3.0
# Share of the value that an interval may reach to one side, and nats below which a value is small.
_WIDE, _SMALL = 0.35, 0.2


def common_checks(
    found: Answer, joint: Array, shuffled: Array, others: Mapping[str, float], n_columns: int
) -> dict[str, Check]:
    """Checks that every answer from a ratio gets, by name.

    Parameters
    ----------
    found : Answer
        The number as it stands.
    joint, shuffled : ndarray
        Held-out log-ratios at joint and at shuffled pairs.
    others : mapping of str to float
        The information by other estimates that these rows do not refuse.
    n_columns : int
        Columns of both sides.
    """
    checks = {
        "agreement": check_agreement(found.value, others, found.std_error),
        "one_row": check_one_row(joint, found.value),
        "rows": check_rows(len(joint), n_columns, found.method == "independent"),
    }
    if found.method != "independent":
        checks["learning"] = check_learning(found.value, found.value + found.further[1])
    if found.value < CHASM:
        checks["calibration"] = check_calibration(joint, shuffled)
        checks["mass"] = check_mass(joint, shuffled)
    return checks


def check_learning(value: float, high: float) -> Check:
    """Whether more rows would still change the number much.

    Parameters
    ----------
    value : float
        As far as it was learned, and led on.
    high : float
        Where the learning curve leads at the slowest.

    Examples
    --------
    >>> check_learning(1.0, 1.1).verdict, check_learning(1.0, 2.0).verdict
    ('ok', 'fail')
    """
    ahead = max(high - value, 0.0)
    share = 0.0 if ahead <= _LITTLE else ahead / max(value, LEAST_KL)
    return advised(
        share,
        graded(share, 0.2, 0.35),
        f"Fits to fewer rows show that {ahead:.2g} nats more than {value:.3g} are possible",
        warn=": a part is still to be learned, and more rows would tell.",
        fail=": much is still to be learned. Only the lower end is known.",
    )


def check_mass(joint: Array, shuffled: Array) -> Check:
    """Whether the ratio averages to one over shuffled pairs.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> joint, shuffled = rng.normal(0.5, 1, 4000), rng.normal(-0.5, 1, 4000)
    >>> check_mass(joint, shuffled).verdict, check_mass(joint, shuffled + 1.0).verdict
    ('ok', 'fail')
    """
    top = float(np.quantile(joint, 0.99))
    weight = np.exp(np.minimum(shuffled, top))
    mass, error = float(weight.mean()), float(weight.std() / np.sqrt(len(weight)))
    off = max(abs(mass - 1.0) - PROVEN * error, 0.0)
    # What lies beyond the top is cut off and missing.
    off = max(off - float(np.mean(joint > top)), 0.0) if mass < 1.0 else off
    return advised(
        mass,
        graded(off, 0.1, 0.3),
        f"Over shuffled pairs the ratio averages to {mass:.2f} ± {error:.2g}, should be 1",
        warn=": the ratio is not that of the two densities; the value may be off by as much.",
        fail=": the ratio is not that of the two densities, and only the lower end is known.",
    )


def check_one_row(joint: Array, value: float) -> Check:
    """Whether a single row carries the number.

    Examples
    --------
    >>> import numpy as np
    >>> check_one_row(np.r_[np.zeros(999), 700.0], 0.7).verdict
    'fail'
    """
    carried = float(np.max(np.abs(joint - np.median(joint)))) / len(joint)
    share = carried / max(abs(value), LEAST_KL)
    return advised(
        share,
        graded(share, _ONE_ROW, 2.0 * _ONE_ROW),
        f"No row carries more than {share:.1%} of the number",
        warn=": look at the row that is farthest from the others.",
        fail=": one row decides; look at it, and leave it out if it is an error.",
    )


def check_rows(n: int, n_columns: int, nothing: bool = False) -> Check:
    """Whether there are rows for so many columns.

    Parameters
    ----------
    n, n_columns : int
    nothing : bool
        Whether no dependence was found. In few rows of many columns that says little.

    Examples
    --------
    >>> check_rows(1000, 4).verdict, check_rows(50, 40).verdict, check_rows(50, 40, True).verdict
    ('ok', 'warn', 'fail')
    """
    each = n / max(n_columns, 1)
    few = each < _ROWS or n < _ROWS**2
    blind = nothing and n_columns > 2 and each < _SEEN
    return advised(
        each,
        "fail" if blind else "warn" if few else "ok",
        f"There are {each:.3g} rows for each column",
        warn=": only strong, simple dependence is seen.",
        fail=": that none is seen says little of dependence that is not simple.",
    )


def check_bound(found: Answer, proven: float, n: int) -> Check:
    """Whether held-out pairs prove about as much as the value says, where they could.

    Parameters
    ----------
    found : Answer
    proven : float
        The lower bound by Donsker and Varadhan.
    n : int
        Rows. They prove no more than about their logarithm.
    """
    short = found.value - found.further[0] - PROVEN * found.std_error - proven
    share = max(short, 0.0) / max(found.value, LEAST_KL)
    could = found.value < CHASM and found.value < np.log(n) - _PROVABLE
    verdict = graded(share, 0.25, 0.5) if could else "ok"
    return advised(
        proven,
        verdict,
        f"Held-out pairs prove at least {proven:.3g} nats, whatever the ratio is",
        warn=f", and the value is {found.value:.3g}: part of it rests on the family.",
        fail=f", and the value is {found.value:.3g}: the ratio is not backed by the pairs.",
    )


def check_precision(value: float, low: float, high: float) -> Check:
    """Whether the interval is short enough for the value to be of use.

    A wide interval is no objection to itself: it keeps both ends.

    Examples
    --------
    >>> check_precision(0.5, 0.4, 0.6).verdict, check_precision(0.5, 0.1, 0.9).verdict
    ('ok', 'fail')
    """
    share = max(high - value, value - low, 0.0) / max(value, _SMALL)
    return advised(
        share,
        graded(share, 0.2, _WIDE),
        f"The interval reaches {share:.0%} of the value to one side"
        if value > _SMALL
        else f"The interval reaches from {low:.2g} to {high:.2g} nats",
        warn=": read the interval, not the value; more rows would help.",
        fail=": the interval may be relied on, the value may not; more rows would help.",
    )


def check_overruled(value: float, overruled: float) -> Check:
    """That neighbours in more than two columns see what no ratio at held-out pairs does.

    Examples
    --------
    >>> check_overruled(0.37, 0.2).verdict
    'fail'
    """
    return Check(
        value - overruled,
        "fail",
        f"Nearest neighbours see {value:.3g} nats, where the ratios say {overruled:.3g}: in so "
        "many columns neighbours miss a part themselves. Only the lower end is known.",
    )


def check_ways(scores: Sequence[float]) -> Check:
    """Whether y by x and x by y, column by column in either order, give the same number.

    They are the same ratio, written in other ways: where they differ, none of them is right.

    Examples
    --------
    >>> check_ways([5.0, 4.9, 4.95]).verdict, check_ways([7.0, 2.4]).verdict
    ('ok', 'fail')
    """
    highest = max(scores)
    # The worst of many orders says less than how they fall off from the best.
    typical = float(np.median(scores))
    share = (highest - typical) / max(highest, LEAST_KL)
    return advised(
        share,
        graded(share, 0.05, 0.1),
        f"In other ways the same ratio gives {typical:.3g} where the best gives {highest:.3g}",
        warn=": what is explained is not all that there is.",
        fail=": no order explains the columns, and only the lower end is known.",
    )


def unexplained(ratio: ConditionalRatio, evaluation: Evaluation) -> float:
    """Nats that learners explain of what a regression leaves over."""
    missing = 0.0
    for inputs, residual in ratio.left_over(evaluation.seen):
        for target in (residual, np.abs(residual)):
            missing -= 0.5 * float(np.log1p(-best_learner(inputs, target)[1]))
    return missing


def check_left_over(ratio: ConditionalRatio, evaluation: Evaluation, value: float) -> Check:
    """Whether trees or smooth surfaces still explain what a regression leaves over.

    Across a chasm no shuffled pair looks like a joint one, and only the residuals can tell. They
    should not depend on what they were explained by.
    """
    missing = unexplained(ratio, evaluation)
    share = missing / max(value, LEAST_KL)
    return advised(
        missing,
        graded(share, 0.02, 0.04),
        f"Trees and surfaces explain {missing:.2g} nats more of what the regression leaves over",
        ok=": nothing is left over.",
        warn=": a little more is to be seen.",
        fail=": more is to be seen, and only the lower end is known.",
    )
