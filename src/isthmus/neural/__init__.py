"""Everything that needs torch: one training loop, and the networks that it trains."""

from .batches import ClassBatches, Standard, distinct
from .bridges import Bridges, fit_bridges
from .lazy_torch import require_torch, seeded
from .networks import apply_stacked, evaluate, mlp, stacked_mlps
from .residual import ClassInputs, Residual, fit_residual
from .training import Trained, Training, train

__all__ = [
    "Bridges",
    "ClassBatches",
    "ClassInputs",
    "Residual",
    "Standard",
    "Trained",
    "Training",
    "apply_stacked",
    "distinct",
    "evaluate",
    "fit_bridges",
    "fit_residual",
    "mlp",
    "require_torch",
    "seeded",
    "stacked_mlps",
    "train",
]
