"""The rivals of MDRE, each after one paper, with the same ``fit(X, y)`` and ``log_ratio(X)``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_WHERE = {
    "BDRE": "bdre",
    "TRE": "tre",
    "FDRE": "fdre",
    "NNBD": "nnbd",
    "DREInfinity": "dre_infinity",
    "KLIEP": "kliep",
    "ULSIF": "ulsif",
    "RULSIF": "ulsif",
    "KMM": "kmm",
    "ExponentialNCE": "nce",
    "InfoNCE": "info_nce",
    "PlugIn": "plug_in",
    "CTSM": "ctsm",
    "FlowMatching": "flow_matching",
    "SpectralDRE": "spectral",
}
__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_WHERE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
