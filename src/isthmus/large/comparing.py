"""Two samples that are read in parts: a comparison of a sample of them, then of all rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..data.engine import Engine
from ..data.sample import Sample, TwoSamples
from ..data.seeds import Seeds
from ..data.source import Source
from ..data.telling import tell
from ..settings import Call
from ..tables.door import Door
from ..tables.frames import TableEncoder
from ..typing import IntArray
from .fitting import Drawn, fit_all_rows
from .passes import Passes, Report
from .pieces import Pieces
from .sampling import Keep, sample_rows

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
        found, numbers, pieces = _arrays(sources, passes, compare, missing)
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
        found, numbers, pieces = _tables(sources, weights, encoder, passes, compare)
    first, second = (replace(one, projection=found.projection) for one in pieces)
    drawn = Drawn(found.samples, numbers, (first, second), Seeds(call.random_state))
    estimator, all_rows = fit_all_rows(found.estimator, found.crossfit, drawn, passes)
    return replace(found, estimator=estimator, all_rows=all_rows)


_Begun = tuple[Any, tuple[IntArray, IntArray], list[Pieces]]
"""A comparison of a sample, the numbers of its rows, and what reads all rows as it did these."""


def _arrays(
    sources: tuple[Source, Source], passes: Passes, compare: Compare, missing: bool
) -> _Begun:
    pieces = [Pieces(one.label, one.n_columns, missing=missing) for one in sources]
    looks = [Keep.of(own, one.rows) for own, one in zip(pieces, sources, strict=True)]
    p, q = passes("first look", looks)
    found = compare(TwoSamples(p.sample, q.sample), None, None, None)
    return found, (p.numbers, q.numbers), pieces


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
    encoder.bounded(*at)
    p, q = (one.take(places) for one, places in zip(drawn, at, strict=True))
    samples = TwoSamples(Sample(encoder.sampled(p), p.weight), Sample(encoder.sampled(q), q.weight))
    found = compare(samples, encoder, _as_given(p.columns), _as_given(q.columns))
    pieces = []
    for k, (source, weight) in enumerate(zip(sources, weights, strict=True)):
        pieces.append(Pieces(source.label, source.n_columns, encoder, weight))
        names = encoder.sources if weight is None else (*encoder.sources, weight)
        passes.sources[k] = source.only(names)
    return found, (p.places, q.places), pieces


def _as_given(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of the rows that are kept: numbers, days of dates, and levels as text."""
    return {name: column.values for name, column in columns.items() if column.kind != "other"}
