"""isthmus: the ratio of two densities from two samples, also when they are far apart.

>>> import numpy as np, isthmus
>>> rng = np.random.default_rng(0)
>>> c = isthmus.compare(rng.normal(0, 1, 2000), rng.normal(1, 1, 2000), random_state=0)
>>> bool(c.kl.low < 0.5 < c.kl.high)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from . import (
        auxiliaries,
        baselines,
        critics,
        functionals,
        information,
        plots,
        problems,
        separable,
        uncertainty,
    )
    from .comparing import compare
    from .comparison import Comparison
    from .data.validation import stack
    from .diagnostics import Check, two_sample_test
    from .drifting import Drift, Reference, drift, drift_reference
    from .functionals import Estimate
    from .information import Information, mi_matrix, mi_scores, mutual_information
    from .mdre import MDRE
    from .stacked import StackedMDRE

_PLACES = {
    "MDRE": "mdre",
    "StackedMDRE": "stacked",
    "Check": "diagnostics",
    "Comparison": "comparison",
    "Drift": "drifting",
    "Estimate": "functionals",
    "Information": "information",
    "Reference": "drifting",
    "compare": "comparing",
    "drift": "drifting",
    "drift_reference": "drifting",
    "mi_matrix": "information",
    "mi_scores": "information",
    "mutual_information": "information",
    "stack": "data.validation",
    "two_sample_test": "diagnostics",
}

__all__ = [
    "MDRE",
    "Check",
    "Comparison",
    "Drift",
    "Estimate",
    "Information",
    "Reference",
    "StackedMDRE",
    "__version__",
    "auxiliaries",
    "baselines",
    "compare",
    "critics",
    "drift",
    "drift_reference",
    "functionals",
    "information",
    "mi_matrix",
    "mi_scores",
    "mutual_information",
    "plots",
    "problems",
    "separable",
    "stack",
    "two_sample_test",
    "uncertainty",
]


def __getattr__(name: str) -> object:
    # Only those who ask for a name wait for it: help of the command line needs no NumPy.
    try:
        module = import_module(f".{_PLACES.get(name, name)}", __name__)
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(module, name) if name in _PLACES else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
