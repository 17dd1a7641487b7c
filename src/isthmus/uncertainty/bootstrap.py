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
from ..model.rows import ClassRows, auxiliary_anchor
from ..model.solvers import newton
from ..typing import Array, RandomState
from .influence import is_small
from .posterior import Posterior, own_offsets
from .tabulated import tabulated
from .target import Fit, fit_of


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
    objective, offsets = fit.objective, fit.rows.offsets
    learns = len(mdre.solution_.theta) > 0
    work = tabulated(objective) if learns and is_small(objective) else objective
    blocks = work.blocks
    if not isinstance(blocks, MemoryBlocks):
        raise ValueError("bootstrap needs rows in memory; received a stream of them.")
    mapped = [sample.rows for sample in fit.rows.mapped]
    bare: list[Array] = []
    if learns:
        # What the anchors leave of the offsets does not change.
        bare = [
            _changed(one, Z, offsets, -1.0) for one, Z in zip(blocks.offsets, mapped, strict=True)
        ]
    seeds = Seeds(Seeds(random_state)("bootstrap"))
    sizes = [len(Z) for Z in mapped]
    draws, anchors = np.empty((replicates, len(fit.theta))), []
    for b in range(replicates):
        counts = _counts(seeds, b, sizes)
        anchors.append(_anchors(fit.rows, counts))
        draws[b] = fit.theta
        if learns:
            own = replace(offsets, anchors=tuple(anchors[-1]))
            again = replace(
                blocks,
                classes=[
                    _drawn(sample, n) for sample, n in zip(blocks.classes, counts, strict=True)
                ],
                offsets=[_changed(one, Z, own, 1.0) for one, Z in zip(bare, mapped, strict=True)],
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
    """

    def __init__(
        self, fit: Fit, draws: Array, anchors: list[list[Any]], seeds: Seeds, first: int = 0
    ) -> None:
        super().__init__(fit.mdre, fit.objective.critic, draws, "bootstrap")
        self.anchors = anchors
        self._fit, self._seeds, self._first = fit, seeds, first

    def counts(self, replicate: int) -> tuple[Array, Array]:
        """How often each row of p and of q was drawn for one of the fits."""
        sizes = [len(sample) for sample in self._fit.rows.given]
        p, q = _counts(self._seeds, self._first + replicate, sizes)[:2]
        return p, q

    def some(self, which: slice) -> BootstrapPosterior:
        """The same with some of the fits."""
        first = self._first + (which.start or 0)
        return BootstrapPosterior(
            self._fit, self._draws[which], self.anchors[which], self._seeds, first
        )

    def _known(self, X: Array, Z: Array, pair: tuple[int, int]) -> Array:
        offsets = own_offsets(self.model)
        fit = offsets(X, Z) - offsets.bias
        out = np.tile(fit[:, pair[0]] - fit[:, pair[1]], (len(self._draws), 1))
        learned = list(offsets.learned)
        for c, sign in zip(pair, (1.0, -1.0), strict=True):
            if c not in learned or not offsets.anchors:
                continue
            place = learned.index(c)
            base = _unbiased(offsets.anchors[place], Z)
            for own, anchors in zip(out, self.anchors, strict=True):
                own += sign * (_unbiased(anchors[place], Z) - base)
        return out

    def _learned(self, Z: Array, pair: tuple[int, int]) -> Array:
        if not len(self.model.solution_.theta):
            return np.zeros((len(self._draws), len(Z)))
        return super()._learned(Z, pair)


def _counts(seeds: Seeds, replicate: int, sizes: Sequence[int]) -> list[Array]:
    """How often each row of each class is drawn; made again rather than kept."""
    rng = seeds(f"replicate {replicate}")
    return [np.bincount(rng.integers(n, size=n), minlength=n).astype(float) for n in sizes]


def _drawn(sample: Sample, counts: Array) -> Sample:
    """The sample with rows drawn so often, and its total weight."""
    weight = sample.weight * counts
    return Sample(sample.rows, weight * (sample.weight.sum() / weight.sum()))


def _changed(offset: Array, Z: Array, offsets: Any, sign: float) -> Array:
    """Offsets with the anchors added or taken off."""
    out = np.array(offset, order="F")
    for c, anchor in zip(offsets.learned, offsets.anchors, strict=False):
        out[:, c] += sign * anchor.score_samples(Z)
    return out


def _anchors(rows: ClassRows, counts: list[Array]) -> list[Any]:
    """Anchors of the learned classes, fitted to rows that were drawn so often."""
    offsets, spec = rows.offsets, rows.settings.anchor
    if not offsets.anchors:
        return []
    drawn = [np.repeat(np.arange(len(n)), n.astype(int)) for n in counts]
    both = rows.inside.take(drawn[0], drawn[1])
    out = fit_anchors(spec, both, offsets.where)
    for c in offsets.learned[2:]:
        # As in the fit: from the anchors of p and q, or from the auxiliary's rows.
        own = mixed_anchor(offsets.auxiliaries[c - 2], offsets.where, out)
        out.append(own or auxiliary_anchor(spec, rows.mapped[c].take(drawn[c])))
    return out


def _unbiased(anchor: Any, Z: Array) -> Array:
    return np.asarray(anchor.score_samples(Z) - getattr(anchor, "bias_", 0.0))
