"""The record of how settings were chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..typing import Array


@dataclass(frozen=True)
class Trial:
    """One candidate.

    Attributes
    ----------
    stage : str
        What was being chosen: "anchor", "critic" or "auxiliary".
    name : str
    score : float
        Held-out multinomial log-likelihood, a sample.
    gain : float
        How much higher than that of the best before it.
    std_error : float
        Standard error of the gain.
    chosen : bool
        Whether it was the best so far, by more than chance.
    weakest : bool
        Whether it is a critic with the weakest penalty that is tried.
    """

    stage: str
    name: str
    score: float
    gain: float
    std_error: float
    chosen: bool
    weakest: bool = False


@dataclass(frozen=True)
class Member:
    """A candidate of a stack.

    Attributes
    ----------
    name : str
    coefficient : float
        What its log-ratio is multiplied by; zero where it adds nothing.
    gain : float
        Held-out log-likelihood a row over that of no difference at all.
    std_error : float
        Standard error of the gain.
    """

    name: str
    coefficient: float
    gain: float
    std_error: float


@dataclass(frozen=True)
class Selection:
    """How the settings of a fit were chosen.

    Attributes
    ----------
    trials : list of Trial
        Every candidate in the order in which it was tried.
    rule : str
        Why there are no trials, where there are none.
    reasons : list of str
        Why each auxiliary is there, where they were chosen.
    alternatives : list of (ndarray, ndarray)
        Log p/q at held-out rows of p and of q by the chosen anchors, then by others
        that fit as well.
    members : list of Member
        The candidates of a stack.
    """

    trials: list[Trial] = field(default_factory=list)
    rule: str = ""
    reasons: list[str] = field(default_factory=list)
    alternatives: list[tuple[Array, Array]] = field(default_factory=list, repr=False, compare=False)
    members: list[Member] = field(default_factory=list)

    @property
    def by_anchor(self) -> list[float]:
        """Mean log p/q at held-out rows of p by each of the alternatives."""
        return [float(np.mean(p)) for p, _ in self.alternatives]

    @property
    def rising(self) -> bool:
        """Whether the last and weakest penalty tried was still the best."""
        path = [trial for trial in self.trials if trial.stage == "critic"]
        chosen = [k for k, trial in enumerate(path) if trial.chosen]
        return bool(chosen) and path[chosen[-1]].weakest

    def summary(self) -> str:
        """A table, one line for each trial; the last of each stage with a star was chosen."""
        if not self.trials:
            return self.rule
        lines = [f"{'':2}{'stage':10}{'score':>10}{'gain':>10}{'± s.e.':>9}  candidate"]
        for t in self.trials:
            star = "*" if t.chosen else ""
            lines.append(
                f"{star:2}{t.stage:10}{t.score:10.5f}{t.gain:+10.5f}{t.std_error:9.5f}  {t.name}"
            )
        lines += [f"m{k + 1}: {reason}" for k, reason in enumerate(self.reasons)]
        return "\n".join(lines)
