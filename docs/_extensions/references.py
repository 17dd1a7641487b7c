"""What a reference in a docstring leads to.

Docstrings name things by the short name of their own module, by the module where they are defined
or by the one that exports them. All of these lead to the page where the thing is described. What
exists but has no page here, inside the package or in another one, is shown without a link. What
does not exist stays a warning.
"""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from names import modules, public_names
from sphinx.util.nodes import make_refnode


@cache
def described() -> dict[str, str]:
    """Where public things are described: full name of the page's object, by each of its names."""
    places: dict[str, str] = {}
    for module in modules():
        for name in public_names(module):
            full, thing = f"{module.__name__}.{name}", getattr(module, name)
            own = (getattr(thing, "__module__", None), getattr(thing, "__qualname__", None))
            for known in (full, name, ".".join(map(str, own))):
                places.setdefault(known, full)
        for name in module.__all__:
            places.setdefault(f"{module.__name__}.{name}", f"isthmus.{name}")
    return places


@cache
def exists(name: str) -> bool:
    """Whether a dotted name can be imported."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def resolve(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """A link, plain text for what has no page, or nothing, which is a warning."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    places = described()
    head, _, member = target.rpartition(".")
    place = places.get(target) or (f"{places[head]}.{member}" if head in places else None)
    objects = env.get_domain("py").objects
    if place in objects:
        entry = objects[place]
        return make_refnode(
            app.builder, node["refdoc"], entry.docname, entry.node_id, [contnode], place
        )
    module = node.get("py:module") or "isthmus"
    inside = [target, f"{module}.{target}", *_near(node, target)]
    return contnode if any(map(exists, inside)) else None


def _near(node: Any, target: str) -> list[str]:
    """The target as a name of the module where the docstring stands."""
    source = getattr(node, "source", None) or ""
    if "docstring of " not in source:
        return []
    place = source.split("docstring of ")[1].split(":")[0].split(".")
    return [".".join([*place[:count], target]) for count in range(len(place), 0, -1)]


def is_foreign(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from other packages."""
    module = getattr(thing, "__module__", None)
    foreign = isinstance(module, str) and not module.startswith(("isthmus", "builtins"))
    return True if foreign and not isinstance(thing, ModuleType) else None


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("missing-reference", resolve)
    app.connect("autodoc-skip-member", is_foreign)
    return {"parallel_read_safe": True}
