"""Bumps on rows of the samples: critics of any shape in few dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ..data.validation import check_number
from ..typing import Array
from .features import FeatureCritic


class Bumps(FeatureCritic):
    """Critic of normal-shaped bumps ``exp(-|z - z_k|^2 / 2 w^2)`` on rows of p and of q.

    Half of the bumps lie on rows of p and are measured in the frame of p, the
    others in that of q, so that an affine map of the data changes nothing. The
    width w is ``width`` times the median distance between the centres of one
    class. All classes have the same features, standardised over the centres. For
    up to about ten dimensions.

    Parameters
    ----------
    n_centres : int, default 200
        Number of bumps.
    width : float, default 0.5
        Width of the bumps, in median distances.

    Notes
    -----
    A critic that has :meth:`place` is shown the rows of all classes before it is
    bound: ``critic.place(rows, rng).bind(frames)``.

    Examples
    --------
    >>> import numpy as np
    >>> from isthmus.critics import Bumps, Frame
    >>> rng = np.random.default_rng(0)
    >>> rows = [rng.normal(size=(500, 2)), rng.normal(size=(500, 2))]
    >>> critic = Bumps(50).place(rows, rng).bind([Frame(np.zeros(2), np.eye(2))] * 2)
    >>> critic.basis(rows[0])[1].shape
    (500, 50)
    """

    def __init__(self, n_centres: int = 200, width: float = 0.5) -> None:
        self.n_centres = n_centres
        self.width = width

    def place(self, rows: Sequence[Array], rng: np.random.Generator) -> Bumps:
        """Return a copy with centres drawn from the rows of p and of q, the first of ``rows``."""
        check_number(self.n_centres, "n_centres", low=4, integer=True)
        check_number(self.width, "width", low=0, open_low=True, open_high=True)
        placed = copy(self)
        counts = [self.n_centres - self.n_centres // 2, self.n_centres // 2]
        placed.rows_ = [
            part[rng.choice(len(part), min(count, len(part)), replace=False)]
            for part, count in zip(rows[:2], counts, strict=True)
        ]
        return placed

    def prepare(self) -> None:
        """Find the width and the standardisation of the bumps."""
        if not hasattr(self, "rows_"):
            raise ValueError("Bumps must be placed before it is bound: use place(rows, rng).")
        pairs = zip(self.frames_, self.rows_, strict=False)
        self.centres_ = [frame.standard(part) for frame, part in pairs]
        self.variance_ = [(self.width * _median_distance(part)) ** 2 for part in self.centres_]
        heights = self._heights(np.concatenate(self.rows_))
        spread = heights.std(axis=0)
        self.mean_, self.sd_ = heights.mean(axis=0), np.where(spread > 0, spread, 1.0)

    def basis(self, X: Array) -> list[Array]:
        """The same features for every learned class, shape (n, n_centres)."""
        heights = self._heights(X)
        heights -= self.mean_
        heights /= self.sd_
        return [heights] * len(self.frames_)

    def _heights(self, X: Array) -> Array:
        out = []
        bumps = zip(self.frames_, self.centres_, self.variance_, strict=False)
        for frame, centres, variance in bumps:
            Z = frame.standard(X)
            # Minus half the squared distances, by one matrix product.
            exponent = Z @ centres.T - 0.5 * (centres**2).sum(axis=1)
            exponent -= 0.5 * (Z**2).sum(axis=1)[:, None]
            exponent /= variance
            out.append(np.exp(exponent, out=exponent))
        return np.hstack(out)


def _median_distance(centres: Array) -> float:
    from scipy.spatial.distance import pdist

    return float(np.median(pdist(centres))) or 1.0
