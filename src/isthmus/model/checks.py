"""Parameters of a fit that do not fit, refused before any work is done."""

from __future__ import annotations

from typing import Any

from ..anchors import anchor_pair, resolve_anchor
from ..critics import BY_NAME
from ..critics.mlp import as_neural, is_neural
from ..data.validation import check_flag, check_number, check_option
from ..neural.lazy_torch import require_torch
from ..settings import Settings, is_auto
from .solvers import SOLVERS


def check_settings(settings: Settings, neural: bool = False) -> None:
    """Refuse settings that do not fit.

    Parameters
    ----------
    settings : Settings
    neural : bool
        Whether the critic may be a network.
    """
    if isinstance(settings.prior, str):
        check_option(settings.prior, "prior", ["uniform", "counts"])
    _check_critic(settings.critic, neural)
    if settings.anchor is not None:
        for anchor in anchor_pair(getattr(settings.anchor, "anchor", settings.anchor)):
            resolve_anchor(anchor)
    if not is_auto(settings.l2):
        check_number(settings.l2, "l2", low=0)
    if not is_auto(settings.oversample):
        check_number(settings.oversample, "oversample", low=0, open_low=True, open_high=True)
    if callable(getattr(settings.solver, "train", None)):
        settings.solver.check(settings)
    else:
        check_option(settings.solver, "solver", list(SOLVERS))
    check_flag(settings.known_density, "known_density")
    check_number(settings.tol, "tol", low=0, open_low=True, open_high=True)
    check_number(settings.max_iter, "max_iter", low=1, integer=True)


def check_verbose(verbose: Any) -> None:
    """Refuse a level of printing that is not a number or a flag."""
    check_number(int(verbose) if isinstance(verbose, bool) else verbose, "verbose", low=0)


def _check_critic(spec: Any, neural: bool) -> None:
    critic, names, argument = spec, ["auto", *BY_NAME, *(["mlp"] if neural else [])], "critic"
    if neural and is_neural(critic):
        require_torch(f"critic={critic!r}" if isinstance(critic, str) else "a neural critic")
        network = as_neural(critic)
        network.check()
        if network.base is None:
            return
        critic, names, argument = network.base, ["auto", *BY_NAME], "base"
    if isinstance(critic, str) or critic is None:
        check_option(critic, argument, names)
    elif not any(callable(getattr(critic, name, None)) for name in ("bind", "predict_proba")):
        raise ValueError(
            f"critic must be one of {names}, have bind(frames), as those in "
            "isthmus.critics, or be a classifier with predict_proba; received a "
            f"{type(critic).__name__} without bind."
        )
