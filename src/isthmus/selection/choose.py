"""What "auto" means.

A quarter of the rows is held out. Candidates are fitted to the others and judged
by the multinomial log-likelihood of the held-out rows of p and q and of fresh draws
of an auxiliary: the probability that the model gives to the class that a row came
from. Nothing is ever chosen by a divergence, let alone by a truth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..critics.mlp import as_neural, is_neural
from ..critics.resolve import convex_critic
from ..data.holdout import LEAST_ROWS
from ..data.sample import TwoSamples
from ..data.seeds import Seeds
from ..model.classifier import is_classifier
from ..settings import Settings, is_auto
from .penalty import choose_penalty_of_classes
from .record import Selection
from .search import Search


def choose(
    settings: Settings, samples: TwoSamples, seeds: Seeds, *, networks: bool = True
) -> tuple[Settings, Selection]:
    """Replace every "auto" in the settings by a choice, and say how it was made.

    Nothing is left open but a penalty that is a rule. ``networks`` says whether networks and
    trees may be tried for the critic.
    """
    if is_neural(settings.critic):
        return _below(as_neural(settings.critic), settings, samples, seeds)
    if not settings.open_choices:
        return settings, Selection(rule="Every setting was given.")
    if is_classifier(settings.critic):
        rule = "The critic is a classifier, which takes rows as they are."
        return settings.by_rule().but(auxiliaries=settings.auxiliaries), Selection(rule=rule)
    if samples.least < LEAST_ROWS:
        rule = f"Fewer than {LEAST_ROWS} rows in a sample: none were held out."
        return settings.by_rule(), Selection(rule=rule)
    if settings.anchor is None:
        return _without_anchors(settings.by_rule(), samples, seeds)
    found, selection = Search(settings, samples, seeds, networks).run()
    return found.by_rule(), selection


def _without_anchors(
    settings: Settings, samples: TwoSamples, seeds: Seeds
) -> tuple[Settings, Selection]:
    """The paper's model: what is open is a rule, except for the penalty."""
    if not is_auto(settings.l2):
        return settings, Selection(rule="Without anchors there is nothing to choose from.")
    penalty = choose_penalty_of_classes(settings, samples, seeds)
    return settings.but(l2=penalty.l2), penalty.selection


def _below(
    network: Any, settings: Settings, samples: TwoSamples, seeds: Seeds
) -> tuple[Settings, Selection]:
    """Choose what a network that is asked for stands on."""
    alone = network.base is None
    settings = settings.but(critic=convex_critic(network.base))
    if alone:
        settings = settings.but(l2=np.inf)
    found, selection = choose(settings, samples, seeds, networks=False)
    return found.but(critic=network.on(None if alone else found.critic)), selection
