"""A process that runs cells of one experiment: a JSON line in, a JSON line out.

``python -m isthmus.reproduce.worker module:Class`` is started by the runner with
one thread. Whatever a cell prints goes to stderr, so that it cannot mix with answers.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from typing import Any

EXTRAS = ("torch", "zuko", "nutpie", "dask")


def answer(experiment: Any, cell: dict[str, Any]) -> dict[str, Any]:
    """What one cell gives: its numbers, seconds and warnings, or the error that ended it."""
    from .record import plain

    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = plain(experiment.run(dict(cell)))
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
    }


def main() -> None:
    """Answer every line of stdin until it ends."""
    from . import from_spec

    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        experiment = from_spec(sys.argv[1])
        for line in sys.stdin:
            out.write(json.dumps(answer(experiment, json.loads(line)), allow_nan=False) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
