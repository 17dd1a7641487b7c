"""The form in which every number with an uncertainty is returned."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Self

from scipy.special import ndtri

from ..data.validation import check_number
from .possible import NO_ERROR_KNOWN, Numbers, possible


@dataclass(frozen=True, repr=False, eq=False)
class Estimate(float):
    """A number with its standard error and an interval.

    It is a float, its ``value``: it is compared, added, rounded, formatted and put into arrays
    as one. Two estimates are equal if their values are; compare ``to_dict()`` for all of it.

    Parameters
    ----------
    value : float
        The point estimate, within what is possible and within the interval.
    std_error : float
        Standard error of ``value``, at least 0; may be infinite.
    low, high : float
        Ends of the interval, ``low <= value <= high``. An infinite end is one that is
        not known; None stands for it too, as JSON has it.
    level : float, default=0.95
        Nominal coverage of the interval, strictly between 0 and 1.
    method : str, default=""
        How the interval was made, for reports.
    reason : str, default=""
        Why the upper end is not known, as what follows "because". Then ``high`` is infinite,
        or, for a quantity that has a largest value, that value.
    unclipped : float, optional
        What was worked out, where that is outside of what is possible: a divergence of -0.01 is
        the noise of one near zero. By default the value.

    Examples
    --------
    >>> from isthmus.functionals import Estimate
    >>> e = Estimate(200.3, 1.5, low=197.4, high=203.2)
    >>> print(e)
    200.3 ± 1.5 (95 % interval 197.4 to 203.2)
    >>> f"{e:.1f}", e > 100, e + 1, round(e), float(e)
    ('200.3', True, 201.3, 200, 200.3)
    >>> print(Estimate(0.45, 0.04, low=0.37, high=float("inf"), reason="trees see more"))
    at least 0.370 (95 %); estimate 0.450; how much more is not known, because trees see more
    """

    value: float
    std_error: float
    low: float
    high: float
    level: float = 0.95
    method: str = ""
    reason: str = ""
    unclipped: float | None = None

    def __new__(cls, value: Any, *others: Any, **named: Any) -> Self:
        """A float of the value; what else there is, ``__init__`` takes."""
        return super().__new__(cls, value)

    def __post_init__(self) -> None:
        # An end that is not known is null in JSON.
        for end, unknown in (("low", -math.inf), ("high", math.inf)):
            if getattr(self, end) is None:
                object.__setattr__(self, end, unknown)
        if self.unclipped is None:
            object.__setattr__(self, "unclipped", self.value)
        # Plain floats, so that results print, pickle and compare alike whether
        # they came from NumPy scalars, 0-d arrays or the strings of `to_dict`.
        for field in ("value", "std_error", "low", "high", "level", "unclipped"):
            object.__setattr__(self, field, float(getattr(self, field)))
        check_number(self.level, "level", low=0, high=1, open_low=True, open_high=True)
        check_number(self.value, "value", low=-math.inf)
        check_number(self.std_error, "std_error", low=0)
        if not self.low <= self.high:
            raise ValueError(
                f"low must be at most high; received low={self.low!r} and high={self.high!r}."
            )
        if not self.low <= self.value <= self.high:
            raise ValueError(
                f"value must lie between low and high; received {self.value!r}, {self.low!r} and "
                f"{self.high!r}."
            )

    @classmethod
    def within(
        cls,
        value: float,
        std_error: float,
        low: float,
        high: float,
        *,
        level: float = 0.95,
        lower: float = -math.inf,
        upper: float = math.inf,
        method: str = "",
        reason: str = "",
    ) -> Self:
        """Build an estimate of a quantity of which it is known what is possible.

        Parameters
        ----------
        value, std_error, low, high, level, method, reason
            As of the class, as they were worked out: see
            :func:`isthmus.functionals.possible.possible` for what becomes of them.
        lower, upper : float, default=-inf and inf
            Range of the quantity.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> Estimate.within(0.7, 0.01, 0.68, 0.72, lower=0.0, upper=0.6931).value
        0.6931
        >>> print(Estimate.within(-3e9, 1.0, 0.0, 0.0, lower=0.0).unknown)
        how much more is not known, because the fit gives -3e+09, which is impossible
        """
        check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
        if not lower <= upper:
            raise ValueError(f"lower must be at most upper; received {lower!r} and {upper!r}.")
        given = Numbers(float(value), float(std_error), float(low), float(high), reason)
        found = possible(given, level, lower, upper)
        return cls(
            found.value,
            found.std_error,
            found.low,
            found.high,
            level,
            method,
            found.reason,
            found.value if math.isnan(given.value) else given.value,
        )

    @classmethod
    def from_std_error(
        cls,
        value: float,
        std_error: float,
        *,
        level: float = 0.95,
        lower: float = -math.inf,
        upper: float = math.inf,
        method: str = "normal",
        reason: str = "",
    ) -> Self:
        r"""Build an estimate with the normal interval :math:`v \pm z\,s`.

        Here :math:`z` is the normal quantile at ``(1 + level) / 2``.

        Parameters
        ----------
        value, std_error, level, method
            As of the class.
        reason : str, default=""
            Why nothing is known of the upper end, which is then ``upper``. An infinite
            ``std_error`` is a reason by itself.
        lower, upper : float, default=-inf and inf
            Range of the quantity: value and interval lie within.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> e = Estimate.from_std_error(0.01, 0.02, lower=0.0)
        >>> e.low, round(e.high, 4)
        (0.0, 0.0492)
        """
        value, std_error = float(value), float(std_error)
        if math.isinf(std_error) or math.isinf(value):  # there is no inf - inf
            low, high, reason = lower, upper, reason or (NO_ERROR_KNOWN * math.isfinite(value))
        else:
            check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
            half = float(ndtri(0.5 + level / 2)) * std_error
            low, high = value - half, upper if reason else value + half
        return cls.within(
            value,
            std_error,
            low,
            high,
            level=level,
            lower=lower,
            upper=upper,
            method=method,
            reason=reason,
        )

    @property
    def one_sided(self) -> bool:
        """Whether nothing is known of the upper end."""
        return bool(self.reason) or math.isinf(self.high)

    @property
    def unknown(self) -> str:
        """That the upper end is not known, and why; empty where it is known.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> Estimate(1.0, 0.1, 0.8, float("inf")).unknown
        'how much more is not known'
        """
        if not self.one_sided:
            return ""
        if math.isinf(self.value):
            return f"infinite, because {self.reason}" if self.reason else "infinite"
        because = f", because {self.reason}" if self.reason else ""
        return f"how much more is not known{because}"

    def to_dict(self) -> dict[str, Any]:
        """Fields as a dictionary that strict JSON accepts.

        JSON has no infinity. An infinite end of the interval becomes None, with the
        ``reason`` beside it; any other infinite field the string ``"inf"`` or ``"-inf"``.
        ``Estimate(**e.to_dict())`` reads it back.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> found = Estimate(1.0, 0.1, 0.8, float("inf"), reason="trees see more").to_dict()
        >>> found["low"], found["high"], found["reason"]
        (0.8, None, 'trees see more')
        """
        out = {field.name: getattr(self, field.name) for field in fields(self)}
        for key, item in out.items():
            if isinstance(item, float) and not math.isfinite(item):
                out[key] = None if key in ("low", "high") else str(item)
        return out

    def __str__(self) -> str:
        value, error, low, high = self.rounded()
        level = f"{100 * self.level:g} %"
        if math.isinf(self.value):
            return f"{self.unknown}; at least {low} ({level})"
        if self.one_sided:
            return f"at least {low} ({level}); estimate {value}; {self.unknown}"
        return f"{value} ± {error} ({level} interval {low} to {high})"

    def __repr__(self) -> str:
        value, error, low, high = self.rounded()
        level = f"{100 * self.level:g} %"
        ends = (
            f"at least {low} ({level})" if self.one_sided else f"{level} interval {low} to {high}"
        )
        further = "".join(
            f", {name}={told!r}"
            for name, told in (("method", self.method), ("reason", self.reason))
            if told
        )
        return f"Estimate({value} ± {error}, {ends}{further})"

    def rounded(self) -> list[str]:
        """Numbers with as many digits as the standard error justifies."""
        numbers = (self.value, self.std_error, self.low, self.high)
        # Outside this range fixed-point notation would be a row of zeros.
        if not 1e-8 <= self.std_error < 1e6 or abs(self.value) >= 1e12:
            return [f"{number:.4g}" for number in numbers]
        # Two significant digits; the exponent is read after rounding, since
        # 0.0996 rounds to 0.10 and needs one digit less than its logarithm says.
        exponent = int(f"{self.std_error:.1e}".split("e")[1])
        return [f"{number:.{max(0, 1 - exponent)}f}" for number in numbers]
