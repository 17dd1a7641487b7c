"""A comparison without its rows: what a file keeps of one, and what can be asked of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparison.between import log_ratio_between
from ..data.telling import quiet
from ..diagnostics import ColumnDifference
from ..diagnostics.check import Check, objections
from ..functionals import Estimate, get_divergence, importance_weights
from ..sources import in_parts, is_lazy
from ..tables.columns import as_table, is_table
from ..tables.frames import TableEncoder
from ..typing import Array

if TYPE_CHECKING:
    from ..comparison import Comparison

DIVERGENCES = ("kl", "reverse-kl", "js", "hellinger", "chi2", "neyman", "tv")
"""Divergences that are kept, with their intervals."""


@dataclass(frozen=True, repr=False, eq=False)
class SavedComparison:
    """A comparison that was read from a file: it scores new rows and has its answers.

    Divergences, checks and what the answer rests on are as they were when it was saved. Its rows
    are not in the file, so that what needs them, such as other divergences, intervals and
    pictures, is not there.

    Attributes
    ----------
    estimator : estimator
        The model fitted to all rows.
    encoder : TableEncoder or None
        What turns frames into rows.
    log_ratio_p, log_ratio_q : ndarray
        Cross-fitted log p/q at the rows of p and of q, in their order.
    weight_p, weight_q : ndarray
        Weights of these rows.
    level : float
        Level of the intervals.
    estimates : dict of str to Estimate
        The divergences that are kept.
    checks : dict of str to Check
        See :attr:`diagnostics`.
    rests_on : str
        What the answer rests on, in a line.
    call : str
        The command or the call that made it.
    probe : ndarray
        Numbers from the range of each column, mixed at random, for a trial after loading.
    columns : tuple of ColumnDifference
        How much each column differs by itself, the most first, and what it does in the ratio.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(0, 1, 300), rng.normal(1, 1, 300), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = isthmus.load(c.save(pathlib.Path(folder, "model.isthmus")))
    >>> bool(again.log_ratio([0.3])[0] == c.log_ratio([0.3])[0])
    True
    >>> again.kl == c.kl
    True
    """

    estimator: Any
    encoder: TableEncoder | None
    log_ratio_p: Array
    log_ratio_q: Array
    weight_p: Array
    weight_q: Array
    level: float
    estimates: dict[str, Estimate]
    checks: dict[str, Check]
    rests_on: str
    call: str
    probe: Array = field(default_factory=lambda: np.zeros((0, 0)))
    columns: tuple[ColumnDifference, ...] = ()

    @classmethod
    def of(cls, found: Comparison) -> SavedComparison:
        """What is kept of a comparison."""
        call = found.call
        files = call.files is not None
        # A divergence that is infinite was not asked for; its reason is kept with it.
        with quiet():
            divergences = {name: found.divergence(name) for name in DIVERGENCES}
        return cls(
            found.estimator,
            found.encoder,
            found.log_ratio_p,
            found.log_ratio_q,
            found.weight_p,
            found.weight_q,
            found.level,
            divergences,
            {name: _in_short(check) for name, check in found.diagnostics.items()},
            found.rests_on,
            call.command() if files else f"isthmus.compare({', '.join(call.arguments)})",
            _mixed([sample.rows for sample in found.samples]),
            found.columns,
        )

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns after encoding, where frames were given."""
        return None if self.encoder is None else list(self.encoder.feature_names_)

    @property
    def diagnostics(self) -> MappingProxyType[str, Check]:
        """Checks by name, with their numbers and without arrays."""
        return MappingProxyType(self.checks)

    @property
    def objections(self) -> dict[str, Check]:
        """Checks on the ratio that failed, by name: then the upper end is not known."""
        return objections(self.checks)

    @property
    def trusted(self) -> bool:
        """Whether no check on the ratio itself has failed."""
        return not self.objections

    @property
    def kl(self) -> Estimate:
        """KL(p‖q) in nats, with its interval."""
        return self.divergence("kl")

    def divergence(self, spec: str) -> Estimate:
        """A divergence of p from q, with the interval that it was saved with.

        Parameters
        ----------
        spec : str
            One of "kl", "reverse-kl", "js", "hellinger", "chi2", "pearson", "neyman" and "tv".

        Returns
        -------
        Estimate
        """
        name = get_divergence(spec).name
        if name not in self.estimates:
            raise ValueError(
                f"spec must be one of {', '.join(map(repr, self.estimates))}, which the file "
                f"keeps; received {spec!r}. Others need the rows: compare them again."
            )
        return self.estimates[name]

    def log_ratio(self, x: Any, numerator: str = "p", denominator: str = "q") -> Any:
        """Log p(x)/q(x) at new rows, the same to the bit as before it was saved.

        Parameters
        ----------
        x : array-like, frame or source of shape (n, d) or (n,)
            A source is read in parts: a path of a Parquet file or of a folder of them, a Dataset
            of pyarrow, a LazyFrame of polars, batches, a frame or an array of Dask.
        numerator, denominator : str
            Any two classes of the model: "p", "q" or an auxiliary of an MDRE such as "m1".

        Returns
        -------
        ndarray of shape (n,)
        """
        own = partial(self.log_ratio, numerator=numerator, denominator=denominator)
        found = in_parts(x, own, "log_ratio")
        if found is not None:
            return found
        return log_ratio_between(self.estimator, self.encode(x), numerator, denominator)

    def weights(self, x: Any = None, *, normalise: bool = False) -> Any:
        """Importance weights p/q: rows of q that are weighted by them look like p.

        Parameters
        ----------
        x : array-like, frame or source, optional
            Rows to weight, as in :meth:`log_ratio`; by default those of q, with cross-fitted
            ratios.
        normalise : bool, default False
            Whether to divide by their mean, which is then one. Otherwise a row's weight is its
            p/q, whatever other rows there are.

        Returns
        -------
        ndarray of shape (n,)
        """
        if is_lazy(x):
            found = in_parts(x, self.weights, "weight")
            return found / found.mean() if normalise else found
        log_ratio = self.log_ratio_q if x is None else self.log_ratio(x)
        return importance_weights(log_ratio, normalise)

    def encode(self, x: Any) -> Any:
        """A frame as the rows that the estimator sees; anything else as it is."""
        x = as_table(x)
        if self.encoder is not None and is_table(x):
            return self.encoder.transform(x)
        return x

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it to a file once more; see :func:`isthmus.load`."""
        from . import save

        return save(self, path)

    def __repr__(self) -> str:
        return (
            f"SavedComparison(n_p={len(self.log_ratio_p)}, n_q={len(self.log_ratio_q)}, "
            f"kl={self.kl}, trusted={self.trusted}, rests_on={self.rests_on!r})"
        )


def _in_short(check: Check) -> Check:
    """A check with those of its details that are numbers or words."""
    plain = (bool, int, float, str, np.generic)
    kept = {k: one for k, one in check.details.items() if isinstance(one, plain) or one is None}
    return replace(check, value=float(check.value), details=kept)


def _mixed(samples: Iterable[Array], count: int = 8) -> Array:
    """Rows whose columns come from different rows, so that none of the samples' is among them."""
    rows = np.concatenate(list(samples))
    rng = np.random.default_rng(0)
    return np.column_stack([rng.choice(column, count) for column in rows.T])
