"""isthmus: the ratio of two densities from two samples, also when they are far apart.

>>> import numpy as np, isthmus
>>> rng = np.random.default_rng(0)
>>> c = isthmus.compare(rng.normal(0, 1, 2000), rng.normal(1, 1, 2000), random_state=0)
>>> bool(c.kl.low < 0.5 < c.kl.high)
True
"""

from . import auxiliaries, baselines, bayes, critics, functionals, plots, problems
from ._sample import stack
from ._version import __version__
from .compare import compare
from .comparison import Comparison
from .diagnostics import Check, two_sample_test
from .functionals import Estimate
from .mdre import MDRE

__all__ = [
    "MDRE",
    "Check",
    "Comparison",
    "Estimate",
    "__version__",
    "auxiliaries",
    "baselines",
    "bayes",
    "compare",
    "critics",
    "functionals",
    "plots",
    "problems",
    "stack",
    "two_sample_test",
]
