"""Logarithms of the distance from a class: tails that are heavier than a normal's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data.validation import check_number
from ..typing import Array
from .features import FeatureCritic

_BLOCK = 64


class Radial(FeatureCritic):
    """Critic of ``log(1 + |z|^2 / s)`` for a few s, with z the rows in the frame of the class.

    The log-density of a Student-t distribution with s + 2 degrees of freedom is
    a multiple of that feature and a constant. The default scales are exact for
    2.1, 3, 12 and 102 degrees of freedom, and combinations of them come within
    0.03 nats (root mean square) for any number above 2.5, in any dimension.
    Features have mean zero and unit variance under a standard normal.

    They grow slowly, unlike the quadratic, so that rows far out have little
    leverage: for heavy tails use this critic alone, with ``anchor="student-t"`` or
    without an anchor. On a normal anchor it is of use in a :class:`Sum` with a
    quadratic critic, which can take the anchor's own tails away.

    Parameters
    ----------
    scales : sequence of float, default (0.1, 1, 10, 100)
        The values of s.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.critics import Radial
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 4000), rng.standard_t(3, 4000))
    >>> mdre = isthmus.MDRE(critic=Radial(), anchor=None, l2=1.0, random_state=0).fit(X, y)
    >>> mdre.log_ratio([[0.0], [3.0]]).round()  # truth: 0.1 and -1.6
    array([ 0., -2.])
    """

    def __init__(self, scales: Sequence[float] = (0.1, 1.0, 10.0, 100.0)) -> None:
        self.scales = scales

    def prepare(self) -> None:
        """Find mean and spread of the features under a standard normal."""
        for scale in self.scales:
            check_number(scale, "scales", low=0, open_low=True, open_high=True)
        d = self.dim_
        # The logarithm of a chi-square has a smooth density with tails on both sides that
        # vanish exponentially: the trapezoidal rule is exact to rounding.
        log_square = np.linspace(-40.0, np.log(d) + 5.0, 4000)
        log_weight = 0.5 * (d * log_square - np.exp(log_square))
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        values = self._logs(np.exp(log_square))
        self.mean_ = weight @ values
        self.sd_ = np.sqrt(weight @ (values - self.mean_) ** 2)

    def basis(self, X: Array) -> list[Array]:
        """Features of every learned class, shape (n, len(scales))."""
        return [
            (self._logs(_square(X - frame.centre, frame.whiten)) - self.mean_) / self.sd_
            for frame in self.frames_
        ]

    def _logs(self, square: Array) -> Array:
        return np.log1p(square[:, None] / np.asarray(self.scales, dtype=np.float64))


def _square(D: Array, whiten: Array) -> Array:
    """Squared norms of the rows of ``D @ whiten``, without the zeros of the upper triangle."""
    out = np.zeros(len(D))
    for begin in range(0, len(whiten), _BLOCK):
        end = begin + _BLOCK
        Z = D[:, :end] @ whiten[:end, begin:end]
        out += np.einsum("ij,ij->i", Z, Z)
    return out
