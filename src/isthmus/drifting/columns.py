"""What each column carries: its own divergence, its shift in words, and its levels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..functionals import Estimate, get_divergence
from ..tables.columns import Column
from ..typing import Array, IntArray
from ..words import number, printable
from .reference import Profile

_MOST_LEVELS = 5
_FEW = 60
_SURE = 3.0


@dataclass(frozen=True)
class LevelChange:
    """A level, a bin of numbers or what is missing: its share before and after.

    ``change`` is the difference of the shares.
    """

    level: str
    before: float
    after: float
    change: Estimate

    def __str__(self) -> str:
        return f"{printable(self.level, 40)} {percent(self.before)} → {percent(self.after)}"


@dataclass(frozen=True)
class ColumnDrift:
    """How much one column differs from the reference.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "empty"}
    effect : Estimate
        Divergence of the column alone, in its bins or levels, in nats (Jensen-Shannon).
    shift : Estimate or None
        Of numbers: the difference of the means in standard deviations of the reference.
    says : str
        The change in words.
    levels : tuple of LevelChange
        Levels or bins that changed most, beyond chance.
    new_levels : tuple of str
        Levels that the reference lacks, the most frequent first.
    new_share, expected_share : float
        Share of rows with such a level; and about how large it would be without drift, from
        the levels that occur once in the reference.
    """

    name: str
    kind: str
    effect: Estimate
    shift: Estimate | None
    says: str
    levels: tuple[LevelChange, ...]
    new_levels: tuple[str, ...]
    new_share: float
    expected_share: float

    @property
    def differs(self) -> bool:
        """Whether the interval of the effect is above zero."""
        return self.effect.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Everything in a form that JSON can hold."""
        out = asdict(self)
        out["effect"] = self.effect.to_dict()
        out["shift"] = None if self.shift is None else self.shift.to_dict()
        out["levels"] = [{**asdict(one), "change": one.change.to_dict()} for one in self.levels]
        return out


def column_drift(profile: Profile, column: Column, level: float) -> ColumnDrift:
    """Compare a column of a window with the reference's, by all rows of both."""
    after, levels = profile.count(column)
    before = np.zeros_like(after)
    known = len(profile.counts) - 1
    before[:known], before[-1] = profile.counts[:-1], profile.counts[-1]
    names = [*(levels if profile.kind != "number" else _bins(profile)), "missing"]
    shift = _shift(profile, column, level)
    changes = _changes(names, before, after, level)
    new = [k for k in np.argsort(-after[:-1], kind="stable") if k >= known and after[k]]
    total = max(int(after.sum()), 1)
    return ColumnDrift(
        name=profile.name,
        kind=profile.kind,
        effect=marginal(after, before, level),
        shift=shift,
        says=_says(profile, column, shift, changes),
        levels=changes,
        new_levels=tuple(levels[k] for k in new[:_MOST_LEVELS]),
        new_share=float(after[known:-1].sum()) / total if profile.kind == "category" else 0.0,
        expected_share=(
            float((profile.counts[:-1] == 1).sum()) / max(int(profile.counts.sum()), 1)
            if profile.kind == "category"
            else 0.0
        ),
    )


def marginal(after: IntArray, before: IntArray, level: float) -> Estimate:
    """Jensen-Shannon divergence of two tables of counts, its bias taken out.

    The bias is what the plain value would be on average if rows were dealt to both tables at
    random: nothing, then, is left on average without a difference, however many cells there are.

    Examples
    --------
    >>> import numpy as np
    >>> e = marginal(np.array([250, 250]), np.array([500, 500]), 0.95)
    >>> round(e.value, 6), e.low
    (0.0, 0.0)
    """
    used = (after + before) > 0
    cells = after[used], before[used]
    n, m = (max(float(one.sum()), 1.0) for one in cells)
    p, q = cells[0] / n, cells[1] / m
    middle = 0.5 * (p + q)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_p = np.where(p > 0, 0.5 * np.log(p / middle), 0.0)
        slope_q = np.where(q > 0, 0.5 * np.log(q / middle), 0.0)
    value = float(p @ slope_p + q @ slope_q)
    bias, chance = _dealt(cells[0] + cells[1], n, m)
    # The squares of the slopes hold the noise that is the bias, and that is counted apart.
    noise = 0.5 * bias * (1.0 / n + 1.0 / m)
    sampled = _variance(p, slope_p) / n + _variance(q, slope_q) / m - noise
    return Estimate.from_std_error(
        value - bias,
        float(np.sqrt(max(sampled, 0.0) + chance)),
        level=level,
        lower=0.0,
        upper=get_divergence("js").upper,
        method="counts",
    )


