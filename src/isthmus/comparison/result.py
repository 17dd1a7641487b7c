"""What a comparison of two samples found: ratios, divergences, weights and checks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

from ..crossfit import CrossFit
from ..data.kept import KeptRows
from ..data.projection import Projection
from ..data.sample import TwoSamples
from ..data.validation import as_rows, check_flag
from ..diagnostics import Check, ColumnDifference, Diagnostics, column_differences
from ..diagnostics.check import objections
from ..diagnostics.diagnose import diagnose
from ..diagnostics.extrapolation import check_extrapolation, distance_from
from ..functionals import (
    importance_weights,
)
from ..mdre import MDRE
from ..model.rows import ClassRows, FittedTo
from ..settings import Call
from ..sources import in_parts, is_lazy
from ..stacked import StackedMDRE
from ..tables.columns import as_table, is_table
from ..tables.frames import TableEncoder
from ..tables.margins import Margin
from ..typing import Array
from ..uncertainty.all_rows import AllRows
from ..uncertainty.fit import fit_of
from ..uncertainty.influence import Influence
from .between import log_ratio_between
from .given import GivenRows, clearest
from .measured import Measured
from .shown import Shown


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Measured, Shown):
    """What :func:`compare` found out about two samples.

    Nothing that is asked of it changes it: it is its attributes, and so is its pickle.

    Attributes
    ----------
    estimator : estimator
        The model fitted to all rows.
    samples : TwoSamples
        The rows that were compared, with their weights.
    crossfit : CrossFit
        What the folds gave.
    level : float
        Level of the intervals.
    call : Call
        What was asked for, from which the code that repeats it is written.
    encoder : TableEncoder or None
        What turned frames into rows.
    given : GivenRows or None
        What was given, for :meth:`top_rows`. A pickle holds a hundred rows of each frame.
    projection : Projection or None
        Directions that stand for very many columns.
    margins : tuple of Margin
        How much the columns of arrays differ, where directions stand for them.
    all_rows : AllRows or None
        What is known of all rows, where these are more than 200,000: then ``samples`` and
        ``crossfit`` are those of a sample, and so are checks, pictures and columns.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = rng.normal(0, 1, (1000, 2)), rng.normal(0.5, 1, (1000, 2))
    >>> c = isthmus.compare(p, q, random_state=0)
    >>> bool(c.kl.low < 0.25 < c.kl.high), c.trusted  # the truth is 0.25
    (True, True)
    >>> c.log_ratio([[0.0, 0.0], [1.0, 1.0]]).round().tolist()
    [0.0, -1.0]
    >>> sorted(c.objections)
    []
    """

    estimator: Any
    samples: TwoSamples
    crossfit: CrossFit
    level: float
    call: Call
    encoder: TableEncoder | None = None
    given: GivenRows | None = None
    projection: Projection | None = None
    margins: tuple[Margin, ...] = ()
    all_rows: AllRows | None = None

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of rows of p and of q that were compared."""
        if self.all_rows is not None:
            return self.all_rows.rows
        return len(self.log_ratio_p), len(self.log_ratio_q)

    @property
    def log_ratio_p(self) -> Array:
        """Cross-fitted log p/q at the rows of p, shape (n_p,)."""
        return self.crossfit.log_ratio_p

    @property
    def log_ratio_q(self) -> Array:
        """Cross-fitted log p/q at the rows of q, shape (n_q,)."""
        return self.crossfit.log_ratio_q

    @property
    def weight_p(self) -> Array:
        """Weights of the rows of p, shape (n_p,)."""
        return self.samples.p.weight

    @property
    def weight_q(self) -> Array:
        """Weights of the rows of q, shape (n_q,)."""
        return self.samples.q.weight

    @property
    def ratios(self) -> tuple[Array, Array, Array, Array]:
        """Log-ratios at the rows of p and of q, and their weights: what functionals take."""
        return self.log_ratio_p, self.log_ratio_q, self.weight_p, self.weight_q

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns after encoding, where frames were given."""
        return None if self.encoder is None else list(self.encoder.feature_names_)

    def log_ratio(
        self, x: Any, numerator: str = "p", denominator: str = "q", *, return_std: bool = False
    ) -> Any:
        """Log p(x)/q(x) at new rows, by the model fitted to all rows.

        Parameters
        ----------
        x : array-like, frame or source of shape (n, d) or (n,)
            A source is read in parts: a path of a Parquet file or of a folder of them, a Dataset
            of pyarrow, a LazyFrame of polars, batches, a frame or an array of Dask.
        numerator, denominator : str
            Any two classes of the model: "p", "q" or an auxiliary of an MDRE such as "m1".
        return_std : bool
            Whether to return the standard deviation over samples as well, of an :class:`MDRE` with
            a critic of its own: by the delta method, or by 50 fits to rows drawn again.

        Returns
        -------
        log_ratio, std : ndarrays of shape (n,)
            Or the log-ratio alone; of a frame or an array of Dask, a series or an array of Dask.
            :func:`isthmus.score` writes them to files, where they do not fit into memory.
        """
        if not return_std:
            own = partial(self.log_ratio, numerator=numerator, denominator=denominator)
            found = in_parts(x, own, "log_ratio")
            if found is not None:
                return found
        x = self.encode(x)
        if return_std:
            self.check_whole("return_std", True)
            from ..uncertainty import sampling_uncertainty

            draws = sampling_uncertainty(self.estimator)
            std = draws.log_ratio(x, True, numerator, denominator)[1]
            return self.log_ratio(x, numerator, denominator), std
        return log_ratio_between(self.estimator, x, numerator, denominator)

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
        check_flag(normalise, "normalise")
        if x is None and self.all_rows is not None:
            raise ValueError(
                f"x must be given where q has {self.sizes[1]:,} rows, whose log-ratios are not "
                "kept; received none."
            )
        if is_lazy(x):
            found = in_parts(x, self.weights, "weight")
            return found / found.mean() if normalise else found
        log_ratio = self.log_ratio_q if x is None else self.log_ratio(x)
        return importance_weights(log_ratio, normalise)

    @property
    def objections(self) -> dict[str, Check]:
        """Checks on the ratio that failed, by name: then the upper end is not known."""
        return objections(self.diagnostics)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Checks by name: "convergence", "normalisation_q" and so on; ``print`` shows a table.

        Levels that only one sample has are no matter of checks: a divergence says by itself where
        they make it infinite. The checks are then those of the other rows.
        """
        return diagnose(self.rest or self)

    @cached_property
    def columns(self) -> tuple[ColumnDifference, ...]:
        """How much each column differs by itself, the most first, and what it does in the ratio.

        Columns that were left out of the joint comparison are among them.
        """
        return column_differences(self)

    def extrapolation(self, x: Any) -> Check:
        """Check whether rows lie outside both samples, where the log-ratio is a guess.

        Parameters
        ----------
        x : array-like or frame of shape (n, d) or (n,)
            Rows to be asked about.

        Returns
        -------
        Check
            Its value is the share of rows outside; ``details["outside"]`` has their places.
        """
        kept = self.kept
        rows = as_rows(self.encode(x), "x", missing=True)
        if rows.shape[1] != kept.p.shape[1]:
            raise ValueError(
                f"x must have the {kept.p.shape[1]} columns of the samples; received "
                f"{rows.shape[1]}."
            )
        return check_extrapolation(distance_from(kept, rows))

    @property
    def trusted(self) -> bool:
        """Whether no check on the ratio itself has failed; see :attr:`objections`."""
        return not self.objections

    @property
    def rests_on(self) -> str:
        """What the answer rests on, in a line: the candidates of the stack, or two densities.

        Of very many rows it says what was fitted to how many of them.
        """
        told = type(self.estimator).__name__
        if isinstance(self.estimator, MDRE | StackedMDRE):
            told = self.estimator.selection_.rests_on
        if self.all_rows is None:
            return told
        sample = len(self.samples.p), len(self.samples.q)
        return f"{told}; {self.all_rows.told(sample)}"

    def __getstate__(self) -> dict[str, Any]:
        # What was worked out from the attributes is worked out again.
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.given is not None:
            sizes = len(self.log_ratio_p), len(self.log_ratio_q)
            some = clearest(self.log_ratio_p, self.log_ratio_q)
            state["given"] = self.given.shortened(*some, sizes)
        return state

    def check_whole(self, argument: str, received: Any) -> None:
        """Refuse what needs all rows in memory, where there is only a sample of them."""
        if self.all_rows is not None:
            raise ValueError(
                f"{argument} must be left out for more than 200,000 rows, as it works on all of "
                f"them at once; received {received!r}. Compare some of the rows for it."
            )

    @cached_property
    def kept(self) -> KeptRows:
        """Some rows of each sample, for pictures, columns and checks."""
        return KeptRows.of(self.samples)

    @cached_property
    def class_rows(self) -> ClassRows | None:
        """Rows of every class of the fit to all rows, where it has coordinates of its own."""
        fitted_to: FittedTo | None = getattr(self.estimator, "fitted_to_", None)
        return None if fitted_to is None else fitted_to.rows(self.estimator.model_.offsets)

    @cached_property
    def _influence(self) -> Influence | None:
        """What every row did to the fit to all rows, where it is known in closed form."""
        if self.crossfit.without or self.class_rows is None:
            return None
        return fit_of(self.estimator, infinite=True, rows=self.class_rows).influence

    def encode(self, x: Any) -> Any:
        """A frame as the rows that the estimator sees; anything else as it is."""
        x = as_table(x)
        if self.encoder is not None and is_table(x):
            x = self.encoder.transform(x)
        return x if self.projection is None else self._projected(as_rows(x, "x"))

    def _projected(self, rows: Array) -> Array:
        assert self.projection is not None
        d = len(self.projection.axes)
        if rows.shape[1] != d:
            raise ValueError(
                f"x must have the {d} columns of the samples; received {rows.shape[1]}."
            )
        return self.projection(rows)
