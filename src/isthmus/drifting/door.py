"""``drift(reference, current)``: from two tables to windows, sizes and alarms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.sample import bounded_rows
from ..data.seeds import Seeds
from ..data.threads import limited_threads
from ..data.validation import check_number
from ..functionals import get_divergence
from ..tables.columns import Column, TableError, column_names
from ..typing import RandomState
from ..words import listed
from .began import find_beginning
from .clock import repeats_calendar
from .columns import column_drift
from .given import as_given, chosen, read_columns
from .pairs import changed_pairs
from .permuting import blind_features, permutation_test
from .reference import ROWS, Reference, drift_reference
from .result import Drift, Window
from .segments import Segment, find_segments
from .sizing import sized
from .when import USUAL_WINDOWS, Slice, Slices, by_rows, by_values

Progress = Callable[[int, int, str], None]
LEAST_ROWS = 20
"""Rows below which a window is not judged."""


def drift(
    reference: Any,
    current: Any,
    by: Any = None,
    window: Any = None,
    *,
    divergence: str = "js",
    level: float = 0.95,
    alarms_per_year: float = 1.0,
    windows_per_year: float | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    rows: int = ROWS,
    random_state: RandomState = None,
    progress: Progress | bool | None = None,
) -> Drift:
    """Compare every window of a table with a reference: how far apart, since when, and where.

    The divergence says how large a drift is and does not depend on the number of rows. The
    p-value says how sure it is that there is one; it is exact if rows are independent, and
    a window raises an alarm where it is at most ``alarms_per_year / windows_per_year``.

    Parameters
    ----------
    reference : frame, dict of columns, array or Reference
        What the data were like; :func:`drift_reference` works it out once for many calls.
    current : frame, dict of columns or array
        What they are like, for all windows. Columns are matched by name. Levels that the
        reference lacks are reported, and missing values are levels.
    by : str or array-like, optional
        Column with dates, numbers or labels that the windows go by, which is not compared; or
        its values. By default windows are made of rows in their order.
    window : str, number or None
        Length of a window: with dates ``"1h"``, ``"1d"``, ``"1w"``, ``"1mo"`` or a multiple;
        with numbers a width, by default every value is a window; without ``by`` a number of rows,
        by default all.
    divergence : str, default "js"
        "js" (Jensen-Shannon, at most 0.69 nats), "kl" (current against reference), or another
        of :func:`isthmus.functionals.get_divergence`.
    level : float, default 0.95
        Coverage of the intervals.
    alarms_per_year : float, default 1
        False alarms in a year of windows without drift.
    windows_per_year : float, optional
        Windows in a year, by default from the length of a window, and 365 where it is not known.
    columns, drop : list of str, optional
        Columns to use, by default all that both tables have; and columns to leave out.
    rows : int, default 5000
        Most rows of a window, and of the reference, that are looked at jointly. Single columns
        are compared by all rows.
    random_state : int, Generator, RandomState or None
        Makes the result reproducible.
    progress : callable or bool, optional
        True shows a progress bar; a callable receives (done, total, what).

    Returns
    -------
    Drift

    Notes
    -----
    p-values hold for independent rows. Days differ by nature, and rows of one day are alike: with
    a reference of a few days such differences are drift too. Take one that holds them. All
    windows share one reference, so that false alarms come in groups when it is small: their number
    over many years is as asked for, that of one year is not.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> day = np.repeat(np.arange("2024-03-01", "2024-03-07", dtype="M8[D]"), 400)
    >>> plan = np.where(
    ...     rng.random(2400) < np.where(day < np.datetime64("2024-03-04"), 0.2, 0.5),
    ...     "gold",
    ...     "basic",
    ... )
    >>> current = {"day": day, "plan": plan, "age": rng.normal(40, 9, 2400)}
    >>> reference = {
    ...     "plan": rng.choice(["gold", "basic"], 4000, p=[0.2, 0.8]),
    ...     "age": rng.normal(40, 9, 4000),
    ... }
    >>> found = isthmus.drift(reference, current, by="day", window="1d", random_state=0)
    >>> print(found.began)
    2024-03-04
    >>> found.alarms[0].carried_by
    ('plan',)
    """
    _check(divergence, level, alarms_per_year, windows_per_year, columns, drop, rows, progress)
    given = as_given(current, "current")
    every = read_columns(given, "current", drop)
    slices, name = _slices(every, by, window)
    fitted, read = _matched(
        reference, every, name, columns, drop, column_names(given, "current"), rows
    )
    fitted = _without_calendar(fitted, read, slices, name, columns)
    per_year = windows_per_year or slices.per_year or USUAL_WINDOWS
    notes = [*slices.notes]
    if windows_per_year is None and slices.per_year is None and len(slices.each) > 1:
        notes.append("365 windows a year are assumed for the alarms (windows_per_year)")
    threshold = min(1.0, alarms_per_year / per_year)
    seeds = Seeds(random_state)
    work = _Work(fitted, divergence, level, threshold, rows, seeds)
    windows, surprises = [], []
    with limited_threads(None), _reporting(progress, len(slices.each)) as report:
        for k, one in enumerate(slices.each):
            report(k, len(slices.each), one.label)
            taken = {key: read[key].take(one.rows) for key in fitted.names}
            judged, surprise = work.judged(one, taken, k)
            windows.append(judged)
            surprises.append(surprise)
        report(len(slices.each), len(slices.each), "")
    seen = [k for k, one in enumerate(windows) if one.p_value is not None]
    began = find_beginning(
        [windows[k].start for k in seen],
        [windows[k].label for k in seen],
        [surprises[k] for k in seen],
        [windows[k].alarm for k in seen],
        level,
    )
    return Drift(
        tuple(windows), began, divergence, level, float(alarms_per_year), float(per_year),
        fitted.rows, name, fitted.left_out, tuple(notes),
    )  # fmt: skip


class _Work:
    """Judges one window after the other, all in the same way."""

    def __init__(
        self,
        reference: Reference,
        divergence: str,
        level: float,
        threshold: float,
        rows: int,
        seeds: Seeds,
    ) -> None:
        self.reference, self.divergence, self.level = reference, divergence, level
        self.threshold, self.rows, self.seeds = threshold, rows, seeds

    def judged(self, one: Slice, columns: Mapping[str, Column], k: int) -> tuple[Window, float]:
        """A window with its size, p-value, columns and rows in words; and how surprising it is."""
        number = len(one.rows)
        if number < LEAST_ROWS:
            note = f"fewer than {LEAST_ROWS} rows: not judged"
            few = Window(one.start, one.end, one.label, number, None, None, False, notes=(note,))
            return few, 0.0
        effects = tuple(
            sorted(
                (
                    column_drift(profile, columns[profile.name], self.level)
                    for profile in self.reference.profiles
                ),
                key=lambda effect: -effect.effect.value,
            )
        )
        # Windows draw independently, whatever the others are.
        seeds = Seeds(int(self.seeds(f"window {k}").integers(2**31)))
        pool = self.reference.pool(columns, bounded_rows(number, self.rows))
        blind, base_at = blind_features(pool, seeds("directions"))
        tested = permutation_test(blind, pool.size, self.threshold, seeds)
        made = pool.features.values
        size = sized(made[: pool.size], made[pool.size :], self.divergence, self.level, seeds)
        estimate = size.estimate
        if np.isinf(get_divergence(self.divergence).upper) and any(e.new_share for e in effects):
            why = "the window has levels that the reference lacks, where the ratio is infinite"
            estimate = replace(estimate, high=np.inf, reason=why)
        alarm = tested.p_value <= self.threshold
        segments: tuple[Segment, ...] = ()
        if alarm:
            log_ratio = np.concatenate([size.log_ratio_p, size.log_ratio_q])
            segments = find_segments(pool, log_ratio, seeds("segments"))
        notes = []
        if tested.fitted:
            notes.append("the p-value is beyond what permutations tell, and rests on fitted tails")
        new = [one.name for one in effects if one.new_levels]
        if new:
            notes.append(f"levels that the reference lacks in {listed([repr(n) for n in new])}")
        pairs = changed_pairs(pool, blind, base_at, self.level) if alarm else ()
        found = Window(
            one.start, one.end, one.label, number, estimate, tested.p_value, alarm, effects,
            pairs, segments, tuple(notes),
        )  # fmt: skip
        return found, tested.surprise


def _slices(read: dict[str, Column], by: Any, window: Any) -> tuple[Slices, str | None]:
    """Windows, and the name of the column that they go by."""
    number = len(next(iter(read.values())))
    if by is None:
        return by_rows(number, window), None
    if isinstance(by, str):
        if by not in read:
            raise TableError(
                f"by must name a column of current; received {by!r}. It has "
                f"{listed([repr(one) for one in read])}."
            )
        return by_values(read[by], window), by
    length = len(by) if hasattr(by, "__len__") else None
    if length != number:
        raise ValueError(
            "by must be the name of a column or a value for every row of current; received "
            f"{type(by).__name__}{'' if length is None else f' of length {length}'} for {number} "
            "rows."
        )
    return by_values(read_columns({"by": by}, "current")["by"], window), None


def _matched(
    reference: Any,
    read: dict[str, Column],
    by: str | None,
    columns: Sequence[str] | None,
    drop: Sequence[str],
    present: Sequence[str],
    rows: int,
) -> tuple[Reference, dict[str, Column]]:
    """The reference and the current columns that it is compared with."""
    dropped = {*drop, *([] if by is None else [by])}
    if isinstance(reference, Reference):
        known = {*reference.names, *reference.left_out}
        fitted = reference if columns is None else reference.only(columns)
        fitted = fitted.but(dropped)
    else:
        table = as_given(reference, "reference")
        known = set(column_names(table, "reference"))
        fitted = drift_reference(table, columns=columns, drop=sorted(dropped), rows=rows)
    absent = sorted(set(drop) - known - set(present))
    if absent:
        raise TableError(f"drop must name columns of a table; received {absent!r}.")
    wanted = None if columns is None else [name for name in columns if name not in dropped]
    others = {name: one for name, one in read.items() if name not in dropped}
    kept, left_out = chosen(others, "current", wanted)
    reasons = {name: "current does not have it" for name in fitted.names if name not in others}
    for name in kept:
        if name not in fitted.names and name not in fitted.left_out:
            reasons[name] = "the reference does not have it"
    fitted = fitted.without({**left_out, **reasons})
    if fitted.rows < LEAST_ROWS:
        raise TableError(f"reference must have at least {LEAST_ROWS} rows; received {fitted.rows}.")
    if not fitted.profiles:
        told = listed([f"{name!r} ({why})" for name, why in fitted.left_out.items()])
        raise TableError(
            f"reference and current must have a column in common to compare; received {told}."
        )
    return fitted, {one.name: one.same_kind(kept[one.name]) for one in fitted.profiles}


def _without_calendar(
    reference: Reference,
    read: dict[str, Column],
    slices: Slices,
    by: str | None,
    columns: Sequence[str] | None,
) -> Reference:
    """Leave out what repeats the calendar, unless it was asked for or is all that there is."""
    if slices.dates is None or columns is not None:
        return reference
    found = repeats_calendar(read, slices.dates, by or "by")
    return reference.without(found) if len(found) < len(reference.profiles) else reference


def _reporting(progress: Progress | bool | None, total: int) -> Any:
    if progress is True:
        return _Bar(total)
    return nullcontext(progress if callable(progress) else _silent)


def _silent(done: int, total: int, what: str) -> None:
    """Say nothing."""


class _Bar:
    """A progress bar for those who asked for one."""

    def __init__(self, total: int) -> None:
        from rich.progress import Progress as Bar

        self.bar = Bar(transient=True)
        self.task = self.bar.add_task("drift", total=total)

    def __enter__(self) -> Progress:
        self.bar.start()
        return lambda done, total, what: self.bar.update(
            self.task, completed=done, description=what or "done"
        )

    def __exit__(self, *exc: object) -> None:
        self.bar.stop()


def _check(
    divergence: Any,
    level: Any,
    alarms_per_year: Any,
    windows_per_year: Any,
    columns: Any,
    drop: Any,
    rows: Any,
    progress: Any,
) -> None:
    get_divergence(divergence)
    check_number(level, "level", low=0, high=1, open_low=True, open_high=True)
    check_number(alarms_per_year, "alarms_per_year", low=0, open_low=True)
    if windows_per_year is not None:
        check_number(windows_per_year, "windows_per_year", low=0, open_low=True)
    check_number(rows, "rows", low=LEAST_ROWS, integer=True)
    for argument, names in (("columns", columns), ("drop", drop)):
        if isinstance(names, str):
            raise ValueError(f"{argument} must be a list of names; received the text {names!r}.")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress must be True, False or a function; received {progress!r}.")
