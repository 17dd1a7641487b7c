"""How much what was made of one column differs by itself."""

from __future__ import annotations

from ..data.margins import jensen_shannon, level_codes
from .evidence import Compared


def marginal_divergence(comparison: Compared, block: slice) -> tuple[float, float]:
    """Jensen-Shannon divergence of a block of columns by itself, and its standard error."""
    kept, samples = comparison.kept, comparison.samples
    code = level_codes(kept.p[:, block], kept.q[:, block])
    weights = samples.p.weight[kept.at_p], samples.q.weight[kept.at_q]
    return jensen_shannon(code[: len(kept.p)], code[len(kept.p) :], *weights)
