"""Two samples that are read in parts: a comparison of a sample of them, then of all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.engine import Engine
from ..data.sample import Sample, TwoSamples, bounded_rows
from ..data.seeds import Seeds
from ..data.source import Source
from ..data.telling import tell
from ..functionals import get_divergence
from ..settings import Call
from ..tables.door import Door
from ..tables.frames import TableEncoder
from ..typing import IntArray
from .all_rows import fit_all_rows
from .fitting import Drawn
from .judged import JudgedRatios
from .passes import Passes, Report
from .pieces import Pieces
from .sampling import DRAWN_ROWS, Keep, sample_rows

_MUCH = 0.1
"""Share of a divergence that it must be larger by, to be told."""

Compare = Callable[..., Any]
"""From samples, an encoder and what was given of them to a comparison in memory."""


def compare_sources(
    sources: tuple[Source, Source],
    weights: tuple[str | None, str | None],
    call: Call,
    engine: Engine,
    compare: Compare,
    report: Report,
    labels: tuple[str, str] = ("p", "q"),
    door: Door | None = None,
    *,
    missing: bool = False,
) -> Any:
    """Compare two samples that are read in parts, again for every pass.

    Parameters
    ----------
    sources : pair of Source
    weights : pair of str or None
        Columns that hold the weights of rows.
    call : Call
    engine : Engine
    compare : callable
        Compares samples in memory: ``compare(samples, encoder, given_p, given_q)``.
    report : callable
        Told of every pass.
    labels : pair of str
        What messages call the samples.
    door : Door, optional
        What messages call the arguments.
    missing : bool
        Whether arrays may hold NaN.

    Returns
    -------
    Comparison
    """
    passes = Passes(engine, sources, report)
    if sources[0].names is None:
        found, numbers, more, pieces = _arrays(sources, passes, compare, missing)
    else:
        encoder = TableEncoder(
            call.columns,
            call.drop,
            keep=call.keep,
            missing=call.missing,
            dates=call.dates,
            labels=labels,
            door=door,
        )
        found, numbers, more, pieces = _tables(sources, weights, encoder, passes, compare)
    first, second = (replace(one, projection=found.projection) for one in pieces)
    if found.projection is not None:
        more = more.map(found.projection)
    drawn = Drawn(found.samples, numbers, (first, second), Seeds(call.random_state), more)
    estimator, crossfit, all_rows = fit_all_rows(found.estimator, found.crossfit, drawn, passes)
    binned = all_rows.binned
    against = binned.misfit if isinstance(binned, JudgedRatios) else 0.0
    if against > _MUCH * abs(binned.value(get_divergence("kl"))):
        tell(
            "All rows together contradict the fitted ratio: under it some column would be "
            f"distributed otherwise, and KL(p, q) is larger by {against:.2g} nats or more. "
            "Intervals reach over that.",
            UserWarning,
            stacklevel=5,
        )
    return replace(found, estimator=estimator, crossfit=crossfit, all_rows=all_rows)


_Begun = tuple[Any, tuple[IntArray, IntArray], TwoSamples, list[Pieces]]
"""A comparison of a sample, the numbers of its rows, further rows that were drawn, and what reads
all rows as it did these."""


def _arrays(
    sources: tuple[Source, Source], passes: Passes, compare: Compare, missing: bool
) -> _Begun:
    pieces = [Pieces(one.label, one.n_columns, missing=missing) for one in sources]
    most = sample_rows(sources[0].n_columns)
    looks = [
        Keep.of(own, one.rows, max(most, DRAWN_ROWS))
        for own, one in zip(pieces, sources, strict=True)
    ]
    (p, more_p), (q, more_q) = (
        kept.parted(bounded_rows(one.rows, most))
        for kept, one in zip(passes("first look", looks), sources, strict=True)
    )
    found = compare(TwoSamples(p.sample, q.sample), None, None, None)
    return found, (p.numbers, q.numbers), TwoSamples(more_p.sample, more_q.sample), pieces


def _tables(
    sources: tuple[Source, Source],
    weights: tuple[str | None, str | None],
    encoder: TableEncoder,
    passes: Passes,
    compare: Compare,
) -> _Begun:
    with passes.told("first look") as engine:
        learned = encoder.fit_sources(*sources, engine, weights)
    passes.count += bool(learned.complete)
    # The command line has a table of them.
    for note in () if encoder.door.command else encoder.notes():
        tell(note, UserWarning, stacklevel=6)
    most = sample_rows(len(encoder.feature_names_))
    drawn = [one.drawn for one in (learned.p, learned.q)]
    at = [one.counting(most) for one in drawn]
    rest = [
        one.take(np.setdiff1d(np.flatnonzero(one.weight > 0), own))
        for one, own in zip(drawn, at, strict=True)
    ]
    more = TwoSamples.both(Sample(encoder.sampled(one), one.weight) for one in rest)
    encoder.bounded(*at)
    p, q = (one.take(places) for one, places in zip(drawn, at, strict=True))
    samples = TwoSamples(Sample(encoder.sampled(p), p.weight), Sample(encoder.sampled(q), q.weight))
    found = compare(samples, encoder, _as_given(p.columns), _as_given(q.columns))
    pieces = []
    for k, (source, weight) in enumerate(zip(sources, weights, strict=True)):
        pieces.append(Pieces(source.label, source.n_columns, encoder, weight))
        names = encoder.sources if weight is None else (*encoder.sources, weight)
        passes.sources[k] = source.only(names)
    return found, (p.places, q.places), more, pieces


def _as_given(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of the rows that are kept: numbers, days of dates, and levels as text."""
    return {name: column.values for name, column in columns.items() if column.kind != "other"}
