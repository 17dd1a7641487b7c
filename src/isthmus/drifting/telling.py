"""Sentences about drift for people: what happened, and what to do about it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from .. import words
from .columns import percent

if TYPE_CHECKING:
    from ..functionals import Estimate
    from .result import Drift, Window

_SMALL = 0.005
_MISSING = 0.02


def as_shift(js: float) -> float:
    """By how many standard deviations one normal column moves for a Jensen-Shannon divergence.

    Examples
    --------
    >>> round(as_shift(0.005), 2), round(as_shift(0.1), 2)
    (0.2, 0.94)
    """
    shifts = np.linspace(0.0, 8.0, 161)
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    weight = weight / weight.sum()
    # Half of the log-ratio at rows of either sample is symmetric, so that one of them says all.
    t = shifts[:, None] * x + 0.5 * shifts[:, None] ** 2
    values = np.log(2.0) - (np.logaddexp(0.0, -t) @ weight)
    return float(np.interp(js, np.maximum.accumulate(values), shifts))


def in_nats(value: float) -> str:
    """A divergence with the digits that matter for a decision.

    Examples
    --------
    >>> in_nats(0.04312), in_nats(12.3456), in_nats(-0.00001)
    ('0.0431', '12.35', '0.0000')
    """
    if not np.isfinite(value):
        return words.number(value)
    return words.signed(f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}")


def ends(e: Estimate) -> str:
    """The interval of a divergence: "0.0021 to 0.0035", or "at least 0.0021"."""
    if e.one_sided:
        return f"at least {in_nats(e.low)}"
    return f"{in_nats(e.low)} to {in_nats(e.high)}"


def answer(found: Drift) -> str:
    """What happened, in a sentence or two."""
    judged = [one for one in found.windows if one.p_value is not None]
    if not judged:
        return "No window has rows enough to be judged."
    total = words.count(len(judged), "window")
    largest = found.largest
    if found.began is None or largest is None or largest.estimate is None:
        top = "" if largest is None else f" The largest divergence is {_size(found, largest)}."
        return f"No drift: none of {total} raises an alarm.{top}"
    alarms = found.alarms
    if len(judged) == 1:
        told = f"Drift: the {words.count(judged[0].rows, 'row')} differ from the reference"
    else:
        told = f"Drift since {found.began}: {len(alarms)} of {total} "
        told += "raises an alarm" if len(alarms) == 1 else "raise an alarm"
    carried = carriers(found)
    pair = next((one.pairs[0] for one in _leading(found) if one.pairs), None)
    if carried:
        told += f", mostly in {words.listed([words.printable(c, 40) for c in carried], 3)}"
    elif pair is not None:
        told += f", in the {pair}"
    where = "" if len(judged) == 1 else f" ({largest.label})"
    return f"{told}. The largest divergence is {_size(found, largest)}{where}."


def _leading(found: Drift) -> list[Window]:
    """Windows with an alarm, without short ones where there are others."""
    return [one for one in found.alarms if not found.is_short(one)] or list(found.alarms)


def carriers(found: Drift) -> list[str]:
    """Columns that differ in windows with an alarm, those with the largest effects first."""
    total: Counter[str] = Counter()
    for window in _leading(found):
        for one in window.columns:
            if one.differs:
                # What it is at least, by rows: a window of a few must not lead.
                total[one.name] += window.rows * one.effect.low  # type: ignore[assignment]
    return [name for name, _ in total.most_common()]


def _size(found: Drift, window: Window) -> str:
    e = window.estimate
    if e is None:
        return "not known"
    name = words.divergence(found.divergence)[1]
    told = f"{name} {in_nats(e.value)} ({words.interval(e)} {ends(e)})"
    if found.divergence == "js" and e.value > 0:
        told += f", as if one column had moved by {as_shift(e.value):.1g} standard deviations"
    return told


def advice(found: Drift) -> tuple[str, ...]:
    """What to do, the most pressing first."""
    judged = [one for one in found.windows if one.p_value is not None]
    alarms = found.alarms
    if not judged:
        return ("Take longer windows: none of these has 20 rows.",)
    if not alarms:
        return ("Nothing: the differences are no larger than chance makes them.",)
    latest = _leading(found)[::-1]
    out = [*_missing(latest[0]), *_new_levels(latest[0])]
    largest = found.largest
    small = found.divergence == "js" and largest is not None and largest.estimate is not None
    if small and largest.estimate.high < _SMALL:  # type: ignore[union-attr]
        out.append(
            "The drift is certain but small: if nothing that uses these data has become worse, "
            "let only larger divergences count (--fail-above js=0.05)."
        )
    elif carriers(found):
        names = words.listed([words.printable(c, 40) for c in carriers(found)], 3)
        out.append(f"Look at {names} first, at the source and at what uses them.")
    pair = next((one.pairs[0] for one in latest if one.pairs), None)
    if pair is not None:
        out.append(
            f"A relation changed ({pair}): models that use both columns may be off even where "
            "each column alone looks as before."
        )
    new = next((s for one in latest for s in one.segments if s.new), None)
    if new is not None:
        out.append(
            f"Inspect the rows with {words.printable(new.rule, 160)}: {percent(new.share)} of the "
            f"rows, {percent(new.reference)} in the reference."
        )
    if len(judged) > 3 and len(alarms) > 0.8 * len(judged) and judged[0].alarm:
        out.append(
            "Nearly every window differs, from the first on: the reference may be too short to "
            "hold the usual ups and downs (weekdays, seasons). Take a longer one, or windows of "
            "whole weeks."
        )
    out.append("Once the change is understood and stays, take recent rows as the new reference.")
    return tuple(out)


def _missing(window: Window) -> list[str]:
    out = []
    for column in window.columns:
        for one in column.levels:
            if one.level == "missing" and one.after > one.before + _MISSING:
                out.append(
                    f"Ask why {words.printable(column.name, 40)} is missing more often: "
                    f"{percent(one.before)} of the rows before, {percent(one.after)} in "
                    f"{window.label}."
                )
    return out[:2]


def _new_levels(window: Window) -> list[str]:
    out = []
    for column in window.columns:
        if column.new_levels and column.new_share > 2.0 * column.expected_share + 0.01:
            levels = words.listed([words.printable(level, 24) for level in column.new_levels], 3)
            out.append(
                f"Column {words.printable(column.name, 40)} has levels that the reference lacks "
                f"({levels}; {percent(column.new_share)} of the rows): see that what uses the "
                "data knows them."
            )
    return out[:2]
