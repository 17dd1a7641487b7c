"""What must hold of every answer and of every refusal, whatever the input."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Words of NumPy, SciPy, scikit-learn and Arrow about what is inside; a user has not called them.
INSIDE = re.compile(
    r"broadcast|zero-size|SVD|singular|positive.definite|array must not contain|Input [Xy] contains"
    r"|cannot reshape|out of bounds|encountered in|empty slice|not supported between|has no len"
    r"|unexpected keyword|positional argument|object is not|NoneType|Expected \d+D|ufunc"
    r"|dtype\('O'\)|convergence|ArrowInvalid|pyarrow\.lib",
    re.IGNORECASE,
)
NAMES = re.compile(
    r"\b(p|q|x|y|given|columns?|weight_p|weight_q|sample_weight|drop|missing|level|labels?"
    r"|log_ratio|log_r_p|log_r_q|value|std_error|low|high|lower|upper|spec|X|rows|samples?"
    r"|source|target|path|w|estimator|critic|folds|n_jobs|random_state|Values)\b|\.(csv|tsv|parquet|isthmus)",
)


@dataclass
class Answer:
    """What a call gave: its value, or the sentence of its refusal, and what it warned of."""

    value: Any = None
    refusal: str = ""
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.refusal


def ask(call: Any, *arguments: Any, **named: Any) -> Answer:
    """Call something; an error must be a clear refusal, and a warning one for users."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = Answer(call(*arguments, **named))
        except Exception as error:
            answer = Answer(refusal=refused(error))
    for each in caught:
        text = str(each.message)
        assert not INSIDE.search(text), f"a warning from inside: {text} ({each.filename})"
        assert issubclass(each.category, UserWarning | RuntimeWarning | DeprecationWarning), text
    answer.notes = [str(each.message) for each in caught]
    return answer


def refused(error: Exception) -> str:
    """The sentence of a refusal, which names the argument and nothing from inside."""
    kind = type(error)
    ours = kind.__module__.startswith("isthmus")
    if not (kind in (ValueError, TypeError) or ours):
        raise AssertionError(f"an error from inside: {kind.__name__}: {error}") from error
    text = str(error)
    if "\n" in text or INSIDE.search(text) or not NAMES.search(text):
        raise AssertionError(f"an unclear refusal: {kind.__name__}: {text}") from error
    return text


def check_estimate(estimate: Any, what: str, upper: float = math.inf) -> None:
    """An estimate of a divergence is possible, and its interval is around it."""
    value, low, high = estimate.value, estimate.low, estimate.high
    told = f"{what}: {value!r} ± {estimate.std_error!r}, [{low!r}, {high!r}]"
    assert not any(math.isnan(each) for each in (value, low, high, estimate.std_error)), told
    assert estimate.std_error >= 0, told
    assert low <= high, told
    slack = 1e-9 * max(1.0, abs(upper) if math.isfinite(upper) else 1.0)
    assert -slack <= value <= upper + slack, told
    assert low - slack <= value <= high + slack, told
    assert low >= -slack and (high <= upper + slack or math.isinf(high)), told
    # A certainty beside an enormous doubt.
    assert not (low == high and estimate.std_error > 1 and math.isfinite(value)), told


def check_comparison(found: Any) -> None:
    """Every number of a comparison is possible."""
    for name, upper in (("kl", math.inf), ("js", math.log(2)), ("tv", 1.0), ("hellinger", 1.0)):
        answer = ask(found.divergence, name)
        if answer:
            check_estimate(answer.value, name, upper)
            # No fit to some rows can know of a divergence like this.
            known = math.isfinite(answer.value.value) and not answer.value.one_sided
            assert not known or answer.value.value < 1e7, f"{name}: {answer.value!r}"
    for side in ("log_ratio_p", "log_ratio_q"):
        assert not np.isnan(getattr(found, side)).any(), f"{side} has a NaN"
    weights = ask(found.weights)
    assert not weights or (np.isfinite(weights.value).all() and (weights.value >= 0).all())
    assert found.diagnostics
    text = str(found)
    assert "nan" not in text.lower().split(), text


def same(one: Any, other: Any, tolerance: float, what: str) -> None:
    """Two arrays or numbers agree within a part of their spread."""
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    assert one.shape == other.shape, f"{what}: shapes {one.shape} and {other.shape}"
    finite = np.isfinite(one)
    assert np.array_equal(finite, np.isfinite(other)), f"{what}: infinite at different places"
    if finite.any():
        spread = max(1.0, float(np.abs(one[finite]).max()))
        worst = float(np.abs(one[finite] - other[finite]).max()) / spread
        assert worst <= tolerance, f"{what}: they differ by {worst:.3g} of {spread:.3g}"
