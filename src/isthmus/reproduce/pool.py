"""Processes of one thread that run cells, and what becomes of them when they die."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from . import record as _record
from .record import Found

if TYPE_CHECKING:
    from .runner import Experiment
    from .show import Report


def run_cells(
    experiment: Experiment, cells: list[Found], jobs: int, report: Report
) -> Iterator[tuple[Found, Found]]:
    """Cells with what they gave, as they are done."""
    todo: queue.SimpleQueue[Found] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[str, Found, Found]] = queue.SimpleQueue()
    for cell in cells:
        todo.put(cell)
    workers = [_Worker(experiment) for _ in range(min(jobs, len(cells)))]

    def work(worker: _Worker) -> None:
        while True:
            try:
                cell = todo.get_nowait()
            except queue.Empty:
                return worker.end()
            answers.put(("begun", cell, {}))
            answers.put(("done", cell, worker.ask(cell)))

    for worker in workers:
        threading.Thread(target=work, args=(worker,), daemon=True).start()
    left = len(cells)
    try:
        while left:
            event, cell, found = answers.get()
            if event == "begun":
                report.begun(cell)
                continue
            left -= 1
            report.done(cell, found)
            yield cell, found
    finally:
        while not todo.empty():
            todo.get_nowait()
        for worker in workers:
            worker.end()


class _Worker:
    """A process that answers cells; started when first asked, and again if it died."""

    def __init__(self, experiment: Experiment) -> None:
        self.spec = f"{type(experiment).__module__}:{type(experiment).__qualname__}"
        self.process: subprocess.Popen[str] | None = None
        self.ended = False
        self.lock = threading.Lock()

    def ask(self, cell: Found) -> Found:
        """What the cell gives, or the error of its end."""
        with self.lock:
            if self.ended:
                return {"error": "stopped"}
            process = self.process = self.process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(cell) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # the process has died, or was ended meanwhile
            line = ""
        if line.endswith("\n"):
            found: Found = json.loads(line)
            return found
        with self.lock:
            if self.ended:
                return {"error": "stopped"}
            code = process.wait()
            self.errors.seek(0)
            last = (self.errors.read().strip().splitlines() or ["no message"])[-1]
            self._close()
        return {"error": f"the process ended with code {code}: {last}"}

    def _start(self) -> subprocess.Popen[str]:
        self.errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        # The child finds what this process finds. Ctrl-C goes to this process alone.
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        return subprocess.Popen(
            [sys.executable, "-m", "isthmus.reproduce.worker", self.spec],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
            env={**_record.one_thread(), "PYTHONPATH": paths},
            start_new_session=True,
        )

    def _close(self) -> None:
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout, self.errors):
                with suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
            self.process = None

    def end(self) -> None:
        """End the process for good, at once if it is at work."""
        with self.lock:
            self.ended = True
            if self.process is not None:
                self.process.kill()
                self.process.wait()
                self._close()
