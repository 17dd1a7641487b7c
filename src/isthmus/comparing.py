"""``compare(p, q)``: from two samples to log p/q, divergences and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .comparison import Comparison, GivenRows
from .crossfit import cross_fit, own
from .data.engine import Engine, engine_of
from .data.projection import Projection
from .data.reporting import Progress, Reporter
from .data.sample import TwoSamples
from .data.seeds import Seeds
from .data.telling import tell
from .data.threads import limited_threads
from .data.validation import as_two_samples, as_weight, check_number
from .diagnostics.marginal import array_margins
from .large.opening import Opened, opened
from .maps.affine import check_varies
from .mdre import MDRE
from .model.classifier import is_classifier
from .settings import Call, is_auto
from .stacked import STAGES, StackedMDRE, fold_count
from .tables.columns import as_table, is_table
from .tables.door import Door
from .tables.frames import TableEncoder
from .tables.margins import Margin
from .tables.parts import date_parts
from .typing import RandomState

_DAYS = ("days",)
_LARGE_STAGES = STAGES + 4
"""Stages of a comparison of very many rows: the sample, and most often this many passes."""


def compare(
    p: Any,
    q: Any,
    *,
    estimator: Any = None,
    critic: Any = "auto",
    folds: int | None = None,
    level: float = 0.95,
    weight_p: Any = None,
    weight_q: Any = None,
    columns: Any = None,
    drop: Any = (),
    keep: Any = (),
    missing: str = "indicator",
    dates: Any = "days",
    random_state: RandomState = None,
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
    client: Any = None,
) -> Comparison:
    """Compare two samples.

    Two densities are fitted. Where they overlap, other candidates are fitted too and one regression
    weighs them all; where they do not, :class:`MDRE` with auxiliaries goes on from the densities.
    What was found is fitted to all rows, for new points. Divergences come from
    cross-fitting: each row's log-ratio is predicted by a model that has not seen
    it. ``rests_on`` of the result says what the answer rests on.

    Parameters
    ----------
    p, q : array-like or frame of shape (n, d) or (n,), path, dataset or batches
        Samples of the numerator and of the denominator. Frames (pandas, polars,
        pyarrow or a dict of columns) are taken as they are, matched by column name: dates become
        numbers of days, text and categories 0/1 columns, and what cannot help is left out
        with a reason. ``c.encoder.summary()`` says what was made of every column. A Parquet file
        or folder, a ``pyarrow`` dataset, a polars LazyFrame, a Dask frame or array, a list of
        batches or any object that gives them anew each time need not fit into memory.
    estimator : estimator, optional
        Anything with ``fit(X, y)`` and ``log_ratio(X)``; by default :class:`StackedMDRE`, which
        weighs fitted densities, regressions, trees and neighbours by one regression, and is
        :class:`MDRE` where p and q are far apart.
    critic : str, critic, classifier or torch.nn.Module, default "auto"
        Anything but "auto" asks for one :class:`MDRE` with this critic in place of the stack;
        "mlp" is a network.
    folds : int, optional
        Number of folds of the cross-fitting; by default 5, and 10 if either sample
        has fewer than 2000 rows, or half as many as the smaller one has rows if these are few.
    level : float, default 0.95
        Level of the intervals.
    weight_p, weight_q : array-like of shape (n,), or str, optional
        Weights of the rows, or the column of a table that holds them.
    columns : list of str, optional
        Columns of the frames to use, whatever speaks against them; by default all that can
        help.
    drop : list of str, optional
        Columns of the frames to leave out.
    keep : list of str, optional
        Columns that are used though they would be left out by default: those that alone tell the
        samples apart by their making, such as the date of two months, identifiers, constants.
    missing : {"indicator", "drop", "error"}, default "indicator"
        What to do with missing values in frames: make them a level of their own, and of numbers
        the median with a 0/1 column that says where; leave their rows out; or refuse them.
    dates : str or list of str, default "days"
        What becomes of dates in frames: "days" since 1970, "hour", "weekday", "month", or
        several of these.
    random_state : int, Generator, RandomState or None
        Makes the result reproducible.
    n_jobs : int, optional
        Number of fits to run at a time, as in scikit-learn.
    progress : callable or bool, optional
        True shows a progress bar; a callable receives (done, total, what).
    client : dask.distributed.Client, optional
        Where to run the passes over samples of more than 200,000 rows; by default the current
        client if there is one, and this process otherwise.

    Returns
    -------
    Comparison

    Notes
    -----
    A sample of more than 200,000 rows is not worked on as a whole. What is chosen is chosen on
    8,000 to 40,000 of its rows; what is convex or closed-form is fitted to all rows, in passes
    over them; and every row's log-ratio counts in every divergence. ``c.all_rows`` and
    ``c.rests_on`` say what was fitted to how many rows.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> c = isthmus.compare(rng.normal(-1, 0.08, 3000), rng.normal(2, 0.15, 3000), random_state=0)
    >>> bool(c.kl.low < 200.27 < c.kl.high)  # the truth
    True
    >>> c.diagnostics["convergence"].verdict
    'ok'
    """
    check_options(estimator, critic, folds, level, n_jobs, progress)
    for argument, names in (("columns", columns), ("drop", drop), ("keep", keep)):
        if isinstance(names, str):
            raise ValueError(f"{argument} must be a list of names; received the text {names!r}.")
    call = Call(
        estimator,
        critic,
        folds,
        level,
        None if columns is None else tuple(columns),
        tuple(drop),
        tuple(keep),
        missing,
        date_parts(dates),
        random_state,
        weight_p is not None or weight_q is not None,
    )
    return compare_given(
        p, q, call, weight_p, weight_q, client=client, n_jobs=n_jobs, progress=progress
    )


def compare_given(
    p: Any,
    q: Any,
    call: Call,
    weight_p: Any = None,
    weight_q: Any = None,
    *,
    labels: tuple[str, str] = ("p", "q"),
    door: Door | None = None,
    client: Any = None,
    memory: float | None = None,
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Compare two samples as they were given, as a whole or in parts.

    ``labels`` are what messages call the samples, ``door`` what they call the arguments. Files of
    which a comparison would take more bytes of ``memory`` are read in parts, whatever their rows.
    """
    read = opened(p, q, weight_p, weight_q, labels, memory)
    if read.large:
        engine = engine_of(client)
        return _compare_large(read, call, engine, labels, door, n_jobs=n_jobs, progress=progress)
    samples, encoder, given = as_samples(
        *read.samples, call, *read.weights, labels=labels, door=door
    )
    # The command line has a table of them.
    for note in () if encoder is None or encoder.door.command else encoder.notes():
        tell(note, UserWarning, stacklevel=3)
    return compare_samples(samples, call, encoder, given, n_jobs=n_jobs, progress=progress)


