"""isthmus: the ratio of two densities from two samples, also when they are far apart.

>>> import numpy as np, isthmus
>>> rng = np.random.default_rng(0)
>>> c = isthmus.compare(rng.normal(0, 1, 2000), rng.normal(1, 1, 2000), random_state=0)
>>> bool(c.kl.low < 0.5 < c.kl.high)
True
"""

from . import auxiliaries, baselines, critics, functionals, plots, problems, uncertainty
from ._version import __version__
from .compare import compare
from .comparison import Comparison
from .data.validation import stack
from .diagnostics import Check, two_sample_test
from .functionals import Estimate
from .mdre import MDRE

_INFORMATION = ("Information", "mi_matrix", "mi_scores", "mutual_information")
_MODULES = ("information", "reproduce", "separable")

__all__ = [
    "MDRE",
    "Check",
    "Comparison",
    "Estimate",
    "Information",
    "__version__",
    "auxiliaries",
    "baselines",
    "compare",
    "critics",
    "functionals",
    "information",
    "mi_matrix",
    "mi_scores",
    "mutual_information",
    "plots",
    "problems",
    "reproduce",
    "separable",
    "stack",
    "two_sample_test",
    "uncertainty",
]


def __getattr__(name: str) -> object:
    # Only those who ask for these wait for them.
    if name in _MODULES or name in _INFORMATION:
        from importlib import import_module

        if name in _MODULES:
            return import_module(f".{name}", __name__)
        return getattr(import_module(".information", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
