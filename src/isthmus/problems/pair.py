"""A problem: two distributions, the truth about them, and what the paper says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..typing import Array, Auxiliary, RandomState
from .base import Distribution, as_generator
from .truths import Truth


@dataclass(eq=False)
class DistributionPair:
    """Numerator p, denominator q and their KL divergence.

    Parameters
    ----------
    name : str
        Name in the registry.
    p, q : Distribution
        Numerator and denominator, of one dimension.
    truth : callable
        ``truth(p, q) -> Truth``, one of :mod:`isthmus.problems.truths`; called
        once, when the truth is first asked for.
    description : str
        One line.
    auxiliary_specs : tuple of (str, mapping)
        Class names in :mod:`isthmus.auxiliaries` with their parameters.
    paper : mapping of str to float
        Numbers of the paper. ``truth`` is its own truth; ``mdre``, ``bdre``,
        ``tre`` and ``fdre`` are its estimates, and ``mdre_spread`` etc. what it
        prints after the plus-minus sign.
    tre_alphas : tuple of float
        Mixing weights of TRE's waymarks, for the "sqrt" form of linear mixing.
    training : mapping
        Parameters of :class:`isthmus.model.adam.Adam`, with which the paper trained MDRE.

    Examples
    --------
    >>> from isthmus import problems
    >>> problem = problems.load("table1/row1")
    >>> p, q = problem.sample_p(5000, rng=0), problem.sample_q(5000, rng=0)
    >>> round(problem.kl, 2), round(float(problem.log_ratio(p).mean()))
    (200.27, 200)
    """

    name: str
    p: Distribution
    q: Distribution
    truth: Callable[[Any, Any], Truth]
    description: str
    auxiliary_specs: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    paper: Mapping[str, float] = field(default_factory=dict)
    tre_alphas: tuple[float, ...] = ()
    training: Mapping[str, Any] = field(default_factory=dict)
    dim: int = field(init=False)

    def __post_init__(self) -> None:
        if self.p.dim != self.q.dim:
            raise ValueError(f"p and q must share one dim; received {self.p.dim} and {self.q.dim}.")
        self.dim = self.p.dim

    @cached_property
    def _truth(self) -> Truth:
        return self.truth(self.p, self.q)

    @property
    def kl(self) -> float:
        """KL divergence of p from q, in nats."""
        return self._truth.kl

    @property
    def kl_std_error(self) -> float:
        """Standard error of :attr:`kl`: 0 unless it was found by sampling."""
        return self._truth.std_error

    @property
    def truth_by(self) -> str:
        """How :attr:`kl` was found: "closed form", "quadrature" or "monte carlo"."""
        return self._truth.by

    @property
    def auxiliaries(self) -> tuple[Auxiliary, ...]:
        """New unfitted auxiliaries, those of the paper where it names them."""
        from .. import auxiliaries

        return tuple(
            getattr(auxiliaries, name)(**parameters) for name, parameters in self.auxiliary_specs
        )

    def sample_p(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows of p, shape (n, dim).

        One integer seed gives :meth:`sample_p` and :meth:`sample_q` independent
        streams; a generator is used as it is and moves on.
        """
        return self.p.sample(n, as_generator(rng, "p"))

    def sample_q(self, n: int, rng: RandomState | None = None) -> Array:
        """Draw ``n`` rows of q, shape (n, dim); see :meth:`sample_p`."""
        return self.q.sample(n, as_generator(rng, "q"))

    def log_p(self, x: npt.ArrayLike) -> Array:
        """Log-density of p at every row, shape (n,)."""
        return self.p.log_density(x)

    def log_q(self, x: npt.ArrayLike) -> Array:
        """Log-density of q at every row, shape (n,)."""
        return self.q.log_density(x)

    def log_ratio(self, x: npt.ArrayLike) -> Array:
        """Logarithm of p(x)/q(x) at every row, shape (n,).

        It is -inf outside the support of p, +inf outside that of q, and NaN
        outside both, where no ratio is defined.
        """
        log_p, log_q = self.p.log_density(x), self.q.log_density(x)
        with np.errstate(invalid="ignore"):
            return np.asarray(log_p - log_q)
