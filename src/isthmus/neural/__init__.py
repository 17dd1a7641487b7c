"""Everything that needs torch: one training loop, and the networks that it trains."""

from ._torch import require_torch, seeded
from .batches import ClassBatches, Standard, distinct
from .bridges import Bridges, fit_bridges
from .networks import apply_stacked, evaluate, mlp, stacked_mlps
from .training import Trained, Training, train

__all__ = [
    "Bridges",
    "ClassBatches",
    "Standard",
    "Trained",
    "Training",
    "apply_stacked",
    "distinct",
    "evaluate",
    "fit_bridges",
    "mlp",
    "require_torch",
    "seeded",
    "stacked_mlps",
    "train",
]
