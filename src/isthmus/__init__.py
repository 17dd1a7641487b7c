"""isthmus: the ratio of two densities from two samples, also when they are far apart.

>>> import numpy as np, isthmus
>>> rng = np.random.default_rng(0)
>>> c = isthmus.compare(rng.normal(0, 1, 2000), rng.normal(1, 1, 2000), random_state=0)
>>> bool(c.kl.low < 0.5 < c.kl.high)
True
"""

from importlib import import_module

from ._version import __version__

# What type checkers take for true. From `typing` it would be that of the current directory, if a
# file of that name lies there: `python -m isthmus` cannot look elsewhere before it runs.
TYPE_CHECKING = False
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
        shifted,
        uncertainty,
    )
    from .comparing import compare
    from .comparison import Comparison
    from .data.validation import stack
    from .diagnostics import Check, two_sample_test
    from .drifting import Drift, Reference, drift, drift_reference
    from .functionals import Estimate
    from .information import (
        Information,
        InformationMatrix,
        InformationRanking,
        mi_matrix,
        mi_ranking,
        mi_scores,
        mutual_information,
    )
    from .mdre import MDRE
    from .shifted import ShiftedConformal, ShiftedScore, ShiftWeighted, shifted_score
    from .stacked import StackedMDRE
    from .storing import ModelFileError, SavedComparison, load
    from .storing.scoring import score
    from .weighting import WeightingError, Weights, audit_weights, importance_weights

_PLACES = {
    "MDRE": "mdre",
    "StackedMDRE": "stacked",
    "Check": "diagnostics",
    "Comparison": "comparison",
    "Drift": "drifting",
    "Estimate": "functionals",
    "Information": "information",
    "InformationMatrix": "information",
    "InformationRanking": "information",
    "ModelFileError": "storing",
    "Reference": "drifting",
    "SavedComparison": "storing",
    "ShiftWeighted": "shifted",
    "ShiftedConformal": "shifted",
    "ShiftedScore": "shifted",
    "WeightingError": "weighting",
    "Weights": "weighting",
    "audit_weights": "weighting",
    "compare": "comparing",
    "drift": "drifting",
    "drift_reference": "drifting",
    "importance_weights": "weighting",
    "load": "storing",
    "mi_matrix": "information",
    "mi_ranking": "information",
    "mi_scores": "information",
    "mutual_information": "information",
    "score": "storing.scoring",
    "shifted_score": "shifted",
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
    "InformationMatrix",
    "InformationRanking",
    "ModelFileError",
    "Reference",
    "SavedComparison",
    "ShiftWeighted",
    "ShiftedConformal",
    "ShiftedScore",
    "StackedMDRE",
    "WeightingError",
    "Weights",
    "__version__",
    "audit_weights",
    "auxiliaries",
    "baselines",
    "compare",
    "critics",
    "drift",
    "drift_reference",
    "functionals",
    "importance_weights",
    "information",
    "load",
    "mi_matrix",
    "mi_ranking",
    "mi_scores",
    "mutual_information",
    "plots",
    "problems",
    "score",
    "separable",
    "shifted",
    "shifted_score",
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
