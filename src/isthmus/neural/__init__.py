"""Everything that needs torch: one training loop, and the networks that it trains."""

from ._torch import require_torch, seeded
from .networks import mlp
from .training import Trained, Training, train

__all__ = ["Trained", "Training", "mlp", "require_torch", "seeded", "train"]
