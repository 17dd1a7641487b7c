"""The command line: one file a command."""

from .app import main, run

__all__ = ["main", "run"]
