"""The paper's tables and figures, run again: what ``isthmus reproduce NAME`` does.

Every table or figure is one file with one subclass of :class:`Experiment`. It says
which cells of work there are, runs one of them, and turns the numbers of all into
tables and figures; the rest (processes, going on after a stop, records) is shared.
"""

from __future__ import annotations

import difflib
from importlib import import_module

from .runner import Experiment, Outcome, Stopped, Table, run_experiment

# In the order of the paper. A module is imported when its experiment is loaded.
EXPERIMENTS: dict[str, str] = {
    "figure-1": "isthmus.reproduce.figure1:Figure1",
    "figure-2": "isthmus.reproduce.figure2:Figure2",
    "table-1": "isthmus.reproduce.table1:Table1",
    "figure-3": "isthmus.reproduce.figures34:Figure3",
    "figure-4": "isthmus.reproduce.figures34:Figure4",
    "table-2": "isthmus.reproduce.table2:Table2",
    "search": "isthmus.reproduce.search:TrainingSearch",
    "table-3": "isthmus.reproduce.table3:Table3",
    "omniglot": "isthmus.reproduce.omniglot:Omniglot",
    "curves": "isthmus.reproduce.curves:Curves",
    "diagnostics": "isthmus.reproduce.diagnostics:Diagnostics",
    "choose-k": "isthmus.reproduce.choose_k:ChooseK",
    "bayes": "isthmus.reproduce.bayes:Bayes",
    "appendix-f": "isthmus.reproduce.appendix_f:AppendixF",
    "consistency": "isthmus.reproduce.consistency:Consistency",
    "beyond": "isthmus.reproduce.beyond:Beyond",
}

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Outcome",
    "Stopped",
    "Table",
    "load",
    "names",
    "run_experiment",
]


def names() -> list[str]:
    """Names of all experiments, in the order of the paper."""
    return list(EXPERIMENTS)


def load(name: str) -> Experiment:
    """Make the experiment of this name.

    Examples
    --------
    >>> load("table-1").title
    'Table 1: KL of one-dimensional normals far apart'
    >>> load("tabel1")
    Traceback (most recent call last):
    ValueError: NAME must be that of an experiment, or all; received 'tabel1'. Did you mean ...?
    """
    if name not in EXPERIMENTS:
        close = difflib.get_close_matches(str(name), EXPERIMENTS, n=3, cutoff=0.4)
        hint = f"Did you mean {' or '.join(close)}?" if close else ""
        hint = hint or f"There are {', '.join(EXPERIMENTS)}."
        raise ValueError(f"NAME must be that of an experiment, or all; received {name!r}. {hint}")
    experiment: Experiment = from_spec(EXPERIMENTS[name])
    if experiment.name != name:
        raise ValueError(
            f"{EXPERIMENTS[name]} must have the name {name!r}; it has {experiment.name!r}."
        )
    return experiment


def from_spec(spec: str) -> Experiment:
    """Make the experiment of a class given as ``module:Class``."""
    module, _, cls = spec.partition(":")
    experiment: Experiment = getattr(import_module(module), cls)()
    return experiment
