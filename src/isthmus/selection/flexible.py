"""Candidates beyond critics that are linear in their parameters: boosted trees and a network."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from ..auxiliaries.discrete import has_atoms
from ..critics.mlp import MLP
from ..data.holdout import LOST_ROW, PROVEN, Gain
from ..data.seeds import Seeds
from ..data.telling import tell
from ..model.objective import Objective
from ..model.rows import ClassRows
from ..model.solvers import newton
from ..neural.inputs import FrameInputs
from ..settings import Settings
from ..typing import Array
from .score import HeldOut, Score

# The probe: waves of random directions, of these lengths, on so many rows of each class.
_WAVES = 240
_FREQUENCIES = (0.7, 1.5, 3.0)
_PROBE_ROWS = 6000
_RIDGES = (1.0, 0.1, 0.01)
_STEPS = (1.0, 3.0, 10.0)


def flexible_candidates(
    classes: ClassRows, held: HeldOut, settings: Settings, seeds: Seeds
) -> Iterator[tuple[str, Score, dict[str, Any]]]:
    """Candidates that are worth a trial, each with its score and the settings that it stands for.

    Boosted trees are tried where values occur again and again, which smooth critics cannot
    see. A network is tried where random waves explain part of what the best critic so far
    gets wrong; see :func:`_probe`. ``settings`` are what has been chosen so far.
    """
    if has_atoms(*(sample.rows for sample in classes.samples)):
        trees = HistGradientBoostingClassifier(
            max_iter=200, early_stopping=True, random_state=0, max_leaf_nodes=15
        )
        score = _score(trees, classes, held)
        yield "boosted trees", score, {"critic": trees, "anchor": None, "maps": None, "l2": 0.0}
    offset, judged = _convex(classes, held, settings)
    gain, error = _probe(classes, offset, judged, seeds)
    if not gain > PROVEN * error:
        return
    if importlib.util.find_spec("torch") is None:
        tell(
            "The convex critics miss part of the difference between the samples, and critic='auto' "
            "would try a network; torch is not installed, and the best of them is kept. Install "
            "torch with: pip install 'isthmus[neural]'",
            stacklevel=2,
        )
        return
    from ..model.network import fit_network

    what = {"anchor": settings.anchor, "maps": settings.maps}
    network = MLP()
    fit = fit_network(network, classes, classes.offsets, seeds)
    yield "network", held.score(network=fit), {"critic": network, "l2": np.inf, **what}
    if np.isfinite(settings.l2):
        network = MLP(base=settings.critic)
        fit = fit_network(network, classes, offset, seeds)
        name = "network on the convex critic"
        yield name, judged(fit), {"critic": network, "l2": settings.l2, **what}


def _convex(
    classes: ClassRows, held: HeldOut, settings: Settings
) -> tuple[Callable[[Array, Array], Array], Callable[[Any], Score]]:
    """The best convex critic, as a function of rows, and scores of what is added to it."""
    bound, theta, raw = classes.bind(settings.critic), None, None
    if np.isfinite(settings.l2):
        objective = Objective(bound, classes.blocks, settings.l2)
        theta = newton(objective, np.zeros(bound.n_parameters), tol=1e-4, max_iter=20).theta
        raw = bound.expand(theta)

    def offset(rows: Array, Z: Array) -> Array:
        h = classes.offsets(rows, Z)
        if raw is not None:
            h[:, classes.offsets.learned] += bound.values(raw, Z)
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
    classes: ClassRows,
    offset: Callable[[Array, Array], Array],
    judged: Callable[[Any], Score],
    seeds: Seeds,
) -> Gain:
    """How much random waves raise the held-out likelihood, and its standard error.

    One step of gradient boosting from the critics h: waves are fitted, by ridge
    regression, to the residuals 1[c] - P(c | x), and a multiple of them is added to h. It takes
    a fraction of a second, where a network takes several and torch must be imported first.
    """
    inputs, prior, learned = FrameInputs(classes.frames[:2]), classes.prior, classes.offsets.learned
    parts = [
        (x.rows[:_PROBE_ROWS], z.rows[:_PROBE_ROWS], x.weight[:_PROBE_ROWS])
        for x, z in zip(classes.given, classes.mapped, strict=True)
    ]
    seen = np.concatenate([inputs(rows, Z) for rows, Z, _ in parts])
    h = np.concatenate([offset(rows, Z) for rows, Z, _ in parts]) + np.log(prior)
    label = np.repeat(np.arange(len(parts)), [len(rows) for rows, _, _ in parts])
    share = np.concatenate(
        [pi * mass / mass.sum() for pi, (_, _, mass) in zip(prior, parts, strict=True)]
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
    residual = (label[:, None] == learned) - np.exp(log_softmax(h, axis=1))[:, learned]
    # Every third row judges penalty and length of the step; rows held out are for the result.
    judge = np.arange(len(label)) % 3 == 0
    fit, mass = ~judge, share[:, None]
    gram = features[fit].T @ (features[fit] * mass[fit])
    moment = features[fit].T @ (residual[fit] * mass[fit])
    unit = np.trace(gram) / len(length) * np.eye(len(length))

    def likelihood(h: Array) -> float:
        own = log_softmax(h, axis=1)[np.arange(len(h)), label[judge]]
        return float(share[judge] @ np.maximum(own, -LOST_ROW))

    best, found = likelihood(h[judge]), np.zeros_like(moment)
    for ridge in _RIDGES:
        candidate = np.linalg.solve(gram + ridge * unit, moment)
        along = np.zeros_like(h[judge])
        along[:, learned] = features[judge] @ candidate
        for step in _STEPS:
            value = likelihood(h[judge] + step * along)
            if value > best:
                best, found = value, step * candidate
    return judged(replace(waves, coefficients=found)).gain(judged(None))


def _score(trees: Any, classes: ClassRows, held: HeldOut) -> Score:
    """Score of trees on held-out rows, as if the classes had their priors."""
    rows = [sample.rows for sample in classes.given]
    label = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    weight = np.concatenate([sample.weight for sample in classes.blocks.classes])
    fitted = clone(trees).fit(np.concatenate(rows), label, weight)
    terms = [
        np.log(np.maximum(fitted.predict_proba(rows)[:, c], 1e-12))
        for c, rows in enumerate(held.rows)
    ]
    return Score(terms, held.share, classes.prior)
