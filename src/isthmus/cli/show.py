"""A comparison in words and tables for people, and as one document for machines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..tables.encoding import count, listed
from . import demo as _demo
from .terminal import Curve, draw, printable

if TYPE_CHECKING:
    from ..functionals import Estimate

_NAMES = {
    "kl": "KL(p‖q), nats",
    "reverse-kl": "KL(q‖p), nats",
    "js": "Jensen–Shannon, nats",
    "hellinger": "squared Hellinger",
    "chi2": "χ² of Pearson",
    "pearson": "χ² of Pearson",
    "neyman": "χ² of Neyman",
    "tv": "total variation",
}
_STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
_TRUE, _BINARY, _ISTHMUS = "bright_black", "red", "bold cyan"


def verdict(comparison: Any) -> str:
    """Worst verdict among the checks on the ratio."""
    verdicts = {check.verdict for check in _on_ratio(comparison).values()}
    return next((v for v in ("fail", "warn") if v in verdicts), "ok")


def _on_ratio(comparison: Any) -> dict[str, Any]:
    # Importance weights fail long before the ratio does; they have their row in the table.
    return {n: c for n, c in comparison.diagnostics.items() if c.concerns == "ratio"}


def answer(comparison: Any, labels: tuple[str, str]) -> str:
    """Say in one sentence how far apart the samples are, and whether that can be trusted."""
    kl: Estimate = comparison.kl
    value, _, low, high = kl._rounded()
    p, q = (printable(label) for label in labels)
    interval = f"{100 * kl.level:g} % interval {low} to {high}"
    if kl.low > 0:
        told = f"{p} and {q} are {value} nats apart (KL(p‖q), {interval})"
    else:
        told = f"{p} and {q} cannot be told apart (KL(p‖q) {value} nats, {interval})"
    return f"{told}; {_trust(comparison)}."


def _trust(comparison: Any) -> str:
    checks = _on_ratio(comparison)
    names = {v: [n for n, c in checks.items() if c.verdict == v] for v in ("fail", "warn")}
    if names["fail"]:
        return f"do not trust this number, since {_some(names['fail'], len(checks), 'failed')}"
    if names["warn"]:
        return f"take it with care, since {_some(names['warn'], len(checks), 'gave a warning')}"
    if not checks:
        return "no check was made"
    return f"it can be trusted as far as checks can tell ({len(checks)} of {len(checks)} passed)"


def _some(names: list[str], of: int, what: str) -> str:
    return f"{len(names)} of {count(of, 'check')} {what} ({listed(names)})"


def show_comparison(
    console: Console,
    comparison: Any,
    *,
    labels: tuple[str, str],
    divergences: Mapping[str, Estimate],
    columns: Mapping[str, str],
    rows: Sequence[int],
    dropped: Sequence[int],
    notes: Sequence[str],
) -> None:
    """Print answer, divergences, checks, and what was done to rows and columns."""
    console.print(Text(answer(comparison, labels), style=_STYLES[verdict(comparison)]))
    console.print(estimates_table(divergences))
    console.print(checks_table(comparison))
    table = _table("what was compared")
    table.add_column("column", style="bold", overflow="fold")
    table.add_column("used as", overflow="fold")
    for name, words in columns.items():
        table.add_row(Text(printable(name)), Text(printable(words)))
    console.print(table)
    for side, label, used, left_out in zip("pq", labels, rows, dropped, strict=True):
        lost = f", {count(left_out, 'row')} dropped for missing values" if left_out else ""
        console.print(Text(f"{side}: {printable(label)}, {count(used, 'row')}{lost}", style="dim"))
    for note in notes:
        console.print(Text(f"note: {printable(note)}", style="yellow"))


def estimates_table(divergences: Mapping[str, Estimate]) -> Table:
    """Tabulate divergences with their intervals."""
    table = _table("how far apart")
    table.add_column("divergence", style="bold")
    table.add_column("value", justify="right")
    table.add_column("std. error", justify="right", style="dim")
    table.add_column("interval", justify="right")
    for name, estimate in divergences.items():
        value, error, low, high = estimate._rounded()
        table.add_row(Text(_NAMES.get(name, name)), value, error, f"{low} to {high}")
    return table


def checks_table(comparison: Any) -> Table:
    """Tabulate the checks, each with its verdict and advice."""
    table = _table("can it be trusted")
    table.add_column("check", style="bold")
    table.add_column("value", justify="right")
    table.add_column("verdict")
    table.add_column("advice", ratio=1)
    for name, check in comparison.diagnostics.items():
        table.add_row(
            Text(printable(name)),
            Text(printable(_value(check.value))),
            Text(check.verdict, style=_STYLES.get(check.verdict, "")),
            Text(printable(check.advice)),
        )
    return table


def show_demo(console: Console, demo: _demo.Demo, notes: Sequence[str]) -> None:
    """Print the embedded example: the numbers, the curves and what one sees."""
    kl: Estimate = demo.comparison.kl
    value, _, low, high = kl._rounded()
    console.print()
    console.print(
        Text.assemble(
            ("Two samples, far apart\n", "bold"),
            (f"p = N(−1, sd 0.08), q = N(2, sd 0.15), {demo.rows:,} draws of each", "dim"),
        )
    )
    console.print(Padding(Text(_demo.WHY), (1, 0)))
    table = _table("KL(p‖q), nats")
    table.add_column("", style="bold")
    table.add_column("value", justify="right")
    table.add_column(f"{100 * kl.level:g} % interval", justify="right")
    table.add_column("error", justify="right")
    table.add_row("truth, in closed form", f"{demo.kl_true:.2f}", "", "")
    table.add_row("binary classifier", f"{demo.kl_binary:.2f}", "none",
                  f"{demo.error(demo.kl_binary):+.1%}", style=_BINARY)  # fmt: skip
    table.add_row("isthmus", value, f"{low} to {high}",
                  f"{demo.error(kl.value):+.1%}", style=_ISTHMUS)  # fmt: skip
    console.print(table)
    curves = [
        Curve("truth", demo.true, _TRUE),
        Curve("binary classifier", demo.binary, _BINARY),
        Curve("isthmus", demo.isthmus, _ISTHMUS, mark="●"),
    ]
    legend = Text("log p(x)/q(x), nats    ", style="bold")
    for curve in curves:
        legend.append(f"{curve.mark or '━━'} {curve.label}   ", curve.style)
    console.print(legend)
    plot = draw(
        demo.x,
        curves,
        width=min(console.width, 100),
        ticks=range(-3, 5),
        spots={"p": -1.0, "q": 2.0},
    )
    console.print(plot, no_wrap=True)
    console.print(Padding(Text(_demo.SEEN), (1, 0, 0, 0)))
    console.print(Padding(Text(answer(demo.comparison, ("p", "q")), style="bold"), (1, 0, 0, 0)))
    for note in notes:
        console.print(Text(f"note: {printable(note)}", style="yellow"))


def document(
    comparison: Any, divergences: Mapping[str, Estimate], labels: tuple[str, str]
) -> dict[str, Any]:
    """Make the part of the JSON document that every comparison has."""
    return {
        "answer": answer(comparison, labels),
        "verdict": verdict(comparison),
        "level": comparison.kl.level,
        "divergences": {name: plain(e.to_dict()) for name, e in divergences.items()},
        "diagnostics": {
            name: {
                "value": plain(check.value),
                "verdict": check.verdict,
                "advice": check.advice,
            }
            for name, check in comparison.diagnostics.items()
        },
    }


def plain(value: Any) -> Any:
    """Turn a value into what strict JSON can hold.

    JSON knows no infinity and no NaN: they become ``"inf"``, ``"-inf"`` and
    null.

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan]), "b": -np.inf, "c": np.int64(3)})
    {'a': [1.0, None], 'b': '-inf', 'c': 3}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _value(value: Any) -> str:
    value = plain(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