def _dealt(total: IntArray, n: float, m: float) -> tuple[float, float]:
    """Mean and variance of the plain value if rows were dealt at random, cell by cell."""
    from scipy.stats import hypergeom

    size, times = np.unique(total, return_counts=True)
    unit = 0.125 * (1.0 / n + 1.0 / m)
    free = 1.0 - size / (n + m)
    # Of many rows the number in a table is about normal, and its square is what counts.
    mean, variance = free * unit, 2.0 * (free * unit) ** 2
    for k, t in enumerate(size[size <= _FEW]):
        x = np.arange(t + 1)
        chance = hypergeom.pmf(x, int(n + m), int(t), int(n))
        p, q = x / n, (t - x) / m
        middle = 0.5 * (p + q)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = 0.5 * np.where(p > 0, p * np.log(p / middle), 0.0)
            part += 0.5 * np.where(q > 0, q * np.log(q / middle), 0.0)
        mean[k] = chance @ part
        variance[k] = chance @ (part - mean[k]) ** 2
    return float(times @ mean), float(times @ variance)


def _variance(share: Array, values: Array) -> float:
    return float(share @ (values - share @ values) ** 2)


def _shift(profile: Profile, column: Column, level: float) -> Estimate | None:
    """Difference of the means over the standard deviation of the reference."""
    values = column.numbers[~np.isnan(column.numbers)] if column.kind == "number" else np.empty(0)
    rows = int(profile.counts[:-1].sum())
    if profile.kind != "number" or len(values) < 2 or rows < 2:
        return None
    if not 0 < profile.spread < np.inf:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        z = (values - profile.mean) / profile.spread
        value = float(z.mean())
        error = float(np.sqrt(z.var() / len(z) + (1.0 + 0.5 * value**2) / rows))
    if not (np.isfinite(value) and np.isfinite(error)):
        return None
    return Estimate.from_std_error(value, error, level=level)


def _bins(profile: Profile) -> list[str]:
    edges = [number(float(edge)) for edge in profile.edges]
    if not edges:
        return ["any number"]
    inner = [f"above {a} to {b}" for a, b in pairwise(edges)]
    return [f"up to {edges[0]}", *inner, f"above {edges[-1]}"]


def _changes(
    names: list[str], before: IntArray, after: IntArray, level: float
) -> tuple[LevelChange, ...]:
    """Levels whose share changed by more than three standard errors, the largest change first."""
    n, m = max(int(after.sum()), 1), max(int(before.sum()), 1)
    p, q = after / n, before / m
    pooled = (after + before) / (n + m)
    apart = np.sqrt(pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m))
    error = np.sqrt(p * (1.0 - p) / n + q * (1.0 - q) / m)
    sure = np.abs(p - q) > _SURE * apart
    order = [k for k in np.argsort(-np.abs(p - q), kind="stable") if sure[k]]
    return tuple(
        LevelChange(
            names[k],
            float(q[k]),
            float(p[k]),
            Estimate.from_std_error(
                float(p[k] - q[k]), float(error[k]), level=level, lower=-1.0, upper=1.0
            ),
        )
        for k in order[:_MOST_LEVELS]
    )


def _says(
    profile: Profile, column: Column, shift: Estimate | None, changes: tuple[LevelChange, ...]
) -> str:
    """The change in a few words."""
    missing = next((one for one in changes if one.level == "missing"), None)
    told = [f"missing {percent(missing.before)} → {percent(missing.after)}"] if missing else []
    if shift is not None and not shift.low <= 0 <= shift.high:
        mean = float(np.nanmean(column.numbers))
        told.insert(
            0,
            f"mean {number(profile.mean)} → {number(mean)} "
            f"({'+' if shift.value > 0 else '−'}{abs(shift.value):.2f} sd)",
        )
    else:
        told.extend(str(one) for one in changes[:3] if one is not missing)
    return "; ".join(told) if told else "no clear change"


def percent(share: float) -> str:
    """A share in per cent, with digits where it is small.

    Examples
    --------
    >>> percent(0.12), percent(0.0034), percent(0.0)
    ('12 %', '0.34 %', '0 %')
    """
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 9.95 or value == 0 else f"{value:.2g} %"
