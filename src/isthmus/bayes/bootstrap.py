"""The bootstrap: rows drawn again, anchors and critics fitted again, quickly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._random import Seeds
from .._setup import fit_anchors
from .._typing import Array, RandomState
from .._validation import check_number
from ..anchors import GaussianAnchor, Pooled, anchor_pair, fit_anchor, mixed_anchor, resolve_anchor
from ..objective import Objective
from ..solvers import newton
from ._table import tabulated
from ._target import fit_of, is_small
from .posterior import Posterior


def bootstrap(
    mdre: Any, *, replicates: int = 200, random_state: RandomState = None
) -> BootstrapPosterior:
    """Fit again to rows drawn with replacement, as often as asked.

    The rows of every class are drawn within their class. Anchors, of any kind, are fitted
    to what was drawn, and the critics' parameters are found by Newton's method from
    those of the fit, which takes a step or two. Coordinates, maps, auxiliaries and
    penalty stay: they are choices, not estimates.

    Parameters
    ----------
    mdre : MDRE
        Fitted, with a critic of :mod:`isthmus.critics`.
    replicates : int
        Number of fits. The standard deviation of so many values is itself
        uncertain by a share of one over the root of twice their number.
    random_state : int, Generator, RandomState or None
        Seeds the draws.

    Returns
    -------
    BootstrapPosterior
        Its draws are the parameters of the fits.

    References
    ----------
    Efron & Tibshirani (1993), An Introduction to the Bootstrap.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus import bayes
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.standard_t(4, 500), rng.normal(1, 1, 500))
    >>> mdre = isthmus.MDRE(critic="quadratic", anchor="student-t", l2=5.0, random_state=0)
    >>> fits = bayes.bootstrap(mdre.fit(X, y), replicates=20, random_state=0)
    >>> mean, std = fits.log_ratio([0.0, 2.0], return_std=True)
    >>> std.shape
    (2,)
    """
    check_number(replicates, "replicates", low=2, integer=True)
    objective, theta = fit_of(mdre, infinite=True)
    learns = len(mdre.solution_.theta) > 0
    setup, sample = mdre._setup, objective.sample
    work = tabulated(objective) if learns and is_small(objective) else objective
    edges = np.searchsorted(sample.label, np.arange(len(sample.log_prior) + 1))
    Z = sample.X
    # What the anchors leave of the offsets does not change.
    bare = np.array(sample.offset, order="F")
    for c, anchor in zip(setup.learned, setup.anchors, strict=False):
        bare[:, c] -= anchor.score_samples(Z)
    seeds = Seeds(Seeds(random_state)("bootstrap"))
    draws, anchors = np.empty((replicates, len(theta))), []
    for b in range(replicates):
        counts = _counts(seeds, b, np.diff(edges))
        anchors.append(_anchors(mdre, counts))
        draws[b] = theta
        if not learns:
            continue
        offset = np.array(bare, order="F")
        for c, anchor in zip(setup.learned, anchors[-1], strict=False):
            offset[:, c] += anchor.score_samples(Z)
        weight = sample.weight * np.concatenate(counts)
        mass = np.bincount(sample.label, sample.weight) / np.bincount(sample.label, weight)
        again = replace(work.sample, weight=weight * mass[sample.label], offset=offset)
        draws[b] = newton(
            Objective(work.critic, again, work.l2, work.chunk_rows), theta, tol=1e-5, max_iter=50
        ).theta
    return BootstrapPosterior(mdre, draws, anchors, seeds)


class BootstrapPosterior(Posterior):
    """Parameters and anchors of fits to rows drawn again; see :func:`bootstrap`.

    Attributes
    ----------
    anchors : list of list
        Anchors of the learned classes, for every fit.
    """

    def __init__(self, model: Any, draws: Array, anchors: list[list[Any]], seeds: Seeds) -> None:
        super().__init__(model, draws, "bootstrap")
        self.anchors, self._seeds, self._first = anchors, seeds, 0

    def counts(self, replicate: int) -> tuple[Array, Array]:
        """How often each row of p and of q was drawn for one of the fits."""
        sizes = np.array([len(rows) for rows in self.model._setup.classes.rows])
        p, q = _counts(self._seeds, self._first + replicate, sizes)[:2]
        return p, q

    def _some(self, which: slice) -> BootstrapPosterior:
        out = BootstrapPosterior(self.model, self._draws[which], self.anchors[which], self._seeds)
        out._first = self._first + (which.start or 0)
        return out

    def _known(self, X: Array, Z: Array, pair: tuple[int, int]) -> Array:
        setup = self.model._setup
        fit = setup.offset(X, Z) - setup.bias
        out = np.tile(fit[:, pair[0]] - fit[:, pair[1]], (len(self._draws), 1))
        learned = list(setup.learned)
        for c, sign in zip(pair, (1.0, -1.0), strict=True):
            if c not in learned or not setup.anchors:
                continue
            place = learned.index(c)
            base = _unbiased(setup.anchors[place], Z)
            for own, anchors in zip(out, self.anchors, strict=True):
                own += sign * (_unbiased(anchors[place], Z) - base)
        return out

    def _learned(self, Z: Array, pair: tuple[int, int]) -> Array:
        if not len(self.model.solution_.theta):
            return np.zeros((len(self._draws), len(Z)))
        return super()._learned(Z, pair)


def _counts(seeds: Seeds, replicate: int, sizes: Any) -> list[Array]:
    """How often each row of each class is drawn; made again rather than kept."""
    rng = seeds(f"replicate {replicate}")
    return [np.bincount(rng.integers(n, size=n), minlength=n).astype(float) for n in sizes]


def _anchors(model: Any, counts: list[Array]) -> list[Any]:
    """Anchors of the learned classes, fitted to rows that were drawn so often."""
    setup = model._setup
    if not setup.anchors:
        return []
    spec = model.best_params_.get("anchor", model.anchor)
    Z, mass = setup.classes.Z, setup.classes.mass
    drawn = [np.repeat(np.arange(len(n)), n.astype(int)) for n in counts]
    weights = [None if w is None else w[at] for w, at in zip(setup._weights, drawn, strict=False)]
    out = fit_anchors(spec, [Z[c][drawn[c]] for c in range(2)], weights, setup.where)
    for c in setup.learned[2:]:
        # As in the fit: from the anchors of p and q, or from the auxiliary's rows.
        own: GaussianAnchor | None = mixed_anchor(setup.auxiliaries[c - 2], setup.where, out)
        if own is None:
            one = anchor_pair(spec)[0]
            one = one.anchor if isinstance(one, Pooled) else one
            own = fit_anchor(resolve_anchor(one), Z[c][drawn[c]], mass[c][drawn[c]])
        out.append(own)
    return out


def _unbiased(anchor: Any, Z: Array) -> Array:
    return np.asarray(anchor.score_samples(Z) - getattr(anchor, "bias_", 0.0))
