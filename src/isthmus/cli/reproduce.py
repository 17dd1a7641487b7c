"""The command ``isthmus reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


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
    only: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Run only parts in whose name this occurs: table2/40,."),
    ] = "",
    minutes: Annotated[
        float | None, typer.Option(help="Begin nothing after so many minutes.", min=0.0)
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Run a few parts of the records in DIR again: do they still hold?"
        ),
    ] = False,
    as_list: Annotated[
        bool, typer.Option("--list", help="List the tables and figures, and run nothing.")
    ] = False,
) -> None:
    """Run a table or figure of the paper again.

    A run that was stopped goes on where it ended, when it is started again.
    """
    from .. import reproduce as experiments
    from ..reproduce import command

    if name is None or as_list:
        command.show_list()
        return
    for option, value in (("--seeds", seeds), ("--jobs", jobs)):
        if value < 1:
            raise ValueError(f"{option} must be at least 1; received {value}.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder; received {out}, which is a file.")
    chosen = experiments.names() if name == "all" else [name]
    if check:
        found = [each for each in chosen if name != "all" or (out / each / "record.json").exists()]
        if not found:
            raise ValueError(f"--out must be a folder with records to check; received {out}.")
        raise typer.Exit(command.check([experiments.load(each) for each in found], out, jobs))
    how = command.Options(out, quick, seeds, jobs, anew, any_code, only, minutes)
    raise typer.Exit(command.reproduce([experiments.load(each) for each in chosen], how))
