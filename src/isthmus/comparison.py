"""What a comparison of two samples found: ratios, divergences, weights and checks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ._kept import KeptRows
from ._tables import TableEncoder, is_table
from ._typing import Array, RandomState
from ._validation import as_rows, check_number, check_option
from .diagnostics import Check
from .diagnostics._diagnose import diagnose, reach
from .diagnostics.checks import COVERED
from .diagnostics.columns import kept_rows
from .diagnostics.extrapolation import Reach, check_extrapolation
from .functionals import (
    Divergence,
    Estimate,
    donsker_varadhan,
    get_divergence,
    importance_weights,
    kl_lower_bound,
    nwj,
)
from .functionals.intervals import (
    choice_std_error,
    delta_std_error,
    has_influence,
    jackknife_std_error,
    linearised,
)


class Comparison:
    """What :func:`compare` found out about two samples.

    Attributes
    ----------
    estimator : estimator
        The model fitted to all rows.
    log_ratio_p, log_ratio_q : ndarray of shape (n_p,) and (n_q,)
        Cross-fitted log p/q at the rows of the two samples.
    level : float
        Level of the intervals.
    feature_names : list of str or None
        Names of the columns after encoding, where frames were given.
    """

    def __init__(
        self,
        *,
        estimator: Any,
        log_ratio_p: Array,
        log_ratio_q: Array,
        weight_p: Array | None,
        weight_q: Array | None,
        level: float,
        encoder: TableEncoder | None,
        accuracies: list[Array],
        solutions: list[Any],
        without_fold: list[Any],
        rows: KeptRows | None = None,
        settings: Mapping[str, Any] | None = None,
        folds: tuple[Any, Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.log_ratio_p, self.log_ratio_q = log_ratio_p, log_ratio_q
        self.weight_p, self.weight_q = weight_p, weight_q
        self.level = level
        self.feature_names = None if encoder is None else list(encoder.feature_names_)
        self._encoder = encoder
        self._accuracies = accuracies
        self._solutions = solutions
        self._without_fold = without_fold
        self._rows, self._settings = rows, dict(settings or {})
        self._folds = folds or (None, None)

    def log_ratio(
        self, x: Any, numerator: str = "p", denominator: str = "q", *, return_std: bool = False
    ) -> Any:
        """Log p(x)/q(x) at new rows, by the model fitted to all rows.

        Parameters
        ----------
        x : array-like or frame of shape (n, d) or (n,)
        numerator, denominator : str
            Any two classes of the model: "p", "q" or an auxiliary such as "m1".
        return_std : bool
            Whether to return the standard deviation over samples as well: by
            the delta method, with the error of anchors, or, where theirs has no formula, by
            50 fits to rows drawn again. It needs an :class:`MDRE` with a critic of its own.

        Returns
        -------
        log_ratio, std : ndarrays of shape (n,)
            Or the log-ratio alone.
        """
        x = self._encode(x)
        if return_std:
            std = self._uncertainty.log_ratio(x, True, numerator, denominator)[1]
            return self.log_ratio(x, numerator, denominator), std
        if (numerator, denominator) == ("p", "q"):
            return np.asarray(self.estimator.log_ratio(x))
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
        """KL(p‖q) in nats, with its interval."""
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
            "kl", "reverse-kl", "js", "hellinger" (squared), "chi2" or
            "pearson", "neyman", "tv", "alpha:0.5", "renyi:2", or a convex function f
            with f(1) = 0.
        level : float, optional
            Level of the interval, by default that of the comparison.
        interval : {"delta", "laplace", "nuts", "bootstrap"}
            How the interval is made. "delta" adds up what each row did, as if the
            divergence were linear in the log-ratios; with other than normal anchors it
            is a jackknife over the folds. "laplace" and "nuts" draw the critic's parameters,
            "bootstrap" draws the rows and fits again; see :func:`isthmus.bayes.intervals.interval`.
        random_state : int, Generator, RandomState or None
            Seeds the draws of all but "delta"; fixed, so that the answer is the same
            when asked for again.
        **how
            Further parameters of the draws: ``replicates`` of the bootstrap, ``draws``
            and others of NUTS.

        Returns
        -------
        Estimate
            The interval counts the error of the fit and that of the evaluation.
        """
        level = self.level if level is None else level
        check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
        check_option(interval, "interval", ["delta", "laplace", "nuts", "bootstrap"])
        if interval != "delta":
            from .bayes.intervals import interval as by_draws

            return by_draws(self, spec, interval, level=level, random_state=random_state, **how)
        if how:
            raise ValueError(f"interval='delta' takes no further parameters; received {list(how)}.")
        divergence = get_divergence(spec)
        value, error = self._value_and_error(divergence, level)
        return Estimate.from_std_error(
            value, error, level=level, lower=0.0, upper=divergence.upper, method="delta"
        )

    def lower_bound(self, kind: str = "donsker-varadhan") -> float:
        """Variational lower bound on KL(p‖q) at the cross-fitted log-ratios.

        Parameters
        ----------
        kind : {"donsker-varadhan", "nwj"}

        Returns
        -------
        float
            A lower bound up to sampling error, whatever the model.

        Warns
        -----
        UserWarning
            If no rows of q lie where p has its mass: the mean of p/q over q then
            misses its largest terms, and the number bounds nothing.
        """
        functions = {"donsker-varadhan": donsker_varadhan, "nwj": nwj}
        if kind not in functions:
            raise ValueError(f"kind must be one of {list(functions)}; received {kind!r}.")
        if reach(self, "p") < COVERED:
            warnings.warn(
                "q has no rows where p has most of its mass, so that this number is not a bound.",
                stacklevel=2,
            )
        return float(
            functions[kind](self.log_ratio_p, self.log_ratio_q, self.weight_p, self.weight_q)
        )

    def kl_lower_bound(self, level: float | None = None, method: str = "normal") -> Estimate:
        """KL(p‖q) is at least ``low``, with probability ``level``, whatever the model.

        Parameters
        ----------
        level : float, optional
            One-sided level, by default that of the comparison.
        method : {"normal", "bernstein"}
            "normal" assumes many rows, "bernstein" nothing but independent ones; see
            :func:`isthmus.functionals.kl_lower_bound`.

        Returns
        -------
        Estimate
            ``low`` is the bound and ``high`` is infinite.
        """
        level = self.level if level is None else level
        arguments = (self.log_ratio_p, self.log_ratio_q, self.weight_p, self.weight_q)
        fold_p, fold_q = self._folds
        return kl_lower_bound(*arguments, level=level, method=method, fold_p=fold_p, fold_q=fold_q)

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
            Its value is the share of rows that lie outside; ``details["outside"]`` has their
            places. See :class:`isthmus.diagnostics.extrapolation.Neighbourhood`.
        """
        kept = kept_rows(self)
        rows = as_rows(self._encode(x), "x", missing=True)
        if rows.shape[1] != kept.p.shape[1]:
            raise ValueError(
                f"x must have the {kept.p.shape[1]} columns of the samples; received "
                f"{rows.shape[1]}."
            )
        return check_extrapolation(self._union.score(rows))

    @property
    def trusted(self) -> bool:
        """Whether no check on the ratio itself has failed."""
        return all(
            check.verdict != "fail"
            for check in self.diagnostics.values()
            if check.concerns == "ratio"
        )

    def report(self, path: str | os.PathLike[str], **how: Any) -> Path:
        """Write all of this as one page of HTML; see :func:`isthmus.report.write`."""
        from .report import write

        return write(self, path, **how)

    def __repr__(self) -> str:
        return (
            f"Comparison(n_p={len(self.log_ratio_p)}, n_q={len(self.log_ratio_q)}, "
            f"kl={self.kl}, trusted={self.trusted})"
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        # A read-only view cannot be pickled, and the checks are quickly made again.
        state.pop("diagnostics", None)
        state.pop("_point", None)
        state.pop("_uncertainty", None)
        state.pop("_union", None)
        return state

    @cached_property
    def _union(self) -> Reach:
        return Reach(kept_rows(self))

    @cached_property
    def _point(self) -> Any:
        model = self.estimator
        if not hasattr(model, "objective_"):
            return None
        # Critics that stay at their anchors have no parameters; their curvature is the penalty's.
        theta = model.solution_.theta
        return model.objective_.at(theta if len(theta) else np.zeros(model.critic_.n_parameters))

    @cached_property
    def _uncertainty(self) -> Any:
        """Draws of log-ratios with the covariance over samples."""
        from .bayes import bootstrap, laplace

        if has_influence(self.estimator):
            return laplace(self.estimator, covariance="sandwich", random_state=0)
        return bootstrap(self.estimator, replicates=50, random_state=0)

    def _value_and_error(self, divergence: Divergence, level: float) -> tuple[float, float]:
        arguments = (self.log_ratio_p, self.log_ratio_q, self.weight_p, self.weight_q)
        value = float(divergence.value(*arguments))
        if not np.isfinite(value):
            return value, np.inf
        linear, keep = linearised(divergence, *arguments)
        point = None if self._without_fold else self._point
        anchored = bool(getattr(self.estimator, "anchors_", []))
        error = delta_std_error(linear, keep[0], keep[1], point, anchored)
        if self._without_fold:
            moved = [
                float(divergence.value(p, q, self.weight_p, self.weight_q))
                for p, q in self._without_fold
            ]
            error = float(np.hypot(error, jackknife_std_error(np.array(moved), level)))
        error = float(np.hypot(error, choice_std_error(divergence, self.estimator)))
        return value, error if np.isfinite(error) else np.inf

    def _encode(self, x: Any) -> Any:
        if self._encoder is not None and is_table(x):
            return self._encoder.transform(x)
        return x
