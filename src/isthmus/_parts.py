"""The steps of ``MDRE.fit`` that are not the algorithm: checks, counts and priors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import solvers
from ._affine import AffineMap
from ._coordinates import Coordinates
from ._typing import Array
from ._validation import as_rows, check_flag, check_number, check_option
from .anchors import anchor_pair, resolve_anchor
from .critics import Diagonal, Quadratic
from .critics.mlp import as_neural, is_neural
from .neural import require_torch
from .solvers import Solution

CRITICS: dict[str, Any] = {
    "quadratic": Quadratic(),
    "diagonal": Diagonal(),
    "low-rank": Quadratic(rank=10),
}
SOLVERS = {"newton": solvers.newton, "lbfgs": solvers.lbfgs}

# Draws of a known auxiliary are free: five times the data, more where these are few, fewer
# where their number would be what takes the time.
_AUXILIARY_VALUES = 1_000_000
_AUXILIARY_FACTOR = 5.0
_AUXILIARY_ROWS = 20_000


def check_parameters(mdre: Any, neural: bool = False) -> None:
    """Refuse parameters that do not fit, before any work is done.

    Parameters
    ----------
    mdre : estimator
    neural : bool
        Whether the critic may be a network.
    """
    if isinstance(mdre.prior, str):
        check_option(mdre.prior, "prior", ["uniform", "counts"])
    critic, names = mdre.critic, ["auto", *CRITICS, *(["mlp"] if neural else [])]
    if neural and is_neural(critic):
        require_torch(f"critic={critic!r}" if isinstance(critic, str) else "a neural critic")
        network = as_neural(critic)
        network.check()
        critic, names = network.base, ["auto", *CRITICS]
    if isinstance(critic, str) or (critic is None and mdre.critic is None):
        check_option(critic, "critic" if critic is mdre.critic else "base", names)
    elif critic is not None and not any(
        callable(getattr(critic, name, None)) for name in ("bind", "predict_proba")
    ):
        raise ValueError(
            f"critic must be one of {names}, have bind(frames), as those in "
            "isthmus.critics, or be a classifier with predict_proba; received a "
            f"{type(critic).__name__} without bind."
        )
    if mdre.anchor is not None:
        for anchor in anchor_pair(getattr(mdre.anchor, "anchor", mdre.anchor)):
            resolve_anchor(anchor)
    if mdre.l2 != "auto":
        check_number(mdre.l2, "l2", low=0)
    if mdre.oversample != "auto":
        check_number(mdre.oversample, "oversample", low=0, open_low=True, open_high=True)
    check_option(mdre.solver, "solver", list(SOLVERS))
    check_flag(mdre.known_density, "known_density")
    check_number(mdre.tol, "tol", low=0, open_low=True, open_high=True)
    check_number(
        int(mdre.verbose) if isinstance(mdre.verbose, bool) else mdre.verbose, "verbose", low=0
    )
    check_number(mdre.max_iter, "max_iter", low=1, integer=True)


def draw_count(sizes: list[int], n_columns: int, oversample: float | str | None) -> int:
    """How many rows of an auxiliary to draw.

    Parameters
    ----------
    sizes : list of int
        Numbers of rows of p and of q.
    n_columns : int
    oversample : float, "auto" or None
        None for an auxiliary that is learned.
    """
    if oversample is None:
        return max(sizes)
    if oversample != "auto":
        return int(np.ceil(float(oversample) * max(sizes)))
    # Between unequal samples, as many as for two of their geometric mean.
    typical = np.sqrt(float(sizes[0]) * sizes[1])
    most = max(_AUXILIARY_FACTOR, _AUXILIARY_ROWS / typical)
    factor = min(max(_AUXILIARY_VALUES / (typical * n_columns), 2.0), most)
    return max(int(np.ceil(factor * typical)), 2 * max(sizes))


def draw_rows_of(
    auxiliary: Any, name: str, count: int, shared: AffineMap, rng: np.random.Generator
) -> Array:
    """Draw the rows of one auxiliary class and check them."""
    count = getattr(auxiliary, "n_samples", count)
    rows = as_rows(auxiliary.sample(count, rng), f"The sample of auxiliary {name}", min_rows=2)
    if rows.shape[1] != len(shared.centre):
        raise ValueError(
            f"The sample of auxiliary {name} must have {len(shared.centre)} columns; received "
            f"{rows.shape[1]}."
        )
    return rows


def check_subspace(rows: Array, name: str, where: Coordinates) -> None:
    """Refuse a known density off the subspace of the samples: it would not compare with theirs."""
    shared = where.affine
    if shared.forward.shape[1] == len(shared.centre):
        return
    some = rows[:100]
    back = where.inverse(where(some))
    unit = np.abs(some - shared.centre).max() + np.abs(shared.centre).max()
    if np.abs(back - some).max() > 1e-6 * unit:
        raise ValueError(
            f"Auxiliary {name} leaves the subspace of the samples, whose columns are constant or "
            "linearly dependent: drop such columns, or use auxiliaries='auto'."
        )


def class_prior(prior: Any, counts: Array, names: list[str]) -> Array:
    """Prior probabilities of the classes from the parameter ``prior``."""
    if isinstance(prior, str):
        share = counts if prior == "counts" else np.ones_like(counts)
        return np.asarray(share / share.sum())
    values = prior
    if isinstance(values, Mapping):
        if set(values) != set(names):
            raise ValueError(f"prior must have the keys {names}; received {list(values)}.")
        values = [values[name] for name in names]
    share = np.asarray(values, dtype=np.float64)
    if share.shape != counts.shape or not np.isfinite(share).all() or (share <= 0).any():
        raise ValueError(
            f"prior must be 'uniform', 'counts' or one positive number for each of the classes "
            f"{names}; received {prior!r}."
        )
    return np.asarray(share / share.sum())


def parts_of(critic: Any) -> tuple[Any, Any]:
    """The neural part of a critic, or None, and the convex one that it stands on."""
    network = None
    if is_neural(critic):
        network = as_neural(critic)
        critic = network.base
    if critic is None:
        return network, Quadratic()
    return network, CRITICS.get(critic, critic) if isinstance(critic, str) else critic


def warn_unless_converged(solution: Solution, tol: float, stacklevel: int = 2) -> None:
    """Say how a solver ended, unless it reached its tolerance."""
    if not solution.converged:
        warnings.warn(
            f"MDRE did not converge in {solution.iterations} steps (gradient "
            f"{solution.gradient_norm:.1e}, tol {tol:.1e}): {solution.status}.",
            ConvergenceWarning,
            stacklevel=stacklevel + 1,
        )


def report_step(iteration: int, norm: float) -> None:
    """Print a line for a step of a solver."""
    print(f"MDRE step {iteration:3d}   gradient {norm:.2e}")
