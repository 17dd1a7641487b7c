"""What the commands do, once their options are read: compare, then print in one of three ways."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from .._version import __version__
from ..compare import compare_samples
from ..data.validation import as_two_samples
from ..report.page import check_path
from ..settings import Call
from ..tables.frames import Missing, TableEncoder, read_table
from . import demo as _demo
from . import figures as _figures
from . import show as _show
from .terminal import printable, progress_bar


@dataclass(frozen=True)
class How:
    """Options that both kinds of comparison share."""

    seed: int
    level: float
    divergences: tuple[str, ...]
    asked: tuple[str, ...]
    as_json: bool
    quiet: bool
    plot: Path | None
    report: Path | None = None


def compare_files(
    a: Path, b: Path, columns: list[str] | None, drop: list[str], missing: Missing, how: How
) -> None:
    """Compare two files and print what was found."""
    labels = (str(a), str(b)) if a.name == b.name and a != b else (a.name, b.name)
    encoder = TableEncoder(columns, drop, missing=missing, labels=labels)
    with _notes() as notes, progress_bar(wanted=not how.quiet) as progress:
        call = Call(
            level=how.level,
            columns=None if columns is None else tuple(columns),
            drop=tuple(drop),
            missing=missing,
            random_state=how.seed,
            files=(str(a), str(b)),
        )
        samples = as_two_samples(*encoder.fit_transform(read_table(a), read_table(b)))
        comparison = compare_samples(samples, call, encoder, progress=progress)
        divergences = {name: comparison.divergence(name) for name in how.divergences}
        if how.plot is not None:
            _figures.save_log_ratios(comparison, labels, how.plot)
    if how.report is not None:
        _write_report(comparison, how, labels, notes)
    dropped = [int((~kept).sum()) for kept in (encoder.kept_p_, encoder.kept_q_)]
    if how.as_json:
        _print_json(
            _show.document(comparison, divergences, labels)
            | {
                "files": {"p": str(a), "q": str(b)},
                "rows": {"p": len(samples.p), "q": len(samples.q)},
                "dropped_rows": {"p": dropped[0], "q": dropped[1]},
                "columns": encoder.summary(),
                "features": encoder.feature_names_,
                "notes": notes,
                "seed": how.seed,
                **({} if how.report is None else {"report": str(how.report)}),
            }
        )
    elif how.quiet:
        print(_show.answer(comparison, labels))
    else:
        _show.show_comparison(
            Console(highlight=False),
            comparison,
            labels=labels,
            divergences=divergences,
            columns=encoder.summary(),
            rows=(len(samples.p), len(samples.q)),
            dropped=dropped,
            notes=notes,
        )
        _say_where(how)


def compare_example(how: How) -> None:
    """Run the embedded example and print what was found."""
    with _notes() as notes, progress_bar(wanted=not how.quiet) as progress:
        demo = _demo.run(seed=how.seed, level=how.level, progress=progress)
        divergences = {name: demo.comparison.divergence(name) for name in how.divergences}
        if how.plot is not None:
            _figures.save_demo(demo, how.plot)
    if how.report is not None:
        _write_report(demo.comparison, how, ("p", "q"), notes)
    if how.as_json:
        _print_json(
            _show.document(demo.comparison, divergences, ("p", "q"))
            | {
                "problem": _demo.PROBLEM,
                "rows": {"p": demo.rows, "q": demo.rows},
                "kl": {"truth": demo.kl_true, "binary_classifier": demo.kl_binary},
                "curves": {
                    name: _show.plain(getattr(demo, name))
                    for name in ("x", "true", "binary", "isthmus")
                },
                "notes": notes,
                "seed": how.seed,
                **({} if how.report is None else {"report": str(how.report)}),
            }
        )
    elif how.quiet:
        print(_show.answer(demo.comparison, ("p", "q")))
    else:
        _show.show_demo(Console(highlight=False), demo, notes)
        _say_where(how)


def check_report(path: Path) -> None:
    """Refuse a path that the page cannot be written to, before anything long is begun."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--report must end in .html or .htm; received {path}.")
    check_path(path, "--report")


def _write_report(comparison: Any, how: How, labels: tuple[str, str], notes: list[str]) -> None:
    asked = [word for name in how.asked for word in ("--divergence", name)]
    with _notes():
        comparison.report(
            how.report,
            labels=labels,
            divergences=how.divergences,
            notes=notes,
            command=comparison.call.command(*asked, "--report", str(how.report)),
        )


def _say_where(how: How) -> None:
    if how.report is not None:
        Console(highlight=False).print(Text(f"report: {printable(how.report)}", style="dim"))


@contextmanager
def _notes() -> Iterator[list[str]]:
    """Collect warnings meant for users, each once; those meant for developers are passed by."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        text = str(warning.message)
        if issubclass(warning.category, UserWarning | RuntimeWarning) and text not in notes:
            notes.append(text)


def _print_json(document: dict[str, Any]) -> None:
    print(json.dumps({"isthmus": __version__, **document}, indent=2, allow_nan=False))
