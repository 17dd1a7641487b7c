"""The form in which every number with an uncertainty is returned."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Self

from scipy.special import ndtri

from ..data.validation import check_number


@dataclass(frozen=True, repr=False)
class Estimate:
    """A number, its standard error and an interval.

    Parameters
    ----------
    value : float
        The point estimate. It is never clipped: a divergence estimated at
        -0.01 says that the truth is near zero, and 0 would hide the noise.
    std_error : float
        Standard error of ``value``, at least 0; may be infinite.
    low, high : float
        Ends of the interval, ``low <= high``. They may exclude ``value`` when
        the interval was clipped to the possible range.
    level : float, default=0.95
        Nominal coverage of the interval, strictly between 0 and 1.
    method : str, default=""
        How the interval was made, for reports.

    Examples
    --------
    >>> from isthmus.functionals import Estimate
    >>> e = Estimate(200.3, 1.5, low=197.4, high=203.2)
    >>> print(e)
    200.3 ± 1.5 (95 % interval 197.4 to 203.2)
    >>> float(e)
    200.3
    """

    value: float
    std_error: float
    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __post_init__(self) -> None:
        # Plain floats, so that results print, pickle and compare alike whether
        # they came from NumPy scalars, 0-d arrays or the strings of `to_dict`.
        for field in ("value", "std_error", "low", "high", "level"):
            object.__setattr__(self, field, float(getattr(self, field)))
        check_number(self.level, "level", low=0, high=1, open_low=True, open_high=True)
        check_number(self.value, "value", low=-math.inf)
        check_number(self.std_error, "std_error", low=0)
        if not self.low <= self.high:
            raise ValueError(
                f"low must be at most high; received low={self.low!r} and high={self.high!r}."
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
    ) -> Self:
        r"""Build an estimate with the normal interval :math:`v \pm z\,s`.

        Here :math:`z` is the normal quantile at ``(1 + level) / 2``.

        Parameters
        ----------
        value, std_error, level, method
            As of the class.
        lower, upper : float, default=-inf and inf
            Range of the quantity. The ends of the interval are clipped to it,
            the value is not.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> e = Estimate.from_std_error(0.01, 0.02, lower=0.0)
        >>> e.low, round(e.high, 4)
        (0.0, 0.0492)
        """
        value, std_error = float(value), float(std_error)
        if not lower <= upper:
            raise ValueError(f"lower must be at most upper; received {lower!r} and {upper!r}.")
        if math.isinf(std_error):  # also avoids inf - inf when the value is infinite too
            return cls(value, std_error, lower, upper, level, method)
        half = float(ndtri(0.5 + level / 2)) * std_error
        low = min(max(value - half, lower), upper)
        high = min(max(value + half, lower), upper)
        return cls(value, std_error, low, high, level, method)

    def widened(
        self, below: float, above: float, *, lower: float = -math.inf, upper: float = math.inf
    ) -> Self:
        """The same number with an interval whose ends are so much further out.

        The standard error stays: what is added is no noise. The ends are clipped to the range
        of the quantity, from ``lower`` to ``upper``.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> e = Estimate(2.0, 0.5, low=1.0, high=3.0).widened(0.25, 4.0)
        >>> e.low, e.high, e.std_error
        (0.75, 7.0, 0.5)
        """
        low = min(self.low, max(self.low - below, lower))
        high = max(self.high, min(self.high + above, upper))
        return replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, float | str]:
        """Fields as a dictionary that strict JSON accepts.

        JSON has no infinity, so an infinite field becomes the string ``"inf"``
        or ``"-inf"``; ``Estimate(**e.to_dict())`` reads it back.

        Examples
        --------
        >>> from isthmus.functionals import Estimate
        >>> Estimate(1.0, 0.1, 0.8, float("inf")).to_dict()["high"]
        'inf'
        """
        return {
            key: str(item) if isinstance(item, float) and not math.isfinite(item) else item
            for key, item in asdict(self).items()
        }

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        value, error, low, high = self.rounded()
        return f"{value} ± {error} ({100 * self.level:g} % interval {low} to {high})"

    def __repr__(self) -> str:
        value, error, low, high = self.rounded()
        method = f", method={self.method!r}" if self.method else ""
        return (
            f"Estimate({value} ± {error}, {100 * self.level:g} % interval {low} to {high}{method})"
        )

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
