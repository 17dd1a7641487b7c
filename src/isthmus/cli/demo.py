"""The embedded example: two samples so far apart that a classifier learns nothing of their ratio.

p = N(-1, 0.08) and q = N(2, 0.15), the first row of the paper's Table 1. Every
threshold between them separates the samples, so a classifier has no reason to
prefer the true log-ratio to any other; how steep it ends up is an accident of
its penalty and of when it stops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..typing import Array
from .terminal import ProgressCallback

PROBLEM = "table1/row1"
X_RANGE = (-3.0, 4.0)

WHY = (
    "No point of one sample lies anywhere near the other, so every steep enough curve separates "
    "them, and a classifier's slope says nothing about the ratio. isthmus adds samples of an "
    "auxiliary distribution that overlaps both, and learns the ratio across it."
)
SEEN = (
    "The true curve is a parabola, and isthmus lies on it, far outside the two samples as well. "
    "The classifier separates p from q without one mistake, and yet its curve is nearly flat on "
    "this scale."
)


@dataclass(frozen=True)
class Demo:
    """What the example found; the curves are log p/q over ``x``."""

    rows: int
    seed: int
    kl_true: float
    kl_binary: float
    comparison: Any
    x: Array
    true: Array
    binary: Array
    isthmus: Array

    def error(self, kl: float) -> float:
        """Relative error of a KL divergence."""
        return kl / self.kl_true - 1


def run(
    *,
    seed: int = 0,
    rows: int = 10_000,
    level: float = 0.95,
    progress: ProgressCallback | None = None,
) -> Demo:
    """Draw the two samples and estimate their ratio in both ways."""
    import isthmus
    from isthmus import problems

    problem = problems.load(PROBLEM)
    rng = np.random.default_rng(seed)
    p, q = problem.sample_p(rows, rng), problem.sample_q(rows, rng)
    x = np.linspace(*X_RANGE, 281)
    classifier = binary_classifier().fit(np.vstack([p, q]), np.repeat([1, 0], rows))
    comparison = isthmus.compare(p, q, random_state=seed, level=level, progress=progress)
    return Demo(
        rows=rows,
        seed=seed,
        kl_true=problem.kl,
        # Classes of equal size: the log-odds are the log-ratio.
        kl_binary=float(classifier.decision_function(p).mean()),
        comparison=comparison,
        x=x,
        true=problem.log_ratio(x[:, None]),
        binary=classifier.decision_function(x[:, None]),
        isthmus=comparison.log_ratio(x[:, None]),
    )


def binary_classifier() -> Any:
    """Make the best case for a binary classifier.

    The log-ratio of two normals is a parabola, so that quadratic features hold
    the truth. They are standardised before and after, the penalty is next to
    nothing and Newton's method runs until it has converged.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    return make_pipeline(
        StandardScaler(),
        PolynomialFeatures(2, include_bias=False),
        StandardScaler(),
        LogisticRegression(C=1e10, tol=1e-14, max_iter=10_000, solver="newton-cholesky"),
    )
