"""The command ``isthmus``. Heavy imports wait until a command runs, so that help is quick."""

from __future__ import annotations

import codecs
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, TextIO

import typer

from .._version import __version__
from ..words import printable
from .options import REFUSED

COMMANDS = (
    "compare",
    "drift",
    "mi",
    "problems",
    "reproduce",
    "score",
    "weights",
)
"""Files of this folder, each with the command as a function of the file's name."""

# Exit codes: those beyond 128 are what a shell shows of a process that a signal ended.
STOPPED, GONE, TERMINATED = 130, 141, 143

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
    # Asked to end, the process removes what it has half written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; an error is told in one line on stderr.

    The code is 2 for bad input and for files that cannot be read or written, 130 after Ctrl-C, and
    141 if whoever reads the output has gone away, which is no error.
    """
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a full disk can still be told
    except BrokenPipeError:
        _write_nowhere(sys.stdout)
        return GONE
    except KeyboardInterrupt:
        return _tell("stopped", STOPPED)
    except OSError as error:
        _write_nowhere(sys.stdout)
        named = f"{error.filename}: " if error.filename and error.strerror else ""
        return _tell(f"error: {named}{error.strerror or error}", REFUSED)
    except ValueError as error:
        return _tell(f"error: {error}", REFUSED)
    except Exception as error:
        # The parser's own errors, whichever library they come from, can format themselves.
        if not hasattr(error, "format_message"):
            raise
        return _tell(f"error: {error.format_message()}", REFUSED)
    return code


def _run(arguments: Sequence[str]) -> int:
    command = typer.main.get_command(app)
    try:
        # Not command.main, which ends the process itself when a pipe breaks or the user stops it.
        with command.make_context("isthmus", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as ended:
        return ended.exit_code
    return 0


def _tell(message: str, code: int) -> int:
    """Print a message on stderr, if there is one, and return the code."""
    with suppress(OSError):
        print(f"isthmus: {printable(' '.join(message.split()))}", file=sys.stderr)
    return code


def _write_nowhere(stream: TextIO) -> None:
    """Let what is left in a stream go, or Python would fail once more when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


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
