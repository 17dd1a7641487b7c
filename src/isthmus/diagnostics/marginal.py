"""How much what was made of one column differs by itself."""

from __future__ import annotations

from ..data.kept import KeptRows
from ..data.margins import difference, jensen_shannon, level_codes
from ..data.sample import TwoSamples
from ..tables.margins import Margin
from .evidence import Compared


def array_margins(samples: TwoSamples) -> tuple[Margin, ...]:
    """How much each column of two arrays differs by itself."""
    kept = KeptRows.of(samples)
    weights = samples.p.weight[kept.at_p], samples.q.weight[kept.at_q]
    out = []
    for j in range(samples.n_columns):
        code = level_codes(kept.p[:, j : j + 1], kept.q[:, j : j + 1])
        name = "x" if samples.n_columns == 1 else f"x{j}"
        out.append(Margin(name, *difference(code[: len(kept.p)], code[len(kept.p) :], *weights)))
    return tuple(out)


def marginal_divergence(comparison: Compared, block: slice) -> tuple[float, float]:
    """Jensen-Shannon divergence of a block of columns by itself, and its standard error."""
    kept, samples = comparison.kept, comparison.samples
    code = level_codes(kept.p[:, block], kept.q[:, block])
    weights = samples.p.weight[kept.at_p], samples.q.weight[kept.at_q]
    return jensen_shannon(code[: len(kept.p)], code[len(kept.p) :], *weights)
