"""Intervals of divergences from posteriors and from the bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._affine import shares
from .._random import Seeds
from .._typing import Array, RandomState
from .._validation import check_number, check_option
from ..functionals import Estimate, get_divergence
from ..functionals.intervals import has_influence, linearised
from ._sandwich import Influence, centred_effect
from ._target import Target, fit_of, is_small
from .bootstrap import bootstrap
from .laplace import symmetric_root
from .nuts import sample
from .posterior import Posterior

KINDS = ("laplace", "nuts", "bootstrap")


def interval(
    comparison: Any,
    spec: Any,
    kind: str,
    *,
    level: float = 0.95,
    random_state: RandomState = None,
    **how: Any,
) -> Estimate:
    """A divergence of a comparison with an interval from draws of the log-ratio.

    The value is the cross-fitted one. Draws say how far it may lie off: quantiles
    of their deviations from their median make the interval.

    Parameters
    ----------
    comparison : Comparison
    spec : str, callable or Divergence
        As in :func:`isthmus.functionals.get_divergence`.
    kind : {"laplace", "nuts", "bootstrap"}
        "laplace" and "nuts" draw the critic's parameters from their posterior,
        stretched to the covariance over samples (see
        :meth:`isthmus.bayes.NutsPosterior.calibrated`), and the error of the means over rows
        with them; what one row does to both is counted once. "bootstrap" draws the rows.
    level : float
        Level of the interval.
    random_state : int, Generator, RandomState or None
        Seeds the draws.
    **how
        Further parameters of :func:`nuts`, or ``replicates`` of :func:`bootstrap`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.bayes.intervals import interval
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(0, 1, 500), rng.normal(1, 1, 500), random_state=0)
    >>> kl = interval(c, "kl", "laplace", random_state=0)
    >>> bool(kl.low < 0.5 < kl.high), kl.method
    (True, 'laplace')
    """
    check_option(kind, "interval", KINDS)
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    divergence = get_divergence(spec)
    value = float(divergence.value(*_ratios(comparison)))
    if not np.isfinite(value):
        return Estimate(value, np.inf, 0.0, divergence.upper, level=level, method=kind)
    if kind == "bootstrap":
        draws = _bootstrap_draws(comparison, divergence, random_state, **how)
    else:
        draws = _posterior_draws(comparison, divergence, kind, random_state, **how)
    error = float(draws.std(ddof=1))
    if not np.isfinite(error):
        return Estimate(value, np.inf, 0.0, divergence.upper, level=level, method=kind)
    ends = value + np.quantile(draws, [0.5 - 0.5 * level, 0.5 + 0.5 * level]) - np.median(draws)
    low, high = np.clip(ends, 0.0, divergence.upper)
    return Estimate(value, error, low, high, level=level, method=kind)


def _posterior_draws(
    comparison: Any, divergence: Any, kind: str, random_state: RandomState, **how: Any
) -> Array:
    """The divergence with drawn parameters, and with the error of its means over rows."""
    model, seeds = comparison.estimator, Seeds(random_state)
    objective, theta = fit_of(model, infinite=kind == "laplace")
    if not has_influence(model):
        kinds = sorted({type(anchor).__name__ for anchor in model.anchors_})
        raise ValueError(
            f"interval must be 'delta' or 'bootstrap' with anchors whose error has no formula "
            f"({', '.join(kinds)}); received {kind!r}."
        )
    linear, weights = linearised(divergence, *_ratios(comparison))
    effect = centred_effect(linear, (shares(linear.p, weights[0]), shares(linear.q, weights[1])))
    rng, anchored = seeds("interval"), bool(model.anchors_)
    if kind == "laplace" and not is_small(objective):
        influence = Influence(objective.at(theta), anchored)
        pairs = list(influence.draws(how.get("draws", 200), effect, rng))
        theta, error = (
            theta + np.array([each for each, _ in pairs]),
            np.array([e for _, e in pairs]),
        )
    else:
        if kind == "laplace":
            target = Target(model, infinite=True)
            count = int(np.clip(40_000_000 // len(effect), 400, 2000))
            z = rng.standard_normal((how.get("draws", count), target.size))
        else:
            posterior = sample(model, random_state=seeds("nuts"), **{"progress": False, **how})
            target, z = posterior.target, posterior.z
        influence = Influence(target.point, anchored)
        covariance = influence.covariance(target.basis)
        z = z @ symmetric_root(covariance)
        theta = target.theta(z)
        # The error of the means over rows goes along with that of the parameters, as far as it
        # follows from the same rows.
        shared = influence.covariance_with(target.basis, effect)
        slope = np.linalg.pinv(covariance, hermitian=True) @ shared
        own = max(float(effect @ effect - shared @ slope), 0.0)
        error = z @ slope + np.sqrt(own) * rng.standard_normal(len(z))
    rows = model._setup.classes.rows
    values = Posterior(model, theta, kind).divergence_draws(
        divergence, rows[0], rows[1], weight_p=weights[0], weight_q=weights[1]
    )
    return np.asarray(values + error)


def _bootstrap_draws(
    comparison: Any, divergence: Any, random_state: RandomState, replicates: int = 200
) -> Array:
    """The divergence of fits to rows drawn again, over the rows that were drawn."""
    model = comparison.estimator
    fits = bootstrap(model, replicates=replicates, random_state=random_state)
    rows = model._setup.classes.rows
    weights = linearised(divergence, *_ratios(comparison))[1]
    out = np.empty(replicates)
    for b in range(replicates):
        drawn = [n if w is None else n * w for n, w in zip(fits.counts(b), weights, strict=True)]
        one = fits._some(slice(b, b + 1))
        out[b] = one.divergence_draws(divergence, *rows[:2], weight_p=drawn[0], weight_q=drawn[1])[
            0
        ]
    return out


def _ratios(comparison: Any) -> tuple[Any, ...]:
    return (
        comparison.log_ratio_p,
        comparison.log_ratio_q,
        comparison.weight_p,
        comparison.weight_q,
    )
