"""Candidates beyond critics that are linear in their parameters: boosted trees and a network."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
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
from .objective import Objective

# Trees that only have to say whether there is something to see are few, on few rows.
_PROBE_ROWS = 3000
_PROBE_COLUMNS = 60
_PROBE_GAIN = 0.003
_ERRORS = 3.0


def beyond(
    setup: Setup, held: HeldOut, best: Score, chosen: dict[str, Any], seeds: Seeds
) -> Iterator[tuple[str, Score, dict[str, Any]]]:
    """Candidates that are worth a trial, each with its score and the settings that it stands for.

    Boosted trees are tried where values occur again and again, which smooth critics cannot
    see. A network is tried where trees, on few rows, predict held-out rows better
    than the best so far.

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
        score = _score(_fitted(trees, setup, None), held)
        yield "boosted trees", score, {"critic": trees, "anchor": None, "maps": None, "l2": 0.0}
    elif setup.data[0].shape[1] > _PROBE_COLUMNS:
        # Trees see little of so many columns, and take long for it.
        return
    else:
        probe = HistGradientBoostingClassifier(
            max_iter=50, early_stopping=False, random_state=0, max_leaf_nodes=15
        )
        score = _score(_fitted(probe, setup, _PROBE_ROWS), held)
    gain, error = score.gain(best)
    if gain <= max(_ERRORS * error, _PROBE_GAIN):
        return
    if importlib.util.find_spec("torch") is None:
        warnings.warn(
            f"Boosted trees tell the classes apart better than convex critics do, by {gain:.2g} "
            "nats a row. critic='auto' would try a network too; torch is not installed, and the "
            "convex critic is kept. Install it with: pip install 'isthmus[neural]'",
            stacklevel=2,
        )
        return
    network = MLP(base=chosen["critic"])
    what = {name: chosen[name] for name in ("anchor", "maps", "l2")}
    yield (
        "network",
        _network_score(network, setup, held, what["l2"], seeds),
        {
            "critic": network,
            **what,
        },
    )


def _network_score(network: MLP, setup: Setup, held: HeldOut, l2: float, seeds: Seeds) -> Score:
    """Fit a network on the best convex critic, and judge both together."""
    from .neural.critic import fit_network

    bound, theta, raw = setup.bind(network.base, seeds), None, None
    if np.isfinite(l2):
        objective = Objective(bound, setup.sample, l2)
        zero = np.zeros(bound.n_parameters)
        theta = SOLVERS["newton"](objective, zero, tol=1e-4, max_iter=20).theta
        raw = bound.expand(theta)

    def offset(rows: Array, Z: Array) -> Array:
        h = setup.offset(rows, Z)
        if raw is not None:
            h[:, setup.learned] += bound.values(raw, Z)
        return h

    fit = fit_network(network, setup, offset, seeds)
    return held.score(bound, theta, network=fit)


def _fitted(trees: Any, setup: Setup, most: int | None) -> tuple[Any, Array]:
    """Trees that tell the classes apart, fitted to some rows of each, and the shares of these."""
    from threadpoolctl import threadpool_limits

    rows = [part[:most] for part in setup.classes.rows]
    mass = [weight[:most] for weight in setup.classes.mass]
    counts = np.array([weight.sum() for weight in mass])
    label = np.repeat(np.arange(len(rows)), [len(part) for part in rows])
    weight, given = np.concatenate(mass), {}
    if np.ptp(weight) > 0:
        # Equal weights say nothing, and cost trees dearly.
        given["sample_weight"] = weight
    # On so few rows the threads of the trees cost more than they bring.
    with threadpool_limits(1, user_api="openmp"):
        return clone(trees).fit(np.concatenate(rows), label, **given), counts / counts.sum()


def _score(fitted: tuple[Any, Array], held: HeldOut) -> Score:
    """Score of trees on held-out rows, as if the classes had their priors."""
    trees, share = fitted
    prior, terms = held.setup.prior, []
    for c, rows in enumerate(held.rows):
        odds = np.log(np.maximum(trees.predict_proba(rows), 1e-12)) + np.log(prior / share)
        terms.append(log_softmax(odds, axis=1)[:, c])
    return Score(terms, held.share, prior)
