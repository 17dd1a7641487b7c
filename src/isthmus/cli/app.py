"""The command ``isthmus``. Heavy imports wait until a command runs, so that help is quick."""

from __future__ import annotations

import codecs
import csv
import enum
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .._version import __version__

app = typer.Typer(
    name="isthmus",
    help="How far apart are two samples, and what is the ratio of their densities?",
    add_completion=False,
    rich_markup_mode=None,  # plain help is quick, and prints as it is written
    pretty_exceptions_enable=False,
)
_DIVERGENCES = ("kl", "reverse-kl", "js", "hellinger", "tv")


class Missing(enum.StrEnum):
    """What to do with missing values; see `isthmus.tables.frames.TableEncoder`."""

    error = "error"
    drop = "drop"
    indicator = "indicator"


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"isthmus {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def compare(
    a: Annotated[
        Path | None,
        typer.Argument(metavar="A", help="Sample of p: CSV or Parquet.", show_default=False),
    ] = None,
    b: Annotated[
        Path | None,
        typer.Argument(metavar="B", help="Sample of q: CSV or Parquet.", show_default=False),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to use, separated by commas. Default: all."),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to leave out, separated by commas."),
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(
            help="Missing values: refuse them, drop their rows, or put the median in their place "
            "and add a 0/1 column that tells where."
        ),
    ] = Missing.error,
    level: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    divergence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Divergence beside KL, such as js, chi2 or alpha:0.5; may be repeated. "
            f"Default: {', '.join(_DIVERGENCES[1:])}.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same answer.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a figure to this .png, .pdf or .svg file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write everything as one page to this .html file.")
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print the answer's one sentence and nothing else.")
    ] = False,
) -> None:
    """Compare two tables, their columns matched by name; without files, show an example.

    Text and categories become one 0/1 column per level. Dates are refused.
    """
    from ..functionals import get_divergence
    from . import commands as _commands
    from . import figures as _figures

    if (a is None) != (b is None):
        raise ValueError(f"compare must have two files, or none; received only {a or b}.")
    if a is None and (columns or drop or missing is not Missing.error):
        raise ValueError("--columns, --drop and --missing must come with two files; received none.")
    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1; received {level:g}.")
    if seed < 0:
        raise ValueError(f"--seed must be at least 0; received {seed}.")
    asked = tuple(dict.fromkeys(("kl", *(divergence or _DIVERGENCES))))
    for name in asked:
        try:
            get_divergence(name)  # before the fit, which a slip of the pen must not cost
        except ValueError as error:
            raise ValueError(f"--divergence: {error}") from None
    if plot is not None:
        _figures.check_path(plot)
    if report is not None:
        _commands.check_report(report)
    how = _commands.How(seed, level, asked, tuple(divergence or ()), as_json, quiet, plot, report)
    if a is None or b is None:
        _commands.compare_example(how)
    else:
        used, left_out = _names(columns), _names(drop) or []
        _commands.compare_files(a, b, used, left_out, missing.value, how)


@app.command()
def mi(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table: CSV or Parquet.")],
    x: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns of x, separated by commas."),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns of y, separated by commas."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns to condition on, separated by commas."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(help="auto, gaussian, cca, ksg, dv, mine, nwj, smile or infonce."),
    ] = "auto",
    missing: Annotated[
        str, typer.Option(help="Missing values: error refuses them, drop leaves out their rows.")
    ] = "error",
    level: Annotated[float, typer.Option(help="Coverage of the interval.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same answer.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write a heat map to this .png, .pdf or .svg file.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
) -> None:
    """Mutual information of columns of a table, in nats; without --x and --y, of all pairs.

    Text and numbers with few values are taken for labels.
    """
    from . import figures as _figures
    from .mi import MiOptions, mi_of_file

    if missing not in ("error", "drop"):
        raise ValueError(f"--missing must be error or drop; received {missing!r}.")
    if not 0 < level < 1:
        raise ValueError(f"--level must lie between 0 and 1; received {level:g}.")
    if seed < 0:
        raise ValueError(f"--seed must be at least 0; received {seed}.")
    if plot is not None:
        _figures.check_path(plot)
    names = _names(x), _names(y), _names(given)
    mi_of_file(file, MiOptions(*names, method, missing, seed, level, as_json, quiet, plot))


@app.command()
def problems() -> None:
    """List the problems that know their own truth."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from .. import problems as registry

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name", style="bold")
    table.add_column("dimension", justify="right")
    table.add_column("KL(p‖q), nats", justify="right")
    for name in registry.names():
        problem = registry.load(name)
        error = f" ± {problem.kl_std_error:.1g}" if problem.kl_std_error else ""
        table.add_row(name, str(problem.dim), f"{problem.kl:.4f}{error}")
    Console(highlight=False).print(table)


@app.command()
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A table or figure, or all. Without a name: list what there is.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few rows and seeds, in less than a minute each.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="Number of seeds.")] = 3,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for tables, figures and records.")
    ] = Path("reproduced"),
    jobs: Annotated[int, typer.Option(help="Processes at a time, of one thread each.")] = 2,
    anew: Annotated[
        bool, typer.Option("--anew", help="Start over, rather than go on after a stop.")
    ] = False,
    any_code: Annotated[
        bool, typer.Option("--any-code", help="Go on even if the package's code has changed.")
    ] = False,
    as_list: Annotated[
        bool, typer.Option("--list", help="List the tables and figures, and run nothing.")
    ] = False,
) -> None:
    """Run a table or figure of the paper again.

    A run that was stopped goes on where it ended, when it is started again.
    """
    from .. import reproduce as experiments
    from ..reproduce import command as _command

    if name is None or as_list:
        _command.show_list()
        return
    for option, value in (("--seeds", seeds), ("--jobs", jobs)):
        if value < 1:
            raise ValueError(f"{option} must be at least 1; received {value}.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder; received {out}, which is a file.")
    chosen = experiments.names() if name == "all" else [name]
    how = _command.Options(out, quick, seeds, jobs, anew, any_code)
    raise typer.Exit(_command.reproduce([experiments.load(each) for each in chosen], how))


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    codecs.register_error("isthmus", _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="isthmus")
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code: 2 for bad input, told in one line on stderr."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=list(arguments), prog_name="isthmus", standalone_mode=False)
    except (ValueError, OSError) as error:
        message: object = error
    except Exception as error:
        # The parser's own errors, whichever library they come from, can format themselves.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message()
    else:
        return code if isinstance(code, int) else 0
    from .terminal import printable

    line = printable(" ".join(str(message).split()))
    print(f"isthmus: error: {line}", file=sys.stderr)
    return 2


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Stand-ins for characters that a terminal's encoding lacks, in place of a traceback."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    known = {"‖": "||", "−": "-", "–": "-", "─": "-", "━": "-", "┈": "-", "│": "|", "└": "+",
             "●": "o", "±": "+-", "χ": "chi", "²": "2"}  # fmt: skip
    texts = (
        "." if "\u2800" <= c <= "\u28ff" else known.get(c, "?")
        for c in error.object[error.start : error.end]
    )
    return "".join(texts), error.end


def _names(options: Sequence[str] | None) -> list[str] | None:
    """Names in options such as ``a,b``; a name with a comma stands in double quotes."""
    if not options:
        return None
    try:
        # The reader gives nothing for empty text, which here is a column without a name.
        return [name for row in csv.reader(options) for name in (row or [""])]
    except csv.Error as error:
        raise ValueError(f"Column names must be separated by commas; {error}.") from None
