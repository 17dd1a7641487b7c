"""What "auto" means, and the record of how it was chosen.

A quarter of the rows is held out. Candidates are fitted to the others and judged
by the multinomial log-likelihood of the held-out rows of p and q and of fresh draws
of an auxiliary: the probability that the model gives to the class that a row came
from. Nothing is ever chosen by a divergence, let alone by a truth. The search itself
is in ``_search.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._parts import parts_of
from ._random import Seeds
from ._typing import Array
from .critics.classifier import is_classifier

LEAST_ROWS = 200
"""Rows of each sample below which none are held out, and "auto" is a rule."""

_CHOICES = ("maps", "anchor", "auxiliaries", "critic", "l2")


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
    """

    trials: list[Trial] = field(default_factory=list)
    rule: str = ""
    reasons: list[str] = field(default_factory=list)
    alternatives: list[tuple[Array, Array]] = field(default_factory=list, repr=False, compare=False)

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


def choose(
    settings: dict[str, Any],
    p: Array,
    q: Array,
    weights: tuple[Array | None, Array | None],
    seeds: Seeds,
    names: Any = None,
) -> tuple[dict[str, Any], Selection]:
    """Replace every "auto" in the settings of an estimator by a choice.

    Parameters
    ----------
    settings : dict
        Parameters of :class:`MDRE`.
    p, q, weights, seeds, names
        As in :class:`~isthmus._setup.Setup`.

    Returns
    -------
    chosen : dict
        ``maps``, ``anchor``, ``auxiliaries``, ``critic`` and ``l2``, to be set as
        parameters.
    selection : Selection
        The trials.
    """
    network, convex = parts_of(settings["critic"])
    if network is not None:
        return _below(network, {**settings, "critic": convex}, p, q, weights, seeds, names)
    chosen = {name: settings[name] for name in _CHOICES}
    if not any(is_auto(value) for value in chosen.values()):
        return chosen, Selection(rule="Every setting was given.")
    if is_classifier(chosen["critic"]):
        rule = "The critic is a classifier, which takes rows as they are."
        return {**by_rule(chosen), "auxiliaries": chosen["auxiliaries"]}, Selection(rule=rule)
    if chosen["anchor"] is None:
        return by_rule(chosen), Selection(rule="Without anchors there is nothing to choose from.")
    if min(len(p), len(q)) < LEAST_ROWS:
        rule = f"Fewer than {LEAST_ROWS} rows in a sample: none were held out."
        return by_rule(chosen), Selection(rule=rule)
    # Imported here: the search writes the records above.
    from ._search import Search

    trials = Search(settings, chosen, p, q, weights, seeds, names).run()
    return by_rule(chosen), trials


def _below(network: Any, settings: dict[str, Any], *given: Any) -> tuple[dict[str, Any], Selection]:
    """Choose what a network that is asked for stands on."""
    if network.base is None:
        settings = {**settings, "l2": np.inf}
    chosen, selection = choose({**settings, "networks": True}, *given)
    base = None if network.base is None else chosen["critic"]
    return {**chosen, "critic": network.on(base)}, selection


def is_auto(value: Any) -> bool:
    """Whether a setting is left to be chosen."""
    return isinstance(value, str) and value == "auto"


def by_rule(chosen: dict[str, Any]) -> dict[str, Any]:
    """Settings in which a rule stands for what is still open."""
    rule = {"maps": None, "anchor": "gaussian", "critic": "quadratic", "auxiliaries": "bridge"}
    return {**chosen, **{name: rule[name] for name in rule if is_auto(chosen[name])}}
