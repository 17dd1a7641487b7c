"""The least-squares fit of uLSIF and RuLSIF, and its loss over rows left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..typing import Array
from .kernel import L2S, KernelRatio, Sample, blocks, check_l2, gaussian, least, squares

# H of p, H of q and h of p, for every width.
Moments = tuple[Array, Array, Array]


class LeastSquares(KernelRatio):
    """The fit that both have in common; uLSIF has alpha = 0."""

    l2: Any

    @property
    def _alpha(self) -> float:
        return 0.0

    def check_parameters(self) -> None:
        super().check_parameters()
        check_l2(self.l2)

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        p, q = self._prepare(samples, seeds)
        self.l2s_ = L2S if isinstance(self.l2, str) else np.atleast_1d(np.asarray(self.l2, float))
        H_p, H_q, h = self._moments(p, q)
        i, j, self.scores_, self.score_errors_ = 0, 0, None, None
        if len(self.widths_) * len(self.l2s_) > 1:
            rng = seeds("judged")
            p, q = self._judged(p, rng), self._judged(q, rng)
            self.scores_, self.score_errors_ = self._left_out_scores((H_p, H_q, h), p, q)
            i, j = least(self.scores_, self.score_errors_)
        self.width_, self.l2_ = float(self.widths_[i]), float(self.l2s_[j])
        H = self._alpha * H_p[i] + (1.0 - self._alpha) * H_q[i]
        self.coef_ = np.maximum(np.linalg.solve(_ridged(H, self.l2_), h[i]), 0.0)

    def _moments(self, p: Sample, q: Sample) -> Moments:
        """Means of the kernels and of their products, for every width, in one pass."""
        k, b = len(self.widths_), len(self._centres)
        H_p, H_q, h = np.zeros((k, b, b)), np.zeros((k, b, b)), np.zeros((k, b))
        for sample, H, is_p in ((p, H_p, True), (q, H_q, False)):
            for part in blocks(len(sample.rows), b):
                square = squares(sample.rows[part], self._centres)
                share = sample.share[part]
                for i, width in enumerate(self.widths_):
                    K = gaussian(square, width)
                    if is_p:
                        h[i] += share @ K
                    if not is_p or self._alpha > 0:
                        K *= np.sqrt(share)[:, None]
                        H[i] += K.T @ K
        return H_p, H_q, h

    def _left_out_scores(self, moments: Moments, p: Sample, q: Sample) -> tuple[Array, Array]:
        """The loss of rows left out one at a time and its standard error, (n_widths, n_l2s).

        Without one row of q, H is H' = (n_q H_q - phi phi') / (n_q - 1) in q's part, and
        without one row of p likewise, h as well: changes of rank one, so that the
        solution of every row follows from one inverse (Sherman & Morrison). Negative
        coefficients are cut for each of them.
        """
        alpha = self._alpha
        shape = len(self.widths_), len(self.l2s_)
        score, variance = np.zeros(shape), np.zeros(shape)
        for sample, size, is_p in zip((p, q), self._sizes, (True, False), strict=True):
            more = 1.0 / max(size - 1.0, 0.5)
            weight = (alpha if is_p else 1.0 - alpha) * more
            # Of a row that stands for more than one, one is left out.
            gone = np.minimum(sample.share * size, 1.0)
            square = squares(sample.rows, self._centres)
            loss = np.empty(len(square))
            for i, width in enumerate(self.widths_):
                K = gaussian(square, width)
                H_p, H_q, h = (each[i] for each in moments)
                if is_p:
                    H_p, h = (1.0 + more) * H_p, (1.0 + more) * h
                else:
                    H_q = (1.0 + more) * H_q
                H = alpha * H_p + (1.0 - alpha) * H_q
                for j, l2 in enumerate(self.l2s_):
                    inverse = np.asarray(np.linalg.inv(_ridged(H, l2)), dtype=float)
                    for part in blocks(*K.shape):
                        drop = gone[part]
                        r = _left_out(K[part], inverse, h, weight * drop, more * drop * is_p)
                        loss[part] = 0.5 * alpha * r * r - r if is_p else 0.5 * (1 - alpha) * r * r
                    mean = sample.share @ loss
                    score[i, j] += mean
                    variance[i, j] += sample.share @ (loss - mean) ** 2 / sample.size
        return score, np.sqrt(variance)


def _ridged(H: Array, l2: float) -> Array:
    out = H.copy()
    out.flat[:: len(H) + 1] += l2
    return out


def _left_out(K: Array, inverse: Array, h: Array, weight: Array, share: Array) -> Array:
    """Ratio at each row, fitted without it, shape (n,).

    The fit without row i solves (H - weight_i phi phi') theta = h - share_i phi, with
    ``inverse`` the inverse of H and phi the row of K.
    """
    U = K @ inverse
    whole = inverse @ h
    own = np.einsum("ij,ij->i", K, U)
    # theta = whole + t U_i: both the change of h and the update of H lie along U_i.
    t = -share + weight * (K @ whole - share * own) / (1.0 - weight * own)
    U *= t[:, None]
    U += whole
    np.maximum(U, 0.0, out=U)
    return np.asarray(np.einsum("ij,ij->i", K, U))
