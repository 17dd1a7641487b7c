"""Candidates beyond critics that are linear in their parameters: boosted trees and a network."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from ._parts import SOLVERS
from ._random import Seeds
from ._setup import HeldOut, Score, Setup
from ._typing import Array
from .auxiliaries._discrete import has_atoms
from .critics.mlp import MLP
from .neural.inputs import FrameInputs
from .objective import Objective

# The probe: waves of random directions, of these lengths, on so many rows of each class.
_WAVES = 240
_FREQUENCIES = (0.7, 1.5, 3.0)
_PROBE_ROWS = 6000
_RIDGES = (1.0, 0.1, 0.01)
_STEPS = (1.0, 3.0, 10.0)
_LOST = -20.0
_ERRORS = 3.0


def beyond(
    setup: Setup, held: HeldOut, best: Score, chosen: dict[str, Any], seeds: Seeds
) -> Iterator[tuple[str, Score, dict[str, Any]]]:
    """Candidates that are worth a trial, each with its score and the settings that it stands for.

    Boosted trees are tried where values occur again and again, which smooth critics cannot
    see. A network is tried where random waves explain part of what the best critic so far
    gets wrong; see :func:`_probe`.

    Parameters
    ----------
    setup : Setup
        The rows to fit to.
    held : HeldOut
        The rows to judge by.
    best : Score
        That of the best convex critic.
    chosen : dict
        What has been chosen: maps, anchors, critic and penalty.
    seeds : Seeds
    """
    chosen = dict(chosen)
    if has_atoms(*setup.data):
        trees = HistGradientBoostingClassifier(
            max_iter=200, early_stopping=True, random_state=0, max_leaf_nodes=15
        )
        score = _score(trees, setup, held)
        yield "boosted trees", score, {"critic": trees, "anchor": None, "maps": None, "l2": 0.0}
    offset, judged = _convex(setup, held, chosen, seeds)
    gain, error = _probe(setup, held, offset, judged, seeds)
    if not gain > _ERRORS * error:
        return
    if importlib.util.find_spec("torch") is None:
        warnings.warn(
            "The convex critics miss part of the difference between the samples, and critic='auto' "
            "would try a network; torch is not installed, and the best of them is kept. Install "
            "torch with: pip install 'isthmus[neural]'",
            stacklevel=2,
        )
        return
    from .neural.critic import fit_network

    what = {name: chosen[name] for name in ("anchor", "maps")}
    network = MLP()
    fit = fit_network(network, setup, setup.offset, seeds)
    yield "network", held.score(network=fit), {"critic": network, "l2": np.inf, **what}
    if np.isfinite(chosen["l2"]):
        network = MLP(base=chosen["critic"])
        fit = fit_network(network, setup, offset, seeds)
        name = "network on the convex critic"
        yield name, judged(fit), {"critic": network, "l2": chosen["l2"], **what}


def _convex(
    setup: Setup, held: HeldOut, chosen: dict[str, Any], seeds: Seeds
) -> tuple[Callable[[Array, Array], Array], Callable[[Any], Score]]:
    """The best convex critic, as a function of rows, and scores of what is added to it."""
    bound, theta, raw = setup.bind(chosen["critic"], seeds), None, None
    if np.isfinite(chosen["l2"]):
        objective = Objective(bound, setup.sample, chosen["l2"])
        zero = np.zeros(bound.n_parameters)
        theta = SOLVERS["newton"](objective, zero, tol=1e-4, max_iter=20).theta
        raw = bound.expand(theta)

    def offset(rows: Array, Z: Array) -> Array:
        h = setup.offset(rows, Z)
        if raw is not None:
            h[:, setup.learned] += bound.values(raw, Z)
        return h

    return offset, lambda network: held.score(bound, theta, network=network)


@dataclass(frozen=True)
class _Waves:
    """A sum of random waves for every learned class, in place of a network."""

    inputs: Any
    centre: Array
    scale: Array
    direction: Array
    phase: Array
    coefficients: Array

    def features(self, rows: Array, Z: Array) -> Array:
        u = (self.inputs(rows, Z) - self.centre) / self.scale
        return np.asarray(np.cos(u @ self.direction + self.phase))

    def values(self, rows: Array, Z: Array) -> Array:
        return np.asarray(self.features(rows, Z) @ self.coefficients)


def _probe(
    setup: Setup,
    held: HeldOut,
    offset: Callable[[Array, Array], Array],
    judged: Callable[[Any], Score],
    seeds: Seeds,
) -> tuple[float, float]:
    """How much random waves raise the held-out likelihood, and its standard error.

    One step of gradient boosting from the critics h: waves are fitted, by ridge
    regression, to the residuals 1[c] - P(c | x), and a multiple of them is added to h. It takes
    a fraction of a second, where a network takes several and torch must be imported first.
    """
    inputs = FrameInputs(setup.frames[:2])
    parts = [
        (rows[:_PROBE_ROWS], Z[:_PROBE_ROWS], mass[:_PROBE_ROWS])
        for rows, Z, mass in zip(
            setup.classes.rows, setup.classes.Z, setup.classes.mass, strict=True
        )
    ]
    seen = np.concatenate([inputs(rows, Z) for rows, Z, _ in parts])
    h = np.concatenate([offset(rows, Z) for rows, Z, _ in parts]) + np.log(setup.prior)
    label = np.repeat(np.arange(len(parts)), [len(rows) for rows, _, _ in parts])
    share = np.concatenate(
        [pi * mass / mass.sum() for pi, (_, _, mass) in zip(setup.prior, parts, strict=True)]
    )
    rng = seeds("probe")
    length = np.repeat(_FREQUENCIES, _WAVES // len(_FREQUENCIES))
    direction = rng.normal(size=(seen.shape[1], len(length)))
    direction *= length / np.linalg.norm(direction, axis=0)
    phase = rng.uniform(0, 2 * np.pi, len(length))
    scale = seen.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    waves = _Waves(inputs, seen.mean(axis=0), scale, direction, phase, np.zeros((0, 0)))
    features = np.cos((seen - waves.centre) / scale @ direction + phase)
    residual = (label[:, None] == setup.learned) - np.exp(log_softmax(h, axis=1))[:, setup.learned]
    # Every third row judges penalty and length of the step; rows held out are for the result.
    judge = np.arange(len(label)) % 3 == 0
    fit, mass = ~judge, share[:, None]
    gram = features[fit].T @ (features[fit] * mass[fit])
    moment = features[fit].T @ (residual[fit] * mass[fit])
    unit = np.trace(gram) / len(length) * np.eye(len(length))

    def likelihood(h: Array) -> float:
        own = log_softmax(h, axis=1)[np.arange(len(h)), label[judge]]
        return float(share[judge] @ np.maximum(own, _LOST))

    best, found = likelihood(h[judge]), np.zeros_like(moment)
    for ridge in _RIDGES:
        candidate = np.linalg.solve(gram + ridge * unit, moment)
        along = np.zeros_like(h[judge])
        along[:, setup.learned] = features[judge] @ candidate
        for step in _STEPS:
            value = likelihood(h[judge] + step * along)
            if value > best:
                best, found = value, step * candidate
    return judged(replace(waves, coefficients=found)).gain(judged(None))


def _score(trees: Any, setup: Setup, held: HeldOut) -> Score:
    """Score of trees on held-out rows, as if the classes had their priors."""
    rows, weight = setup.classes.rows, setup.sample.weight
    fitted = clone(trees).fit(np.concatenate(rows), setup.sample.label, weight)
    terms = [
        np.log(np.maximum(fitted.predict_proba(rows)[:, c], 1e-12))
        for c, rows in enumerate(held.rows)
    ]
    return Score(terms, held.share, setup.prior)
