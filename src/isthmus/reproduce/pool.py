"""Processes of one thread that run cells, and what becomes of a cell whose process dies."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from joblib.externals.loky import ProcessPoolExecutor, process_executor

from .record import EXTRAS, Fields, as_json, loaded_parts

if TYPE_CHECKING:
    from .runner import Experiment
    from .show import Report

# Linear algebra in one thread; and a process finds what this one finds, and nothing else that lies
# in the current directory.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "PYTHONSAFEPATH": "1",
}


def run_cells(
    experiment: Experiment,
    cells: list[Fields],
    jobs: int,
    report: Report,
    until: float | None = None,
) -> Generator[tuple[Fields, Fields]]:
    """Cells with what they gave, as they are done; none is begun after a time."""
    spec = f"{type(experiment).__module__}:{type(experiment).__qualname__}"
    todo = deque(cells)
    running: dict[Future[Fields], tuple[_Worker, Fields]] = {}
    with TemporaryDirectory() as folder, _environment():
        workers = [_Worker(Path(folder, f"{k}.txt")) for k in range(min(jobs, len(cells)))]
        idle = list(workers)
        try:
            while todo or running:
                if until is not None and time.monotonic() > until:
                    todo.clear()
                while todo and idle:
                    worker, cell = idle.pop(), todo.popleft()
                    running[worker.submit(spec, cell)] = worker, cell
                    report.begun(cell)
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    worker, cell = running.pop(future)
                    found = worker.answer(future)
                    idle.append(worker)
                    report.done(cell, found)
                    yield cell, found
        finally:
            for worker in workers:
                worker.end()


class _Worker:
    """A pool of one process, so that its death is that of one cell; started when first asked."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.output.touch()
        self.pool: Any = None

    def submit(self, spec: str, cell: Fields) -> Future[Fields]:
        """Give the process a cell, in a new process if the last one died."""
        if self.pool is None:
            given = self.output, os.getpid()
            self.pool = ProcessPoolExecutor(1, initializer=_prepare, initargs=given)
        future: Future[Fields] = self.pool.submit(run_cell, spec, cell)
        return future

    def answer(self, future: Future[Fields]) -> Fields:
        """What a cell gave, or the error of its end."""
        try:
            return future.result()
        except BrokenProcessPool as error:
            self.end()
            code = re.search(r"\((-?\d+)\)", str(error))
            lines = self.output.read_text("utf-8", "replace").strip().splitlines()
            told = lines[-1] if lines else "no message"
            return {"error": f"the process ended with code {code[1] if code else '?'}: {told}"}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def end(self) -> None:
        """End the process, at once if it is at work."""
        if self.pool is not None:
            self.pool.shutdown(kill_workers=True)
            self.pool = None


def _prepare(output: Path, parent: int) -> None:
    """Send what cells print to a file, leave Ctrl-C to the parent, and end when it has ended."""
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # loky ends a process that has grown by 300 MB, with a warning, in a thread in which a warning
    # that is an error leaves the next cell waiting forever. Importing torch is no leak.
    vars(process_executor)["_MAX_MEMORY_LEAK_SIZE"] = float("inf")
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """End this process, whatever it is doing, once its parent was killed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@contextmanager
def _environment() -> Iterator[None]:
    """The environment that processes start with; what there was is put back."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@cache
def _experiment(spec: str) -> Experiment:
    """The experiment, made once in a process that runs many of its cells."""
    from . import from_spec

    return from_spec(spec)


def run_cell(spec: str, cell: Fields) -> Fields:
    """What one cell gives: its numbers, seconds and warnings, or the error that ended it."""
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = as_json(_experiment(spec).run(dict(cell)))
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"}
    told = dict.fromkeys(
        str(each.message)
        for each in caught
        if issubclass(each.category, UserWarning | RuntimeWarning)
    )
    return {
        **found,
        "seconds": round(time.perf_counter() - begin, 3),
        "warnings": list(told),
        "used": [name for name in EXTRAS if name in sys.modules],
        "parts": loaded_parts(),
    }
