"""What a comparison prints and writes: for people, for machines, and as files."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Column
from rich.text import Text

from .. import words
from .._version import __version__
from ..comparison import Comparison
from ..files import written_whole
from ..functionals import Estimate
from ..tables.frames import TableEncoder
from .options import TOO_FAR
from .terminal import console, show_notes, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_COLUMNS = 15
_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@dataclass(frozen=True)
class Output:
    """What is to be shown, in which form, and where it is written.

    Of the ``divergences`` that are shown, some were ``asked`` for by name.
    """

    divergences: tuple[str, ...]
    asked: tuple[str, ...]
    as_json: bool
    quiet: bool
    plot: Path | None
    report: Path | None
    save: Path | None = None
    limits: Mapping[str, float] = field(default_factory=dict)

    def beyond(self, found: Comparison) -> list[str]:
        """Say which divergences are surely larger than their limits, by their whole interval."""
        told = []
        for name, limit in self.limits.items():
            estimate = found.divergence(name)
            infinite = math.isinf(estimate.value)
            if infinite or estimate.low > limit:
                least = "" if infinite else f", at least {estimate.low:.4g}"
                told.append(
                    f"{words.divergence(name)[1]} is {estimate.value:.4g}{least}, above {limit:g}"
                )
        return told


@dataclass(frozen=True)
class Result:
    """A comparison with what every output says of it."""

    comparison: Comparison
    divergences: Mapping[str, Estimate]
    labels: tuple[str, str]
    notes: list[str]

    @property
    def answer(self) -> str:
        """The answer in one sentence, or two where the KL divergence is infinite."""
        found = self.comparison
        told = words.terminal_answer(found.kl, found.diagnostics, self.labels)
        return told if self.rest is None else f"{told} {words.rest(self.rest, self.labels)}."

    @property
    def rest(self) -> Estimate | None:
        """KL(p‖q) of rows whose levels both samples have, where that of all is infinite."""
        found = self.comparison
        if math.isfinite(found.kl.value) or found.rest is None:
            return None
        return found.divergence_of_rest("kl")

    def to_dict(self) -> dict[str, Any]:
        """Answer, divergences and checks as strict JSON can hold them."""
        checks = self.comparison.diagnostics
        return {
            "answer": self.answer,
            "verdict": words.worst_verdict(checks),
            "differences": [
                {
                    "column": one.name,
                    "js": as_json(one.js.to_dict()),
                    "moves": as_json(one.moves),
                    "p_value": as_json(one.p_value),
                    "differs": one.differs,
                    "used": one.used,
                }
                for one in self.comparison.columns
            ],
            "rests_on": self.comparison.rests_on,
            "level": self.comparison.kl.level,
            "divergences": {name: as_json(e.to_dict()) for name, e in self.divergences.items()},
            "kl_of_rest": None if self.rest is None else as_json(self.rest.to_dict()),
            "diagnostics": {
                name: {
                    "value": as_json(check.value),
                    "verdict": check.verdict,
                    "advice": check.advice,
                }
                for name, check in checks.items()
            },
        }


def one_sided(encoder: TableEncoder) -> list[dict[str, Any]]:
    """Levels that only one sample has, as JSON holds them."""
    return [asdict(one) for one in encoder.one_sided_.levels]


def deliver(
    result: Result,
    output: Output,
    facts: Mapping[str, Any],
    show: Callable[[Console], None],
    draw: Callable[[Axes], object],
) -> None:
    """Print the answer alone, everything by ``show``, or JSON with ``facts``; write the files."""
    comparison, report = result.comparison, output.report
    # The answer comes first, and every file is tried: a disk that is full costs one file.
    with ExitStack() as later:
        if report is not None:
            later.callback(_write_report, result, output, report)
        if output.plot is not None:
            later.callback(save_figure, draw, output.plot)
        if output.save is not None:
            later.callback(comparison.save, output.save)
        if output.as_json:
            further = {"notes": result.notes, "seed": comparison.call.random_state}
            where: dict[str, Any] = {} if report is None else {"report": str(report)}
            if output.limits:
                where["beyond"] = output.beyond(comparison)
            print_json({**result.to_dict(), **facts, **further, **where})
        elif output.quiet:
            print(result.answer)
        else:
            show(console())
    beyond = output.beyond(comparison)
    if beyond:
        print(f"isthmus: too far apart: {'; '.join(beyond)}", file=sys.stderr)
        raise typer.Exit(TOO_FAR)


def _write_report(result: Result, output: Output, path: Path) -> None:
    asked = [word for name in output.asked for word in ("--divergence", name)]
    with collected_notes():
        result.comparison.report(
            path,
            labels=result.labels,
            divergences=output.divergences,
            notes=result.notes,
            command=result.comparison.call.command(*asked, "--report", str(path)),
        )
    if not (output.as_json or output.quiet):
        console().print(Text(f"report: {words.printable(path)}", style="dim"))


def show_comparison(out: Console, result: Result, encoder: TableEncoder) -> None:
    """Print answer, divergences, checks, and what was done to rows and columns."""
    comparison, checks = result.comparison, result.comparison.diagnostics
    out.print(Text(result.answer, style=_STYLES[words.worst_verdict(checks)]))
    out.print(Text(words.rests_on(comparison.rests_on), style="dim"))
    _show_columns(out, result)
    heads = [
        Column("divergence", style="bold"),
        Column("value", justify="right"),
        Column("std. error", justify="right", style="dim"),
        Column("interval", justify="right"),
    ]
    found = []
    for name, estimate in result.divergences.items():
        value, error = estimate.rounded()[:2]
        found.append((words.divergence(name)[0], value, error, words.ends(estimate)))
        if name == "kl" and result.rest is not None:
            value, error = result.rest.rounded()[:2]
            found.append(("the same of the rest", value, error, words.ends(result.rest)))
    out.print(table(heads, found, "how far apart"))
    for told in words.unknown_ends(result.divergences):
        out.print(Text(words.printable(told), style="dim"))
    heads = [
        Column("check", style="bold"),
        Column("value", justify="right"),
        Column("verdict"),
        Column("advice", ratio=1),
    ]
    judged = [
        (name, _value(as_json(c.value)), Text(c.verdict, _STYLES[c.verdict]), c.advice)
        for name, c in checks.items()
    ]
    out.print(table(heads, judged, "can it be trusted"))
    heads = [Column("column", style="bold", overflow="fold"), Column("used as", overflow="fold")]
    out.print(table(heads, encoder.summary().items(), "what was compared"))
    sides = zip("pq", result.labels, comparison.sizes, encoder.dropped_rows, strict=True)
    for side, label, rows, lost in sides:
        told = f"{side}: {words.printable(label)}, {words.count(rows, 'row')}"
        if lost:
            told += f", {words.count(lost, 'row')} dropped for missing values"
        out.print(Text(told, style="dim"))
    show_notes(out, result.notes)


def _show_columns(out: Console, result: Result) -> None:
    """Print which columns differ, those that differ most first."""
    differing = [one for one in result.comparison.columns if one.differs]
    heads = [
        Column("column", style="bold", overflow="fold"),
        Column("alone (JS)", justify="right"),
        Column("interval", justify="right"),
        Column("moves log p/q by", justify="right"),
        Column("", overflow="fold", style="dim"),
    ]
    rows = [
        (
            one.name,
            words.rounded(one.js)[0],
            words.ends(one.js),
            f"{one.moves:.2g}" if one.used else "",
            "" if one.used else one.made.partition(": ")[2],
        )
        for one in differing[:_MOST_COLUMNS]
    ]
    if rows:
        out.print(table(heads, rows, "which columns differ, each by itself"))
    alike = len(result.comparison.columns) - len(differing)
    more = len(differing) - len(rows)
    told = [f"{words.count(more, 'more column')} differ"] * (more > 0)
    told += [f"{words.count(alike, 'column')} cannot be told apart"] * (alike > 0)
    if told:
        out.print(Text(f"{'; '.join(told)}.", style="dim"))


def _value(value: Any) -> str:
    """A check's value, as JSON holds it, in few digits."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@contextmanager
def collected_notes(*kinds: type[Warning]) -> Iterator[list[str]]:
    """Collect warnings meant for users, each once; those meant for developers are passed by."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        text = str(warning.message)
        if issubclass(warning.category, kinds or (UserWarning, RuntimeWarning)):
            notes.extend([text] * (text not in notes))


def print_json(document: Mapping[str, Any]) -> None:
    """Print one strict JSON document, with the version first."""
    print(json.dumps({"isthmus": __version__, **document}, indent=2, allow_nan=False))


def as_json(value: Any) -> Any:
    """Turn a value into what strict JSON can hold.

    JSON knows no infinity and no NaN: they become ``"inf"``, ``"-inf"`` and
    null.

    Examples
    --------
    >>> as_json({"a": np.array([1.0, np.nan]), "b": -np.inf, "c": np.int64(3)})
    {'a': [1.0, None], 'b': '-inf', 'c': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def save_figure(
    draw: Callable[[Axes], object], path: Path, size: tuple[float, float] = (7, 4.2)
) -> None:
    """Draw on new axes and write the figure to a file; no window is opened."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    with collected_notes(), written_whole(path) as draft:
        draw(figure.subplots())
        figure.savefig(draft, dpi=150)
