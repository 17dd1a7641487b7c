"""Pages of the reference: one for each module, with every public name of it.

They are written from ``__all__`` when the site is built, so that a new name is there at once.
"""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import isthmus

FURTHER = ("anchors", "candidates", "diagnostics", "maps")
"""Modules that users import from, though the package does not list them."""

HERE = Path(__file__).parents[1] / "reference"


def modules() -> list[ModuleType]:
    """The package, and the modules of it that users import from."""
    listed = [name for name in isthmus.__all__ if inspect.ismodule(getattr(isthmus, name))]
    rooms = sorted({*listed, *FURTHER})
    return [isthmus, *(importlib.import_module(f"isthmus.{room}") for room in rooms)]


def public_names(module: ModuleType) -> list[str]:
    """Names of functions, classes and values that a module offers, each in one place.

    Submodules have pages of their own, and what the package itself offers is on its page.
    """
    found = {name: getattr(module, name) for name in module.__all__ if name[:2] != "__"}
    above = {} if module is isthmus else {name: getattr(isthmus, name) for name in isthmus.__all__}
    return [
        name
        for name, thing in found.items()
        if not inspect.ismodule(thing) and thing is not above.get(name, ...)
    ]


def listing(module: ModuleType) -> str:
    """Text of a page of the reference: what the module is for, and its names."""
    title = f"{module.__name__}"
    lines = [title, "=" * len(title), "", f".. automodule:: {module.__name__}", ""]
    lines += [f".. currentmodule:: {module.__name__}", "", ".. autosummary::"]
    lines += ["   :toctree: generated", "   :nosignatures:", ""]
    return "\n".join([*lines, *(f"   {name}" for name in public_names(module)), ""])


def write(app: Any, config: Any) -> None:
    """Write one page for each module before Sphinx looks for pages, and forget names that left."""
    listed = {f"{m.__name__}.{name}" for m in modules() for name in public_names(m)}
    for page in (HERE / "generated").glob("*.rst"):
        if page.stem not in listed:
            page.unlink()
    for module in modules():
        page, text = HERE / f"{module.__name__}.rst", listing(module)
        if not page.exists() or page.read_text("utf-8") != text:
            page.write_text(text, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True}
