"""Intervals of divergences from posteriors and from the bootstrap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.seeds import Seeds
from ..data.telling import quiet
from ..functionals import Divergence, Estimate, get_divergence
from ..mdre import MDRE
from ..typing import Array, RandomState
from .bootstrap import bootstrap
from .cross_fitted import few_rows
from .delta import Ratios, linearised
from .fit import fit_of
from .influence import Influence, centred_terms, is_small
from .laplace import laplace, symmetric_root
from .nuts import nuts
from .posterior import Posterior
from .target import Target

_REPLICATES = 50


def interval(
    mdre: Any,
    ratios: Ratios,
    spec: Any,
    kind: str,
    *,
    level: float = 0.95,
    random_state: RandomState = None,
    **how: Any,
) -> Estimate:
    """A cross-fitted divergence with an interval from draws of the log-ratio.

    The value is the cross-fitted one. Draws say how far it may lie off: quantiles
    of their deviations from their median make the interval. "laplace" and "nuts" draw
    the critic's parameters from their posterior, stretched to the covariance over samples (see
    :meth:`isthmus.uncertainty.NutsPosterior.calibrated`), and the error of the means over rows
    with them; what one row does to both is counted once. "bootstrap" draws the rows.
    """
    divergence = get_divergence(spec)
    value, error, draws = float(divergence.value(*ratios)), np.inf, np.empty(0)
    if np.isfinite(value):
        if kind == "bootstrap":
            draws = _bootstrap_draws(mdre, ratios, divergence, random_state, **how)
        else:
            draws = _posterior_draws(mdre, ratios, divergence, kind, random_state, **how)
        error = float(draws.std(ddof=1))
    found = divergence.estimate(
        value, error, draws=draws if np.isfinite(error) else None, level=level, method=kind
    )
    reason = few_rows(divergence, ratios)
    return replace(found, high=divergence.upper, reason=reason) if reason else found


def _posterior_draws(
    mdre: Any,
    ratios: Ratios,
    divergence: Divergence,
    kind: str,
    random_state: RandomState,
    **how: Any,
) -> Array:
    """The divergence with drawn parameters, and with the error of its means over rows."""
    seeds, fit = Seeds(random_state), fit_of(mdre, infinite=kind == "laplace")
    if not fit.model.has_influence:
        raise ValueError(
            f"interval must be 'delta' or 'bootstrap' with anchors whose error has no formula "
            f"({fit.kinds_of_anchors}); received {kind!r}."
        )
    linear, weights = linearised(divergence, ratios)
    terms = centred_terms(linear, *weights)
    rng = seeds("interval")
    if kind == "laplace" and not is_small(fit.objective):
        pairs = list(fit.influence.draws(how.get("draws", 200), rng, terms))
        theta = fit.theta + np.array([each for each, _ in pairs])
        error = np.array([e for _, e in pairs])
    else:
        if kind == "laplace":
            target = Target(fit)
            count = int(np.clip(40_000_000 // sum(map(len, terms)), 400, 2000))
            z = rng.standard_normal((how.get("draws", count), target.size))
        else:
            # What the weights do to the width of a posterior is made good below.
            with quiet("Rows of p or q weigh"):
                posterior = nuts(mdre, random_state=seeds("nuts"), **{"progress": False, **how})
            target, z = posterior.target, posterior.z
        influence = Influence(target.point, fit.model.anchored)
        covariance = influence.covariance(target.basis)
        z = z @ symmetric_root(covariance)
        theta = target.theta(z)
        # The error of the means over rows goes along with that of the parameters, as far as it
        # follows from the same rows.
        shared = influence.covariance_with(target.basis, terms)
        slope = np.linalg.pinv(covariance, hermitian=True) @ shared
        own = max(float(sum(e @ e for e in terms) - shared @ slope), 0.0)
        error = z @ slope + np.sqrt(own) * rng.standard_normal(len(z))
    p, q = fit.rows.samples
    values = Posterior(fit, theta, kind).divergence_draws(
        divergence, p.rows, q.rows, weight_p=weights[0], weight_q=weights[1]
    )
    return np.asarray(values + error)


def _bootstrap_draws(
    mdre: Any,
    ratios: Ratios,
    divergence: Divergence,
    random_state: RandomState,
    replicates: int = 200,
) -> Array:
    """The divergence of fits to rows drawn again, over the rows that were drawn."""
    fits = bootstrap(mdre, replicates=replicates, random_state=random_state)
    rows = [sample.rows for sample in mdre.fitted_to_.samples]
    weights = linearised(divergence, ratios)[1]
    out = np.empty(replicates)
    for b in range(replicates):
        drawn = [n * w for n, w in zip(fits.counts(b), weights, strict=True)]
        one = fits.some(slice(b, b + 1))
        out[b] = one.divergence_draws(divergence, *rows, weight_p=drawn[0], weight_q=drawn[1])[0]
    return out


def sampling_uncertainty(mdre: Any) -> Posterior:
    """Draws of a fitted model as other samples of the same size would give them.

    By the delta method where every row's influence is known, by 50 fits to rows drawn again
    otherwise. The seed is fixed, so that the answer is the same when asked for again.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus import uncertainty
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 300), rng.normal(1, 1, 300))
    >>> mdre = isthmus.MDRE(
    ...     critic="quadratic", anchor="gaussian", maps=None, l2=5.0, random_state=0
    ... )
    >>> type(uncertainty.sampling_uncertainty(mdre.fit(X, y))).__name__
    'LaplacePosterior'
    """
    if isinstance(mdre, MDRE) and mdre.model_.has_influence:
        return laplace(mdre, covariance="sandwich", random_state=0)
    return bootstrap(mdre, replicates=_REPLICATES, random_state=0)
