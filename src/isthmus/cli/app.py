"""The command ``isthmus``. Heavy imports wait until a command runs, so that help is quick."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from .._version import __version__
from ..words import printable

COMMANDS = (
    "compare",
    "drift",
    "mi",
    "problems",
    "reproduce",
)
"""Files of this folder, each with the command as a function of the file's name."""

app = typer.Typer(
    name="isthmus",
    help="How far apart are two samples, and what is the ratio of their densities?",
    add_completion=False,
    rich_markup_mode=None,  # plain help is quick, and prints as it is written
    pretty_exceptions_enable=False,
)
for _name in COMMANDS:
    app.command()(getattr(import_module(f".{_name}", __package__), _name))


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"isthmus {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command with the arguments of the process, and exit."""
    codecs.register_error("isthmus", replace_unknown)
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
    line = printable(" ".join(str(message).split()))
    print(f"isthmus: error: {line}", file=sys.stderr)
    return 2


def replace_unknown(error: UnicodeError) -> tuple[str, int]:
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
