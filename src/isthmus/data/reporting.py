"""How far a comparison has come, told to whoever asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Progress = Callable[[int, int, str], None]

_STEPS = 20
"""Steps of a progress bar in each stage."""


class Reporter:
    """Calls the user's function, or shows a progress bar, or does nothing; used by ``with``.

    Parameters
    ----------
    progress : callable or bool or None
        True is a progress bar; a callable receives (done, total, what).
    total : int
        Number of stages.
    """

    def __init__(self, progress: Progress | bool | None, total: int) -> None:
        self.progress, self.total = progress, total * _STEPS
        self.stage, self.done = -1, 0
        self.bar: Any = None

    def __enter__(self) -> Callable[..., None]:
        if self.progress is True:
            from rich.progress import Progress as Bar

            self.bar = Bar(transient=True)
            self.bar.start()
            self.task = self.bar.add_task("comparing", total=self.total)
        return self._report

    def _report(self, what: str, share: float | None = None) -> None:
        """A new stage begins, or so much of the last one is done."""
        self.stage += share is None
        done = self.stage * _STEPS + int(_STEPS * (share or 0.0))
        self.done = min(max(done, self.done), self.total) if what else self.total
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done, description=what or "done")
        elif callable(self.progress):
            self.progress(self.done, self.total, what)

    def __exit__(self, *exc: object) -> None:
        if self.bar is not None:
            self.bar.stop()
