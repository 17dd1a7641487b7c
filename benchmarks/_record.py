"""What all benchmarks share: options, tables, memory, and the record that each leaves behind.

A record is a JSON file with the settings, seeds, versions, machine, wall time and
every number of the run, so that a figure quoted elsewhere can be traced.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import resource
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from isthmus.files import written_whole

FORMAT = 1
RECORDS = Path(__file__).parent / "records"
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
# A pipe has no width: wide enough for every table.
console = Console(width=None if sys.stdout.isatty() else 130)


def options(doc: str, name: str) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument(
        "--out", type=Path, default=None, help=f"the record (default: records/{name}.json)"
    )
    return parser


class Run:
    """Times a run and writes its record.

    Parameters
    ----------
    name : str
        Name of the benchmark.
    arguments : argparse.Namespace
        Its options; ``quick`` runs go to a file of their own unless ``out`` is given.
    """

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        self.name = name
        self.settings = {k: v for k, v in vars(arguments).items() if k != "out"}
        stem = f"{name}-quick" if arguments.quick else name
        self.path = arguments.out or RECORDS / f"{stem}.json"
        self.date = datetime.datetime.now(datetime.UTC)
        self.started = time.perf_counter()

    def write(self, **numbers: Any) -> None:
        """Write the record: what holds for every benchmark, and the given numbers."""
        record = {
            "format": FORMAT,
            "benchmark": self.name,
            "date": self.date.isoformat(timespec="seconds"),
            "settings": self.settings,
            "versions": versions(),
            "machine": machine(),
            "wall_seconds": time.perf_counter() - self.started,
            **numbers,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(plain(record), indent=1, allow_nan=False) + "\n"
        with written_whole(self.path) as draft:
            draft.write_text(text)
        console.print(f"{record['wall_seconds']:.0f} s in all. Record: {self.path.name}")


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    import isthmus

    return {
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "isthmus": isthmus.__version__,
    }


def machine() -> dict[str, Any]:
    """The machine: processor, number of cores, how busy they were, thread limits."""
    return {
        "processor": _processor(),
        "cpu_count": os.cpu_count(),
        "load_average": list(os.getloadavg()),
        "threads": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def limit_threads(threads: int) -> dict[str, str]:
    """An environment for a child process in which linear algebra uses so many threads."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}


def memory() -> tuple[float, float]:
    """Memory of this process in MB: now, and at its peak.

    Linux keeps the peak of the parent in a new process's ru_maxrss, so that
    /proc is read where there is one; elsewhere both numbers are ru_maxrss.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        now, peak = (float(fields[key].split()[0]) * 1024 / 1e6 for key in ("VmRSS", "VmHWM"))
        return now, peak
    except (OSError, KeyError):
        unit = 1.0 if sys.platform == "darwin" else 1024.0
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
        return peak, peak


def table(title: str, *columns: str, caption: str = "") -> Table:
    """An empty table; names after the first few are right-aligned numbers."""
    out = Table(title=title, caption=caption or None, title_justify="left", caption_justify="left")
    for column in columns:
        text = column.startswith("<")
        out.add_column(column.removeprefix("<"), justify="left" if text else "right", no_wrap=True)
    return out


def verdict(holds: bool | None) -> str:
    """How a goal is shown: met, missed, or none set."""
    return "" if holds is None else "[green]yes[/]" if holds else "[red]no[/]"


def progress() -> Progress:
    """A progress bar that disappears when it is done; on stderr, so that tables can be piped."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def plain(value: Any) -> Any:
    """What JSON can hold: no arrays, no tuples, and None for numbers that are not finite."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
