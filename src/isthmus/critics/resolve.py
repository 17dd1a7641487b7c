"""From what a user passes as ``critic`` to its neural and its convex part."""

from __future__ import annotations

from typing import Any

from . import BY_NAME
from .mlp import as_neural, is_neural


def convex_critic(spec: Any) -> Any:
    """A critic by its name, or the object itself; None is the quadratic."""
    if spec is None:
        return BY_NAME["quadratic"]
    return BY_NAME.get(spec, spec) if isinstance(spec, str) else spec


def critic_parts(spec: Any) -> tuple[Any, Any]:
    """The neural part of a critic, or None, and the convex one that it stands on."""
    if not is_neural(spec):
        return None, convex_critic(spec)
    network = as_neural(spec)
    return network, convex_critic(network.base)
