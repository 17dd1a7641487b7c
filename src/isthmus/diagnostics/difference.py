"""Whether the KL agrees with a test that p and q are one distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from .check import Check
from .two_sample import TwoSampleTest

_SURE, _LIKELY = 0.002, 0.01
_UNSEEN, _OBVIOUS = 4.0, 50.0


def check_difference(test: TwoSampleTest, kl: Any, n_p: int, n_q: int) -> Check:
    r"""Whether a two-sample test and the KL tell the same story.

    Near p = q, a test with :math:`n = n_p n_q / (n_p + n_q)` sees a signal, a
    noncentrality, of about 2 n KL. If that is small the test has no business to reject; if it
    is large the test should.

    Parameters
    ----------
    test : TwoSampleTest
    kl : Estimate
    n_p, n_q : int
        Rows that the test was shown.

    Returns
    -------
    Check
        Its value is the p-value of the test.

    Examples
    --------
    >>> import isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (400, 8)), rng.normal(0.28, 1, (400, 8))
    >>> test = isthmus.two_sample_test(p, q, random_state=0)
    >>> zero = isthmus.Estimate.from_std_error(0.0, 0.05)
    >>> check_difference(test, zero, 400, 400).verdict
    'fail'
    """
    rows = n_p * n_q / (n_p + n_q)
    value = kl.value if np.isfinite(kl.value) else np.inf
    signal = 2.0 * rows * value
    details: dict[str, Any] = {
        "statistic": test.statistic,
        "kind": test.kind,
        "signal": float(signal),
    }
    details["null"] = test.null.tolist()
    if signal < _UNSEEN and test.p_value <= _LIKELY:
        advice = (
            f"{test} The KL is nevertheless about zero: the fit misses the difference, often "
            "because there are few rows for so many columns. Give MDRE an anchor, such as "
            "anchor='gaussian', use fewer columns, or more rows."
        )
        verdict = "fail" if test.p_value <= _SURE else "warn"
        return Check(test.p_value, verdict, advice, details=details)  # type: ignore[arg-type]
    if 2.0 * rows * kl.low > _OBVIOUS and not test.rejects(0.05):
        advice = f"{test} The KL is nevertheless above zero: the ratio may follow noise."
        return Check(test.p_value, "warn", advice, details=details)
    return Check(test.p_value, "ok", str(test), details=details)
