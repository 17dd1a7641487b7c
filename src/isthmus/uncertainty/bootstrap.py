"""The bootstrap: rows drawn again, anchors and critics fitted again, quickly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..anchors import fit_anchors, mixed_anchor
from ..data.blocks import MemoryBlocks
from ..data.sample import Sample
from ..data.seeds import Seeds
from ..data.validation import check_number
from ..model.objective import Objective
from ..model.offsets import Offsets
from ..model.rows import ClassRows, auxiliary_anchor
from ..model.solvers import newton
from ..typing import Array, RandomState
from .fit import Fit, fit_of
from .influence import is_small
from .posterior import Posterior, learned_pair
from .target import tabulated


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
    >>> from isthmus import uncertainty
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.standard_t(4, 500), rng.normal(1, 1, 500))
    >>> mdre = isthmus.MDRE(critic="quadratic", anchor="student-t", l2=5.0, random_state=0)
    >>> fits = uncertainty.bootstrap(mdre.fit(X, y), replicates=20, random_state=0)
    >>> mean, std = fits.log_ratio([0.0, 2.0], return_std=True)
    >>> std.shape
    (2,)
    """
    check_number(replicates, "replicates", low=2, integer=True)
    fit = fit_of(mdre, infinite=True)
    offsets = fit.rows.offsets
    work = tabulated(fit.objective) if fit.learns and is_small(fit.objective) else fit.objective
    blocks = work.blocks
    if not isinstance(blocks, MemoryBlocks):
        raise ValueError("bootstrap needs rows in memory; received a stream of them.")
    mapped = [sample.rows for sample in fit.rows.mapped]
    # What the anchors leave of the offsets does not change.
    bare = [
        _with_anchors(one, Z, offsets, offsets.anchors, -1.0) if fit.learns else one
        for one, Z in zip(blocks.offsets, mapped, strict=True)
    ]
    seeds = Seeds(Seeds(random_state)("bootstrap"))
    draws, anchors = np.tile(fit.theta, (replicates, 1)), []
    for b in range(replicates):
        counts = _counts(seeds, b, fit.rows)
        anchors.append(_anchors(fit.rows, counts))
        if fit.learns:
            again = replace(
                blocks,
                classes=[_drawn(one, n) for one, n in zip(blocks.classes, counts, strict=True)],
                offsets=[
                    _with_anchors(one, Z, offsets, anchors[-1])
                    for one, Z in zip(bare, mapped, strict=True)
                ],
            )
            loss = Objective(work.critic, again, work.l2)
            draws[b] = newton(loss, fit.theta, tol=1e-5, max_iter=50).theta
    return BootstrapPosterior(fit, draws, anchors, seeds)


class BootstrapPosterior(Posterior):
    """Parameters and anchors of fits to rows drawn again; see :func:`bootstrap`.

    Attributes
    ----------
    anchors : list of list
        Anchors of the learned classes, for every fit.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus import uncertainty
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, 300), rng.normal(1, 1, 300))
    >>> mdre = isthmus.MDRE(
    ...     critic="quadratic", anchor="gaussian", maps=None, l2=5.0, random_state=0
    ... )
    >>> fits = uncertainty.bootstrap(mdre.fit(X, y), replicates=5, random_state=0)
    >>> type(fits).__name__, fits.log_ratio([0.5], return_std=True)[1].shape
    ('BootstrapPosterior', (1,))
    """

    def __init__(
        self, fit: Fit, draws: Array, anchors: list[list[Any]], seeds: Seeds, first: int = 0
    ) -> None:
        super().__init__(fit, draws, "bootstrap")
        self.anchors, self._seeds, self._first = anchors, seeds, first

    def counts(self, replicate: int) -> tuple[Array, Array]:
        """How often each row of p and of q was drawn for one of the fits."""
        p, q = _counts(self._seeds, self._first + replicate, self.fit.rows)[:2]
        return p, q

    def some(self, which: slice) -> BootstrapPosterior:
        """The same with some of the fits."""
        first = self._first + (which.start or 0)
        return BootstrapPosterior(
            self.fit, self.draws[which], self.anchors[which], self._seeds, first
        )

    def _known(self, X: Array, Z: Array, pair: tuple[int, int]) -> Array:
        """The part that does not depend on the parameters, for every fit, shape (S, n)."""
        offsets = self.fit.model.offsets
        out = np.tile(super()._known(X, Z, pair), (len(self.draws), 1))
        for place, sign in learned_pair(offsets, pair) if offsets.anchors else []:
            base = _unbiased(offsets.anchors[place], Z)
            for own, anchors in zip(out, self.anchors, strict=True):
                own += sign * (_unbiased(anchors[place], Z) - base)
        return out


def _counts(seeds: Seeds, replicate: int, rows: ClassRows) -> list[Array]:
    """How often each row of each class is drawn; made again rather than kept."""
    rng, sizes = seeds(f"replicate {replicate}"), [len(sample) for sample in rows.given]
    return [np.bincount(rng.integers(n, size=n), minlength=n).astype(float) for n in sizes]


def _drawn(sample: Sample, counts: Array) -> Sample:
    """The sample with rows drawn so often, and its total weight."""
    weight = sample.weight * counts
    return Sample(sample.rows, weight * (sample.weight.sum() / weight.sum()))


def _with_anchors(
    offset: Array, Z: Array, offsets: Offsets, anchors: Sequence[Any], sign: float = 1.0
) -> Array:
    """Offsets at rows with anchors added, or taken off."""
    out = np.array(offset, order="F")
    for c, anchor in zip(offsets.learned, anchors, strict=False):
        out[:, c] += sign * anchor.score_samples(Z)
    return out


def _anchors(rows: ClassRows, counts: list[Array]) -> list[Any]:
    """Anchors of the learned classes, fitted to rows that were drawn so often."""
    offsets, spec = rows.offsets, rows.settings.anchor
    if not offsets.anchors:
        return []
    drawn = [np.repeat(np.arange(len(n)), n.astype(int)) for n in counts]
    out = fit_anchors(spec, rows.inside.take(drawn[0], drawn[1]), offsets.where)
    for c in offsets.learned[2:]:
        # As in the fit: from the anchors of p and q, or from the auxiliary's rows.
        own = mixed_anchor(offsets.auxiliaries[c - 2], offsets.where, out)
        if own is None:
            own = auxiliary_anchor(spec, rows.mapped[c].take(drawn[c]))
        out.append(own)
    return out


def _unbiased(anchor: Any, Z: Array) -> Array:
    return np.asarray(anchor.score_samples(Z) - getattr(anchor, "bias_", 0.0))
