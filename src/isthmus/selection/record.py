"""The record of how settings were chosen."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.holdout import LIKELY
from ..functionals.f_divergence import Divergence
from ..typing import Array

DENSITIES = "fitted densities"
"""What the first candidate of a stack is called."""

_WORDS = {
    "GaussianAnchor()": "normal",
    "StudentTAnchor()": "Student-t",
    "GeneralisedNormalAnchor()": "generalised normal",
    "MixtureAnchor": "mixture",
    "CopulaAnchor": "copula",
    "TruncatedAnchor": "cut-off normal",
}


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
    def stacked(self) -> bool:
        """Whether the answer is that of a stack, and not of fitted densities alone."""
        return any(one.coefficient > 0 for one in self.members[1:]) or (
            bool(self.members) and self.members[0].coefficient != 1.0
        )

    @property
    def rests_on(self) -> str:
        """What the answer rests on, in a line.

        Examples
        --------
        >>> trial = Trial("anchor", "GaussianAnchor() for p, GaussianAnchor() for q", 0, 0, 0, True)
        >>> Selection([trial]).rests_on
        'fitted densities: normal for p, normal for q'
        """
        counts = [one for one in self.members if one.coefficient > 0]
        if not counts and self.members:
            return "no candidate, as none sees a difference"
        total = sum(one.coefficient for one in counts)
        parts = sorted(counts, key=lambda one: -one.coefficient)
        if len(parts) > 1:
            return ", ".join(f"{one.name} ({one.coefficient / total:.0%})" for one in parts)
        if parts and parts[0].name != DENSITIES:
            return parts[0].name
        chosen = {trial.stage: trial.name for trial in self.trials if trial.chosen}
        told = "; ".join(chosen.values()) or self.rule or "settings as given"
        for name, word in _WORDS.items():
            told = told.replace(name, word)
        return f"{DENSITIES}: {told}"

    def unseen(self, divergence: Divergence) -> float:
        """Largest divergence that would not have been seen, where none was; otherwise zero.

        Twice the standard error of a candidate's gain in log-likelihood is a gain that it would
        have been noticed by; it is turned into the divergence of two coins that are as hard to
        tell apart.
        """
        if any(one.coefficient > 0 for one in self.members):
            return 0.0
        gain = max((one.gain + LIKELY * one.std_error for one in self.members), default=0.0)
        # Candidates that lose by far would still not have noticed less than their noise.
        gain = max(gain, float(np.median([one.std_error for one in self.members] or [0.0])))
        tilt = min(np.sqrt(2.0 * max(gain, 0.0)), 0.49)
        p, q = np.array([0.5 + tilt, 0.5 - tilt]), np.array([0.5, 0.5])
        t = np.log(p / q)
        return float(divergence.value(t, t, p, q))

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
        if not self.trials and not self.members:
            return self.rule
        lines = []
        if self.members:
            lines = [f"{'coefficient':>11}{'gain':>10}{'± s.e.':>9}  candidate of the stack"]
            lines += [
                f"{m.coefficient:11.3f}{m.gain:+10.5f}{m.std_error:9.5f}  {m.name}"
                for m in self.members
            ]
        if not self.trials:
            return "\n".join(lines)
        lines += [f"{'':2}{'stage':10}{'score':>10}{'gain':>10}{'± s.e.':>9}  candidate"]
        for t in self.trials:
            star = "*" if t.chosen else ""
            lines.append(
                f"{star:2}{t.stage:10}{t.score:10.5f}{t.gain:+10.5f}{t.std_error:9.5f}  {t.name}"
            )
        lines += [f"m{k + 1}: {reason}" for k, reason in enumerate(self.reasons)]
        return "\n".join(lines)
