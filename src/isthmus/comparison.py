"""What a comparison of two samples found: ratios, divergences, weights and checks."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from .crossfit import CrossFit, own
from .data.kept import KeptRows
from .data.sample import TwoSamples
from .data.validation import as_rows, check_number, check_option
from .diagnostics import Check
from .diagnostics.diagnose import diagnose
from .diagnostics.extrapolation import check_extrapolation, distance_from
from .diagnostics.normalisation import COVERED, reach
from .estimator import ClassEstimator
from .functionals import (
    Estimate,
    donsker_varadhan,
    get_divergence,
    importance_weights,
    kl_lower_bound,
    nwj,
)
from .mdre import MDRE
from .model.rows import ClassRows, FittedTo
from .settings import Call
from .stacked import StackedMDRE
from .tables.columns import as_table, is_table
from .tables.frames import TableEncoder
from .typing import Array, RandomState
from .uncertainty.cross_fitted import by_fit, with_proven_ends
from .uncertainty.fit import fit_of
from .uncertainty.influence import Influence


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
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
    """

    estimator: Any
    samples: TwoSamples
    crossfit: CrossFit
    level: float
    call: Call
    encoder: TableEncoder | None = None

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
        x : array-like or frame of shape (n, d) or (n,)
        numerator, denominator : str
            Any two classes of the model: "p", "q" or an auxiliary of an MDRE such as "m1".
        return_std : bool
            Whether to return the standard deviation over samples as well, of an :class:`MDRE` with
            a critic of its own: by the delta method, or by 50 fits to rows drawn again.

        Returns
        -------
        log_ratio, std : ndarrays of shape (n,)
            Or the log-ratio alone.
        """
        x = self.encode(x)
        if return_std:
            from .uncertainty import sampling_uncertainty

            draws = sampling_uncertainty(self.estimator)
            std = draws.log_ratio(x, True, numerator, denominator)[1]
            return self.log_ratio(x, numerator, denominator), std
        if (numerator, denominator) == ("p", "q"):
            return np.asarray(self.estimator.log_ratio(x))
        if not isinstance(self.estimator, ClassEstimator):
            raise ValueError(
                f"numerator and denominator must be 'p' and 'q' with a "
                f"{type(self.estimator).__name__}, which has no other classes; received "
                f"{numerator!r} and {denominator!r}. compare(p, q, critic='quadratic') fits an "
                "MDRE, which has."
            )
        return np.asarray(self.estimator.log_ratio(x, numerator, denominator))

    def weights(self, x: Any = None) -> Array:
        """Importance weights p/q, with mean one over the rows of x.

        Parameters
        ----------
        x : array-like or frame, optional
            Rows to weight; by default those of q, with cross-fitted ratios.

        Returns
        -------
        ndarray of shape (n,)
        """
        log_ratio = self.log_ratio_q if x is None else self.log_ratio(x)
        return np.asarray(importance_weights(log_ratio))

    @property
    def kl(self) -> Estimate:
        """KL(p‖q) in nats, with its interval; see :meth:`divergence`."""
        return self.divergence("kl")

    def divergence(
        self,
        spec: Any,
        level: float | None = None,
        interval: str = "delta",
        *,
        random_state: RandomState = 0,
        **how: Any,
    ) -> Estimate:
        """A divergence of p from q, with its interval.

        Parameters
        ----------
        spec : str or callable
            "kl", "reverse-kl", "js", "hellinger" (squared), "chi2" or "pearson", "neyman", "tv",
            "alpha:0.5", "renyi:2", or a convex function f with f(1) = 0.
        level : float, optional
            Level of the interval, by default that of the comparison.
        interval : {"delta", "laplace", "nuts", "bootstrap"}
            How the interval is made. "delta" adds up what each row did, or is a jackknife over
            the folds, and reaches over families that fit as well; for a stack it reaches from
            what was learned to where the learning curve leads. The others are for an
            :class:`MDRE`: draws of the critic's parameters, or of the rows, with new fits; see
            :mod:`isthmus.uncertainty`.
        random_state : int, Generator, RandomState or None
            Seeds the draws of all but "delta"; fixed, so that the answer stays the same.
        **how
            Further parameters of the draws: ``replicates`` of the bootstrap, ``draws`` of NUTS.

        Returns
        -------
        Estimate
            With "delta", where a check on the ratio failed, ``high`` is infinite or the largest
            value that there is, ``reason`` says why, and ``low`` holds for any ratio
            (:func:`isthmus.functionals.lower_end`).
        """
        level = self.level if level is None else level
        check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
        check_option(interval, "interval", ["delta", "laplace", "nuts", "bootstrap"])
        if interval != "delta":
            from .uncertainty.intervals import interval as by_draws

            return by_draws(
                self.estimator,
                self.ratios,
                spec,
                interval,
                level=level,
                random_state=random_state,
                **how,
            )
        if how:
            raise ValueError(f"interval='delta' takes no further parameters; received {list(how)}.")
        found = self.by_fit(spec, level)
        against = self.objections
        if not against and found.low > 0.0:
            return found
        p, q = self.samples
        return with_proven_ends(
            found, get_divergence(spec), self.ratios, (p.rows, q.rows), list(against)
        )

    def by_fit(self, spec: Any, level: float | None = None) -> Estimate:
        """A divergence with its interval as the fit has it, whatever the checks say.

        Parameters
        ----------
        spec, level
            As in :meth:`divergence`.

        Returns
        -------
        Estimate
        """
        level = self.level if level is None else level
        facts = own(self.estimator).facts
        return by_fit(
            get_divergence(spec), self.ratios, self.crossfit, facts, self._influence, level
        )

    @property
    def objections(self) -> dict[str, Check]:
        """Checks on the ratio that failed, by name: then the upper end is not known."""
        return {
            name: check
            for name, check in self.diagnostics.items()
            if check.concerns == "ratio" and check.verdict == "fail"
        }

    def lower_bound(self, kind: str = "donsker-varadhan") -> float:
        """Variational lower bound on KL(p‖q) at the cross-fitted log-ratios.

        Parameters
        ----------
        kind : {"donsker-varadhan", "nwj"}

        Returns
        -------
        float
            A lower bound up to sampling error, whatever the model. A warning says where it is
            none, since no rows of q lie where p has its mass.
        """
        functions = {"donsker-varadhan": donsker_varadhan, "nwj": nwj}
        if kind not in functions:
            raise ValueError(f"kind must be one of {list(functions)}; received {kind!r}.")
        if reach(self.log_ratio_p, self.log_ratio_q) < COVERED:
            warnings.warn(
                "q has no rows where p has most of its mass, so that this number is not a bound.",
                stacklevel=2,
            )
        return float(functions[kind](*self.ratios))

    def kl_lower_bound(self, level: float | None = None, method: str = "normal") -> Estimate:
        """KL(p‖q) is at least ``low``, with probability ``level``, whatever the model.

        Parameters
        ----------
        level : float, optional
            One-sided level, by default that of the comparison.
        method : {"normal", "bernstein"}
            As in :func:`isthmus.functionals.kl_lower_bound`.

        Returns
        -------
        Estimate
            ``low`` is the bound and ``high`` is infinite.
        """
        level = self.level if level is None else level
        folds = {"fold_p": self.crossfit.fold_p, "fold_q": self.crossfit.fold_q}
        return kl_lower_bound(*self.ratios, level=level, method=method, **folds)

    @cached_property
    def diagnostics(self) -> MappingProxyType[str, Check]:
        """Checks by name: "convergence", "accuracy", "normalisation_q" and so on."""
        return MappingProxyType(diagnose(self))

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
        """What the answer rests on, in a line: the candidates of the stack, or two densities."""
        if isinstance(self.estimator, MDRE | StackedMDRE):
            return self.estimator.selection_.rests_on
        return type(self.estimator).__name__

    def report(self, path: str | os.PathLike[str], **how: Any) -> Path:
        """Write all of this as one page of HTML; see :func:`isthmus.report.write`."""
        from .report import write

        return write(self, path, **how)

    def __repr__(self) -> str:
        return (
            f"Comparison(n_p={len(self.log_ratio_p)}, n_q={len(self.log_ratio_q)}, "
            f"kl={self.kl}, trusted={self.trusted}, rests_on={self.rests_on!r})"
        )

    def __getstate__(self) -> dict[str, Any]:
        # What was worked out from the attributes is worked out again.
        return {field.name: getattr(self, field.name) for field in fields(self)}

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
            return self.encoder.transform(x)
        return x
