"""The page of the command line, written from the commands themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from isthmus.cli.app import app as commands

PAGE = Path(__file__).parents[1] / "reference" / "command_line.md"
HEAD = """# The command line

Every command prints its help with `--help`. `python -m isthmus` is the same program.
"""


def section(name: str, command: Any) -> str:
    """One command: what it does, how it is called, its options."""
    context = command.make_context(name, ["--help"], resilient_parsing=True)
    context.info_name = f"isthmus {name}"
    lines = [f"## isthmus {name}\n", f"{command.help}\n"]
    lines += [f"```text\n{' '.join(command.get_usage(context).split())}\n```\n"]
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            lines += [f"`{record[0]}`\n:   {record[1].replace('*', chr(92) + '*')}\n"]
    return "\n".join(lines)


def text() -> str:
    """The page."""
    group = typer.main.get_command(commands)
    return "\n".join([HEAD, *(section(*item) for item in sorted(group.commands.items()))])


def write(app: Any, config: Any) -> None:
    """Write the page before Sphinx looks for pages."""
    page = text()
    if not PAGE.exists() or PAGE.read_text("utf-8") != page:
        PAGE.write_text(page, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True}
