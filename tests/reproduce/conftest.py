"""An experiment of a second, for tests of what all experiments share."""

from __future__ import annotations

import functools
import sys

import pytest

from isthmus import reproduce as experiments

TOY = """
import os, pathlib, time, warnings
from isthmus.reproduce import Experiment, Table

class Toy(Experiment):
    name, title, about = "toy", "A toy", "Says what it is given."

    def cells(self, quick, seeds):
        kinds = ["fine"] if quick else ["fine", "loud"]
        return [{"kind": kind, "seed": seed} for kind in kinds for seed in range(seeds)]

    def run(self, cell):
        kind = cell["kind"]
        here = pathlib.Path(__file__)
        with here.with_name("runs.txt").open("a") as file:
            file.write(f"{kind} {cell['seed']}\\n")
        with here.with_name("processes.txt").open("a") as file:
            file.write(f"{os.getpid()}\\n")
        if kind == "loud":
            print("this must not mix with answers", flush=True)
            warnings.warn("quite loud")
        if kind == "error":
            raise ValueError("no such luck")
        if kind == "death":
            print("out of memory", flush=True)
            os._exit(7)
        if kind in ("slow", "brief"):
            time.sleep(120 if kind == "slow" else 3)
        threads = os.environ["OMP_NUM_THREADS"]
        return {"value": cell["seed"] / 3, "none": float("nan"), "threads": threads}

    def tables(self, results):
        rows = [[r["kind"], str(r["seed"]), f"{r['value']:.3f}"] for r in results]
        return [Table("Values", ["kind", "seed", "value"], rows, ["A note."])]

    def figures(self, results):
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        figure.subplots().plot([r["value"] for r in results], marker="o")
        return {"values": figure}
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """An experiment in a module that worker processes can import; and what it has run."""
    folder = tmp_path / "module"
    folder.mkdir()
    (folder / "toy_experiment.py").write_text(TOY)
    monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop("toy_experiment", None)
    experiment = experiments.from_spec("toy_experiment:Toy")

    def lines(name):
        log = folder / f"{name}.txt"
        return sorted(log.read_text().splitlines()) if log.exists() else []

    experiment.runs = functools.partial(lines, "runs")
    experiment.processes = lambda: [int(each) for each in set(lines("processes"))]
    return experiment