def as_samples(
    p: Any,
    q: Any,
    call: Call,
    weight_p: Any = None,
    weight_q: Any = None,
    *,
    labels: tuple[str, str] = ("p", "q"),
    door: Door | None = None,
) -> tuple[TwoSamples, TableEncoder | None, GivenRows]:
    """Two samples as they were given to rows of numbers, and what turned tables into these.

    ``labels`` are what messages call the samples, ``door`` what they call the arguments.
    """
    encoder, given = None, GivenRows.of(p, q)
    p, q = as_table(p), as_table(q)
    if is_table(p) and is_table(q):
        encoder = TableEncoder(
            call.columns,
            call.drop,
            keep=call.keep,
            missing=call.missing,
            dates=call.dates,
            labels=labels,
            door=door,
        )
        p, q, weight_p, weight_q = _encoded(encoder, p, q, weight_p, weight_q)
        given = given.used(encoder.kept_p_, encoder.kept_q_)
    else:
        _check_arrays(call, type(p).__name__, type(q).__name__)
    takes_missing = is_classifier(getattr(call.estimator, "critic", call.critic))
    samples = as_two_samples(p, q, weight_p, weight_q, missing=takes_missing, labels=labels)
    if encoder is None:
        # A copy: what the caller does to the arrays later is not seen here.
        samples = samples.map(lambda x: np.array(x, order="C"))
    return samples, encoder, given


def compare_samples(
    samples: TwoSamples,
    call: Call,
    encoder: TableEncoder | None = None,
    given: GivenRows | None = None,
    *,
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
    report: Callable[..., None] | None = None,
) -> Comparison:
    """Compare two samples that were checked at a door, where ``encoder`` may have made them.

    ``report`` takes the place of ``progress`` where this is a part of the work.
    """
    there = samples.positive()
    check_varies(there)
    folds = fold_count(there) if call.folds is None else call.folds
    if there.least < 2 * folds:
        some = " of positive weight" if there.least < samples.least else ""
        raise ValueError(
            f"p and q must have at least two rows{some} for each of {folds} folds; received "
            f"{len(there.p)} and {len(there.q)}. Give more rows or fewer folds."
        )
    seeds = Seeds(call.random_state)
    # Names are those of the user's frames; the estimator sees the encoded columns.
    rows = TwoSamples(samples.p, samples.q)
    full = _model(call, seeds, n_jobs)
    stacks = isinstance(full, StackedMDRE)
    projection: Projection | None = None
    margins: tuple[Margin, ...] = ()
    if stacks and Projection.wanted(rows):
        projection = Projection.of(rows)
        tell(projection.note, UserWarning, stacklevel=4)
        if encoder is None:
            margins, given = array_margins(rows), GivenRows(samples.p.rows, samples.q.rows)
        rows = rows.map(projection)
    steps = STAGES if stacks else folds + 1
    shown = nullcontext(report) if report is not None else Reporter(progress, steps)
    with limited_threads(n_jobs), shown as say:
        with nullcontext() if encoder is None else encoder.expected():
            if stacks:
                full.fit_samples(rows, report=say)
                full, crossed = full.single_ or full, full.crossfit_.spread(rows, full)
            else:
                say("fit to all rows")
                own(full).fit_samples(rows)
                crossed = cross_fit(full, rows, folds, seeds, n_jobs=n_jobs, report=say)
        if report is None:
            say("")
    return Comparison(
        estimator=full,
        samples=rows,
        crossfit=crossed,
        level=call.level,
        call=call,
        encoder=encoder,
        given=given,
        projection=projection,
        margins=margins,
    )


