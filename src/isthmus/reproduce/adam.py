"""MDRE as the paper trained it in many columns: Adam on small batches, for a number of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax, softmax

from ..auxiliaries import fit_auxiliary, resolve_auxiliaries
from ..data.holdout import split_rows
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..estimator import RatioEstimator
from ..typing import Array

_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_HELD = 0.1


class MDREByAdam(RatioEstimator):
    """Multinomial regression on quadratic forms, by steps of Adam.

    The critic of class c is that of the authors' code, ::

        h_c(x) = -½ |W_c' (x - mu_c)|^2 + b_c,

    a negative semi-definite form with its centre, which starts from W = I, mu = 0 and
    b = 0, the same for every class. The objective is not convex in W and nothing is
    waited for: after ``steps`` steps training ends, as the paper's did.

    Mixed rows are made anew for every batch of ``batch_size`` rows of each class, and the rate
    ``lr`` falls to zero along half a cosine. ``held_out_`` is the mean log-probability of the
    true class of a tenth of the rows, kept from training.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.auxiliaries import LinearMixing
    >>> rng = np.random.default_rng(0)
    >>> X, y = isthmus.stack(rng.normal(0, 1, (2000, 2)), rng.normal(1, 1, (2000, 2)))
    >>> model = MDREByAdam(LinearMixing([0.5]), steps=500, random_state=0).fit(X, y)
    >>> model.log_ratio([[0.0, 0.0], [1.0, 1.0]]).round()  # truth: 1 and -1
    array([ 1., -1.])
    """

    def __init__(
        self,
        auxiliaries: Any,
        *,
        steps: int = 2000,
        batch_size: int = 100,
        lr: float = 0.01,
        random_state: Any = None,
    ) -> None:
        self.auxiliaries = auxiliaries
        self.steps = steps
        self.batch_size = batch_size
        self.lr = lr
        self.random_state = random_state

    def learn(self, samples: TwoSamples, seeds: Seeds) -> None:
        rng = seeds("adam")
        splits = [split_rows(len(one), rng, _HELD, len(one)) for one in samples]
        both = list(zip(samples, splits, strict=True))
        draws = self._classes(TwoSamples.both(one.take(split.train) for one, split in both))
        classes, d = len(draws), samples.n_columns
        W = np.tile(np.eye(d, dtype=np.float32), (classes, 1, 1))
        parameters = [W, np.zeros((classes, d), np.float32), np.zeros(classes, np.float32)]
        moments = [(np.zeros_like(one), np.zeros_like(one)) for one in parameters]
        label = np.repeat(np.eye(classes, dtype=np.float32), self.batch_size, axis=0)
        for step in range(1, self.steps + 1):
            batch = [draw.sample(self.batch_size, rng) for draw in draws]
            X = np.concatenate(batch).astype(np.float32)
            rate = 0.5 * self.lr * (1 + np.cos(np.pi * step / self.steps))
            for one, gradient, (first, second) in zip(
                parameters, gradients(parameters, X, label), moments, strict=True
            ):
                first += (1 - _BETAS[0]) * (gradient - first)
                second += (1 - _BETAS[1]) * (gradient**2 - second)
                ahead = first / (1 - _BETAS[0] ** step)
                scale = np.sqrt(second / (1 - _BETAS[1] ** step)) + _EPSILON
                one -= rate * ahead / scale
        self.W_, self.centre_, self.offset_ = (one.astype(np.float64) for one in parameters)
        held = self._classes(TwoSamples.both(one.take(split.held) for one, split in both))
        log_proba = [
            log_softmax(self._critics(part.sample(1000, rng)), axis=1)[:, c].mean()
            for c, part in enumerate(held)
        ]
        self.held_out_ = float(np.mean(log_proba))

    def _classes(self, samples: TwoSamples) -> list[Any]:
        """What draws rows of p, q and the auxiliaries."""
        made = resolve_auxiliaries(self.auxiliaries, samples.n_columns)
        return [*map(_Rows, samples), *(fit_auxiliary(one, samples) for one in made)]

    def _critics(self, rows: Array) -> Array:
        spread = [(rows - m) @ W for W, m in zip(self.W_, self.centre_, strict=True)]
        h = np.stack([-0.5 * (v**2).sum(axis=1) for v in spread], axis=1)
        return np.asarray(h + self.offset_)

    def evaluate(self, rows: Array) -> Array:
        h = self._critics(rows)
        return np.asarray(h[:, 0] - h[:, 1])


class _Rows:
    """Rows of a sample, drawn with replacement."""

    def __init__(self, sample: Sample) -> None:
        self.rows = sample.rows

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return np.asarray(self.rows[rng.integers(len(self.rows), size=n)])


def gradients(parameters: list[Any], X: Any, label: Any) -> list[Any]:
    """Gradients of the mean cross-entropy in W, centres and offsets."""
    W, centre, offset = parameters
    classes, d, _ = W.shape
    # All classes in one product.
    spread = (X @ W.transpose(1, 0, 2).reshape(d, -1)).reshape(len(X), classes, d)
    spread -= np.einsum("cd,cde->ce", centre, W)
    logit = offset - 0.5 * np.einsum("ncd,ncd->nc", spread, spread)
    rest = (softmax(logit, axis=1) - label) / len(X)
    spread *= rest[:, :, None]
    total = spread.sum(axis=0)
    of_W = (X.T @ spread.reshape(len(X), -1)).reshape(d, classes, d).transpose(1, 0, 2)
    of_W = centre[:, :, None] * total[:, None, :] - of_W
    return [of_W, np.einsum("cde,ce->cd", W, total), rest.sum(axis=0)]
