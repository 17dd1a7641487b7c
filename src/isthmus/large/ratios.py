"""Every row's log-ratio by a fit that has not seen it, from one pass over the rows.

Rows outside the sample have not been seen by a fit to it, and those of the sample keep what fits
without them say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..crossfit import CrossFit
from ..data.sample import TwoSamples
from ..functionals.binned import Binned, BinnedRatios
from ..model.classes import ClassModel
from ..typing import Array, IntArray
from ..uncertainty.all_rows import AllRows
from .fitting import Drawn
from .judged import Counting, JudgedRatios, misfit
from .normals import log_ratio_of, shared_maps, unmapped
from .passes import Passes
from .scoring import Scoring

LogRatio = Callable[[Array], Array]


def by_groups(
    without: Sequence[ClassModel], names: tuple[str, ...], drawn: Drawn, passes: Passes
) -> AllRows:
    """Every row's log-ratio by the model that was fitted without its group."""
    moved = tuple(_pair(drawn.samples, one.log_ratio) for one in without)
    maps = shared_maps(without)
    rows = drawn.samples.p.rows if maps is None else maps(drawn.samples.p.rows)
    log_ratios = [log_ratio_of(one if maps is None else unmapped(one), rows) for one in without]
    p, q = scored_rows(passes, drawn, log_ratios, moved[0], maps=maps)
    binned = JudgedRatios(p.binned, q.binned, misfit(p.counts, q.counts))
    return AllRows(binned, passes.count, names, moved)


def unseen(log_ratio: LogRatio, crossfit: CrossFit, drawn: Drawn, passes: Passes) -> JudgedRatios:
    """Log-ratios of all rows: of those outside the sample by a fit to it, of its own by folds."""
    ratios = crossfit.log_ratio_p, crossfit.log_ratio_q
    return together(crossfit, drawn, scored_rows(passes, drawn, [log_ratio], ratios, drawn.numbers))


def together(crossfit: CrossFit, drawn: Drawn, scored: Sequence[Any]) -> JudgedRatios:
    """Rows outside the sample, of p and of q, with those of the sample."""
    ratios = crossfit.log_ratio_p, crossfit.log_ratio_q
    of_sample = [
        Binned.of(ratio, sample.weight if sample.weighted else None)
        for ratio, sample in zip(ratios, drawn.samples, strict=True)
    ]
    p, q = (
        own if one is None else own + one.binned for own, one in zip(of_sample, scored, strict=True)
    )
    # Where one sample has no row outside, nothing says more than the checks of the sample do.
    whole = any(one is None for one in scored)
    off = 0.0 if whole else misfit(*(one.counts for one in scored))
    return JudgedRatios(p, q, off, BinnedRatios(*of_sample))


def scored_rows(
    passes: Passes,
    drawn: Drawn,
    log_ratios: Sequence[LogRatio],
    of_sample: tuple[Array, Array],
    seen: tuple[IntArray | None, IntArray | None] = (None, None),
    maps: LogRatio | None = None,
) -> list[Any]:
    """The last pass: log-ratios of p and of q in bins; None where all rows of one are seen."""
    p, q = (source.rows for source in passes.sources)
    counting = Counting.both(drawn.samples, of_sample, (p, q))
    tasks = [
        Scoring(own, log_ratios, at, count, maps)
        for own, at, count in zip(drawn.pieces, seen, counting, strict=True)
    ]
    return passes("divergences", tasks)


def _pair(samples: TwoSamples, log_ratio: LogRatio) -> tuple[Array, Array]:
    p, q = (log_ratio(sample.rows) for sample in samples)
    return p, q
