"""Which columns carry the difference: each alone, and each within the fitted ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..crossfit import own
from ..data.kept import KeptRows
from ..data.seeds import Seeds
from ..data.validation import check_number, check_option
from ..functionals import Estimate
from ..typing import RandomState
from .evidence import Compared, spaced
from .marginal import array_margins, marginal_divergence
from .permutation import permutation_losses

LOG_2 = math.log(2.0)

_MOVED_ROWS, _MOVED_NUMBERS = 150, 3_000_000
_FARTHEST = 700.0
_RISK = 0.05


@dataclass(frozen=True)
class ColumnShift:
    """How much of a difference one column carries.

    Attributes
    ----------
    name : str
        Name of the column, as the user's table has it; ``x0``, ``x1``, ... where the
        samples had no names.
    value : float
        In nats; negative only by chance.
    std_error : float
        Standard error of ``value``.

    Examples
    --------
    >>> from isthmus.diagnostics import ColumnShift
    >>> shift = ColumnShift("age", 0.31, 0.05)
    >>> f"{shift.name}: {shift.value} ± {shift.std_error} nats"
    'age: 0.31 ± 0.05 nats'
    """

    name: str
    value: float
    std_error: float


def rank_columns(
    comparison: Compared,
    method: str = "permutation",
    *,
    repeats: int = 5,
    columns: Sequence[str] | None = None,
    random_state: RandomState = None,
) -> list[ColumnShift]:
    r"""Columns of a comparison, that which carries most of the difference first.

    "permutation" asks what the fitted ratio loses without the column. With
    :math:`S = \tfrac12 (E_p - E_q) \log p/q`, the mean of KL(p‖q) and KL(q‖p), its
    value for column j is

    .. math:: S - S_j,

    where :math:`S_j` is the same with the values of column j permuted over the rows
    of both samples. If columns are independent, the values add up to S. If they are
    not, a column whose relation to others differs counts too, and the values may
    add up to more or to less.

    "marginal" asks how much the column alone differs: the Jensen-Shannon divergence
    of its two marginals, between 0 and log 2, from the shares of levels, or of bins
    of equal mass. It sees nothing of relations between columns.

    Parameters
    ----------
    comparison : Comparison
    method : {"permutation", "marginal"}
    repeats : int, default 5
        Number of permutations of each column.
    columns : sequence of str, optional
        Columns to look at; by default all.
    random_state : int, Generator, RandomState or None
        Seeds the permutations.

    Returns
    -------
    list of ColumnShift
        In descending order. What the encoding made of one column of a table, such
        as a 0/1 feature for every level, counts as one column.

    Notes
    -----
    At most 1000 rows of each sample are permuted, and fewer, but 50, where columns are
    many: the work grows with their number's third power. Each row is judged by a model
    that has not seen it, fitted again with the settings of the comparison; from 20,000
    rows a sample on (or two million numbers) by the model of all rows, which hardly
    leans on any one. Standard errors count the noise of the rows and, where models are
    fitted again, that of the fit.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> from isthmus.diagnostics import rank_columns
    >>> rng = np.random.default_rng(0)
    >>> p = {"a": rng.normal(0, 1, 500), "b": rng.normal(0, 1, 500)}
    >>> q = {"a": rng.normal(0, 1, 500), "b": rng.normal(2, 1, 500)}
    >>> c = isthmus.compare(p, q, random_state=0)
    >>> first, second = rank_columns(c, random_state=0)
    >>> first.name, abs(first.value - 2.0) < 3 * first.std_error + 0.2  # KL is 2 both ways
    ('b', True)
    >>> abs(second.value) < 0.1
    True
    """
    check_option(method, "method", ["permutation", "marginal"])
    check_number(repeats, "repeats", low=1, integer=True)
    if not isinstance(getattr(comparison, "kept", None), KeptRows):
        raise ValueError(
            "comparison must hold rows of the samples, as isthmus.compare leaves them there; "
            f"received {type(comparison).__name__} without."
        )
    blocks = dict(column_blocks(comparison))
    if columns is not None:
        absent = sorted(set(columns) - set(blocks))
        if absent:
            raise ValueError(f"columns must name columns that were compared; received {absent!r}.")
        blocks = {name: block for name, block in blocks.items() if name in columns}
    if method == "marginal":
        numbers = [marginal_divergence(comparison, block) for block in blocks.values()]
    else:
        seeds = Seeds(random_state)
        numbers = permutation_losses(comparison, list(blocks.values()), repeats, seeds)
    found = [ColumnShift(name, *pair) for name, pair in zip(blocks, numbers, strict=True)]
    return sorted(found, key=lambda shift: (-shift.value, shift.name))


@dataclass(frozen=True)
class ColumnDifference:
    """How much one column differs by itself, and what it does in the ratio.

    Attributes
    ----------
    name : str
        Name of the column, as the user's table has it.
    js : Estimate
        Jensen-Shannon divergence of its two marginals, from 0 to log 2, with an interval.
    moves : float
        Nats by which log p/q moves, on average, where a row is given another row's value of this
        column; zero for a column that the ratio does not look at, or that was left out.
    p_value : float
        Chance of such a divergence if the column did not differ.
    differs : bool
        Whether that chance, times the number of columns, is below 5 %.
    used : bool
        Whether it is part of the joint comparison.
    made : str
        What was made of it, or why it was left out.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> p, q = ({"age": rng.normal(mean, 9, 300)} for mean in (40, 50))
    >>> age = isthmus.compare(p, q, random_state=0).columns[0]
    >>> age.name, age.differs, bool(age.js.low > 0)
    ('age', True, True)
    """

    name: str
    js: Estimate
    moves: float
    p_value: float
    differs: bool
    used: bool
    made: str


def column_differences(comparison: Compared) -> tuple[ColumnDifference, ...]:
    """Every column that both samples have, that which differs most by itself first.

    Examples
    --------
    >>> import numpy as np, isthmus
    >>> rng = np.random.default_rng(0)
    >>> p = {"a": rng.normal(0, 1, 500), "b": rng.normal(0, 1, 500), "month": [1] * 500}
    >>> q = {"a": rng.normal(0, 1, 500), "b": rng.normal(2, 1, 500), "month": [7] * 500}
    >>> c = isthmus.compare(p, q, drop=["month"], random_state=0)
    >>> [(one.name, one.differs) for one in c.columns]
    [('b', True), ('a', False)]
    """
    blocks = column_blocks(comparison)
    moves = _moves(comparison, blocks)
    encoder, level = comparison.encoder, comparison.level
    if comparison.projection is not None:
        moves = {}
    if encoder is None:
        margins = comparison.margins or array_margins(comparison.samples)
        part = "used as they are" if comparison.projection is None else "part of the directions"
        made = {one.name: f"numbers: {part}" for one in margins}
    else:
        margins, made = encoder.margins_, encoder.summary()
        for plan in encoder.plans:
            if plan.name != plan.source:
                # Parts of a date count together, under the name of the date.
                moves[plan.source] = moves.get(plan.source, 0.0) + moves.pop(plan.name, 0.0)
                made.setdefault(plan.source, plan.in_words())
    found = [
        ColumnDifference(
            one.name,
            Estimate.from_std_error(
                max(one.js, 0.0), one.std_error, level=level, lower=0.0, upper=LOG_2
            ),
            moves.get(one.name, 0.0),
            one.p_value,
            one.p_value * len(margins) < _RISK,
            one.name in moves or not made[one.name].startswith("left out"),
            made[one.name],
        )
        for one in margins
    ]
    return tuple(sorted(found, key=lambda one: (-one.js.value, one.name)))


def _moves(comparison: Compared, blocks: list[tuple[str, slice]]) -> dict[str, float]:
    """How far the log-ratio of the fit to all rows moves without a column's own values."""
    kept = comparison.kept
    rows = np.concatenate([x[spaced(len(x), _MOVED_ROWS)] for x in (kept.p, kept.q)])
    most = max(_MOVED_NUMBERS // max(rows.size, 1), 1)
    # Every row gets the value of a row half the sample away, of either side.
    away = np.roll(np.arange(len(rows)), len(rows) // 2 + 1)
    model = own(comparison.estimator)
    before = model.log_ratio_at(rows)
    out = dict.fromkeys((name for name, _ in blocks), 0.0)
    for name, block in blocks[:most]:
        changed = rows.copy()
        changed[:, block] = rows[away, block]
        with np.errstate(invalid="ignore"):
            gap = np.abs(model.log_ratio_at(changed) - before)
        out[name] = float(np.mean(np.nan_to_num(gap, nan=0.0, posinf=_FARTHEST)))
    return out


def column_blocks(comparison: Compared) -> list[tuple[str, slice]]:
    """Names of the columns that were given, and which encoded columns are made of each."""
    encoder = comparison.encoder
    if comparison.projection is not None:
        d = comparison.samples.n_columns
        return [(f"direction {j}", slice(j, j + 1)) for j in range(d)]
    if encoder is None:
        d = comparison.samples.n_columns
        return [("x" if d == 1 else f"x{j}", slice(j, j + 1)) for j in range(d)]
    out, begin = [], 0
    for plan in encoder.plans:
        out.append((plan.name, slice(begin, begin + len(plan.features))))
        begin += len(plan.features)
    return out
