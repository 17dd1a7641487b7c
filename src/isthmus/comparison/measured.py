"""What is measured of a comparison: divergences with their intervals, and lower bounds."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

from .. import words
from ..crossfit import own
from ..data.telling import tell
from ..data.validation import check_number, check_option
from ..diagnostics.normalisation import COVERED, reach
from ..functionals import Estimate, donsker_varadhan, get_divergence, kl_lower_bound, nwj
from ..typing import RandomState
from ..uncertainty.cross_fitted import by_fit, few_rows, with_proven_ends
from ..uncertainty.one_sided import with_infinite_value, without_one_sided

_LEAST_REST = 20


class Measured:
    """Divergences of a :class:`~isthmus.Comparison`."""

    @property
    def kl(self: Any) -> Estimate:
        """KL(p‖q) in nats, with its interval; see :meth:`divergence`."""
        found: Estimate = self.divergence("kl")
        return found

    def divergence(
        self: Any,
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
            Infinite, with the reason, where a sample has levels of a column that the other lacks
            and the divergence is infinite then; see :meth:`divergence_of_rest`.
            Otherwise a float within what is possible. Where a check on the ratio failed, or a few
            rows decide the number, ``high`` is infinite or the largest value that there is,
            ``reason`` says why, and ``low`` holds for any ratio
            (:func:`isthmus.functionals.lower_end`).
        """
        level = self.level if level is None else level
        check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
        check_option(interval, "interval", ["delta", "laplace", "nuts", "bootstrap"])
        if interval != "delta":
            self.check_whole("interval", interval)
            from ..uncertainty.intervals import interval as by_draws

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
        found: Estimate = self._delta(spec, level)
        if self.projection is not None:
            # Of all columns a divergence is at least as large.
            found = replace(found, high=get_divergence(spec).upper, reason=words.DIRECTIONS)
        if self.encoder is None:
            return found
        labels, rows = self.encoder.labels, self.encoder.one_sided_
        return with_infinite_value(found, get_divergence(spec), rows, labels)

    def divergence_of_rest(self: Any, spec: Any = "kl", *, level: float | None = None) -> Estimate:
        """A divergence of the rows whose levels both samples have.

        A level that only one sample has makes KL(p‖q) or KL(q‖p) infinite. Without the rows that
        have one, it is finite again; and the same as :meth:`divergence` where there are none.

        Parameters
        ----------
        spec, level
            As in :meth:`divergence`.

        Returns
        -------
        Estimate
        """
        if self.rest is None:
            raise ValueError(
                "p and q must have rows in common levels; received samples with fewer than "
                f"{_LEAST_REST} of them."
            )
        found: Estimate = self.rest.divergence(spec, level=level)
        return found

    @cached_property
    def rest(self: Any) -> Any:
        """The comparison of rows whose levels both samples have; itself where all have.

        Where there are fewer than 20 such rows of a sample it is None. Its ratio differs from that
        of all rows by a constant, and new rows are scored with that of all.
        """
        rows = None if self.encoder is None else self.encoder.one_sided_
        if self.encoder is None or rows is None or not rows.levels:
            return self
        if rows.rows_left < _LEAST_REST:
            return None
        samples, crossfit = without_one_sided(self.samples, self.crossfit, rows)
        encoder = copy(self.encoder)
        encoder.one_sided_ = rows.forgotten()
        return replace(self, samples=samples, crossfit=crossfit, encoder=encoder)

    def _delta(self: Any, spec: Any, level: float) -> Estimate:
        found: Estimate = self.by_fit(spec, level)
        divergence, against = get_divergence(spec), self.objections
        # What was wrong with the number itself says more than that its error is large.
        said = [name for name in against if name != "precision" or not found.reason]
        reason = words.objection(said) or found.reason
        reason = reason or few_rows(divergence, self.ratios, self.all_rows)
        apart = against["support"].details.get("disjoint") if "support" in against else None
        if apart is not None:
            # No row could be of both: whatever was fitted, it is as large as it can be.
            reason = f"p and q have no value of column {apart} in common"
            found = divergence.estimate(divergence.upper, math.inf, level=level)
        if not reason and found.low > 0.0:
            return found
        p, q = self.samples
        return with_proven_ends(found, divergence, self.ratios, (p.rows, q.rows), reason)

    def by_fit(self: Any, spec: Any, level: float | None = None) -> Estimate:
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
            get_divergence(spec),
            self.ratios,
            self.crossfit,
            facts,
            self._influence,
            level,
            self.all_rows,
        )

    def lower_bound(self: Any, kind: str = "donsker-varadhan") -> float:
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
            tell(
                "q has no rows where p has most of its mass, so that this number is not a bound.",
                stacklevel=2,
            )
        return float(functions[kind](*self.ratios))

    def kl_lower_bound(self: Any, level: float | None = None, method: str = "normal") -> Estimate:
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