def _compare_large(
    given: Opened,
    call: Call,
    engine: Engine,
    labels: tuple[str, str],
    door: Door | None,
    *,
    n_jobs: int | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """Compare two samples that are read in parts, again for every pass."""
    from .large.comparing import compare_sources  # only few comparisons need it

    tables = given.samples[0].names is not None
    if not tables:
        _check_arrays(call, "arrays", "arrays")
    takes_missing = is_classifier(getattr(call.estimator, "critic", call.critic))
    with limited_threads(n_jobs), Reporter(progress, _LARGE_STAGES) as report:

        def compare(samples: TwoSamples, encoder: Any, given_p: Any, given_q: Any) -> Comparison:
            rows = GivenRows() if given_p is None else GivenRows(given_p, given_q)
            return compare_samples(samples, call, encoder, rows, n_jobs=n_jobs, report=report)

        found: Comparison = compare_sources(
            given.samples,
            given.weights,
            call,
            engine,
            compare,
            report,
            labels,
            door,
            missing=takes_missing,
        )
        report("")
    return found


def _check_arrays(call: Call, p: str, q: str) -> None:
    """Refuse settings that are about frames, where arrays were given."""
    if call != replace(call, columns=None, drop=(), keep=(), missing="indicator", dates=_DAYS):
        raise ValueError(
            f"columns, drop, keep, missing and dates apply to frames; received {p} and {q}."
        )


def check_options(
    estimator: Any, critic: Any, folds: Any, level: Any, n_jobs: Any, progress: Any
) -> None:
    """Refuse arguments of :func:`compare` that cannot be used."""
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    if folds is not None:
        check_number(folds, "folds", low=2, integer=True)
    if n_jobs is not None:
        check_number(n_jobs, "n_jobs", low=-64, integer=True)
        if n_jobs == 0:
            raise ValueError("n_jobs must be a number of fits, or -1 for all cores; received 0.")
    if isinstance(estimator, type) or not (estimator is None or hasattr(estimator, "get_params")):
        shown = repr(estimator)
        if isinstance(estimator, type):
            shown = f"the class {estimator.__name__}, which has to be called first"
        raise ValueError(
            "estimator must be an estimator with fit(X, y) and log_ratio(X), such as "
            f"isthmus.MDRE(); received {shown}."
        )
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress must be True, False or a function; received {progress!r}.")
    if estimator is not None and not is_auto(critic):
        raise ValueError(
            "critic must be left out where an estimator is given, which has its own; received both."
        )


def _model(call: Call, seeds: Seeds, n_jobs: int | None) -> Any:
    """The unfitted estimator, with a seed."""
    if call.estimator is not None:
        model = clone(call.estimator)
    elif is_auto(call.critic):
        model = StackedMDRE(folds=call.folds, n_jobs=n_jobs)
    else:
        model = MDRE(critic=call.critic)
    for name in ("fit", "log_ratio"):
        if not callable(getattr(model, name, None)):
            raise ValueError(
                f"estimator must have fit(X, y) and log_ratio(X); received a "
                f"{type(model).__name__} without {name}."
            )
    if model.get_params(deep=False).get("random_state", 0) is None:
        model.set_params(random_state=int(seeds("fit").integers(2**31)))
    return model


def _encoded(
    encoder: TableEncoder, p: Any, q: Any, weight_p: Any, weight_q: Any
) -> tuple[Any, Any, Any, Any]:
    """Frames as rows, with the weights of those that were kept."""
    p, q = encoder.fit_transform(p, q, weight_p, weight_q)
    kept_p, kept_q = encoder.kept_p_, encoder.kept_q_
    first, second = encoder.labels
    weight_p = as_weight(weight_p, len(kept_p), f"weight_{first}")
    weight_q = as_weight(weight_q, len(kept_q), f"weight_{second}")
    return p, q, weight_p[kept_p], weight_q[kept_q]
