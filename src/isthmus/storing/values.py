"""Objects as JSON and arrays, and back.

Numbers, text, truth values and null are themselves, and a list is a list. Everything else is an
object with one name: ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``, ``{"float": "inf"}``,
``{"scalar": [dtype, hex]}``, ``{"slice": [...]}``, ``{"texts": [...]}`` for an array of text,
``{"function": name}``; and ``{"array": i}``, ``{"object": i}``, ``{"scikit-learn": i}`` and
``{"network": i}`` for what is in a table of its own, so that what is shared stays shared.
An object of the table has only objects before it inside, so that reading needs no recursion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cached_property
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..estimator import RatioEstimator
from ..neural.inputs import columns
from .arrays import array_bytes, array_facts, array_from
from .container import ModelFileError
from .networks import NetworkReader, is_network, network_entry
from .registry import Kind, by_class, by_name, own_names
from .scikit import scikit_bytes, scikit_from

FUNCTIONS: dict[str, Callable[..., Any]] = {"columns": columns}
"""Functions that a part of a model may be, by their name in files."""

# The names of what a fit has set, which are known from the class when it is read.
_OF_FIT = "_fitted"
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Writer:
    """Collects what objects are made of: tables for the JSON, and members of the file."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[dict[str, Any]] = []
        self.networks: list[Any] = []
        self.members: dict[str, bytes] = {}
        self.count_of_scikit = 0
        # The object beside its place: an object that is gone could lend its id to another.
        self._known: dict[int, tuple[Any, dict[str, int]]] = {}

    def value(self, value: Any, where: str) -> Any:
        """JSON of a value; ``where`` is what a message calls it."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) in (list, tuple):
            items = [self.value(one, where) for one in value]
            return items if type(value) is list else {"tuple": items}
        if type(value) is dict:
            pairs = [
                [self.value(key, where), self.value(one, f"{where}[{key!r}]")]
                for key, one in value.items()
            ]
            return {"dict": pairs}
        if isinstance(value, np.generic):
            return {"scalar": [value.dtype.str, value.tobytes().hex()]}
        if type(value) is slice:
            ends = (value.start, value.stop, value.step)
            return {"slice": [one if one is None else int(one) for one in ends]}
        if isinstance(value, np.random.Generator | np.random.RandomState):
            # Another fit draws anew.
            return None
        for name, function in FUNCTIONS.items():
            if value is function:
                return {"function": name}
        found = self._known.get(id(value))
        if found is None:
            found = value, self._new(value, where)
            self._known[id(value)] = found
        return found[1]

    def _new(self, value: Any, where: str) -> Any:
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        kind = by_class().get(type(value))
        if kind is not None:
            return self._object(value, kind, where)
        if is_network(value):
            return self._network(value, where, None)
        if isinstance(value, BaseEstimator) and type(value).__module__.startswith("sklearn."):
            name = f"scikit-learn/{self.count_of_scikit}.skops"
            self.members[name] = scikit_bytes(value, where)
            self.count_of_scikit += 1
            return {"scikit-learn": self.count_of_scikit - 1}
        raise ModelFileError(
            f"{where} must be a part of isthmus or of scikit-learn to be saved; received a "
            f"{type(value).__module__}.{type(value).__qualname__}, whose code a file of a model "
            "does not hold."
        )

    def _array(self, value: np.ndarray, where: str) -> Any:
        if value.dtype == object:
            texts = value.tolist()
            if value.ndim == 1 and all(type(one) is str for one in texts):
                return {"texts": texts}
            raise ModelFileError(f"{where} must hold numbers or text to be saved.")
        self.members[f"arrays/{len(self.arrays)}.npy"] = array_bytes(value)
        self.arrays.append(array_facts(value))
        return {"array": len(self.arrays) - 1}

    def _object(self, value: Any, kind: Kind, where: str) -> Any:
        if kind.is_tuple:
            found = dict(zip(kind.kept, value, strict=True))
        else:
            found = dict(vars(value))
            found = {name: one for name, one in found.items() if not _is_cached(kind.cls, name)}
            found.pop(_OF_FIT, None)
            unknown = [name for name in found if name not in kind.kept and kind.keeps(name)]
            if unknown:
                raise ModelFileError(
                    f"{where} must have no attributes that files of models do not know to be "
                    f"saved; received a {kind.cls.__name__} with {unknown[0]!r}."
                )
        entries = {}
        for name in kind.kept:
            if name in found:
                inner = f"{where}.{name}" if where else name
                if name in kind.recipes:
                    entries[name] = self._network(found[name], inner, kind.recipes[name](value))
                    continue
                form = kind.forms.get(name)
                kept = found[name] if form is None else form(found[name])
                entries[name] = self.value(kept, inner)
        self.objects.append({"class": kind.name, "fields": entries})
        return {"object": len(self.objects) - 1}

    def _network(self, module: Any, where: str, recipe: list[Any] | None) -> Any:
        name = f"networks/{len(self.networks)}.safetensors"
        entry, self.members[name] = network_entry(module, where, recipe)
        self.networks.append(entry)
        return {"network": len(self.networks) - 1}

    def tables(self) -> dict[str, Any]:
        """What the JSON says beside the value itself."""
        return {
            "objects": self.objects,
            "arrays": self.arrays,
            "networks": self.networks,
            "scikit-learn": self.count_of_scikit,
        }


class Reader:
    """Makes objects of tables and members; every array, network and object is made once."""

    def __init__(self, tables: dict[str, Any], members: dict[str, bytes]) -> None:
        self.members = members
        self.arrays = [
            array_from(self._member(f"arrays/{k}.npy"), facts, f"arrays/{k}.npy")
            for k, facts in enumerate(_list(tables, "arrays"))
        ]
        reader = NetworkReader()
        self.networks = [
            reader(entry, self._member(f"networks/{k}.safetensors"))
            for k, entry in enumerate(_list(tables, "networks"))
        ]
        count = tables.get("scikit-learn")
        if type(count) is not int or not 0 <= count <= len(members):
            raise _wrong("number of scikit-learn's parts")
        self.scikit = [
            scikit_from(self._member(f"scikit-learn/{k}.skops"), f"scikit-learn/{k}.skops")
            for k in range(count)
        ]
        self.objects: list[Any] = []
        for entry in _list(tables, "objects"):
            self.objects.append(self._object(entry))

    def value(self, value: Any) -> Any:
        """A value of the JSON."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if not isinstance(value, dict) or len(value) != 1:
            raise _wrong("value")
        [(name, inner)] = value.items()
        try:
            return self._tagged(name, inner)
        except (TypeError, ValueError, IndexError, KeyError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise _wrong(f"value of the kind {name[:40]!r}") from None

    def _tagged(self, name: str, inner: Any) -> Any:
        tables: dict[str, list[Any]] = {
            "array": self.arrays,
            "object": self.objects,
            "network": self.networks,
            "scikit-learn": self.scikit,
        }
        if name in tables:
            if type(inner) is not int or not 0 <= inner < len(tables[name]):
                raise _wrong(f"place of the kind {name!r}")
            return tables[name][inner]
        if name == "tuple":
            return tuple(self.value(one) for one in _of(list, inner))
        if name == "dict":
            return {self.value(key): self.value(one) for key, one in _of(list, inner)}
        if name == "float":
            return _NOT_FINITE[inner]
        if name == "scalar":
            dtype = np.dtype(_of(str, inner[0]))
            if dtype.kind not in "biufU":
                raise _wrong("scalar")
            return np.frombuffer(bytes.fromhex(inner[1]), dtype=dtype)[0]
        if name == "slice":
            return slice(*(one if one is None else _of(int, one) for one in inner))
        if name == "texts":
            return np.array([_of(str, one) for one in _of(list, inner)], dtype=object)
        if name == "function":
            return FUNCTIONS[inner]
        raise _wrong(f"kind {name[:40]!r}, which is none of this version's")

    def _object(self, entry: Any) -> Any:
        if not isinstance(entry, dict) or set(entry) != {"class", "fields"}:
            raise _wrong("object")
        kind = by_name().get(entry["class"]) if isinstance(entry["class"], str) else None
        if kind is None:
            raise ModelFileError(
                f"it holds a part {str(entry['class'])[:60]!r}, which is none of this version's "
                "parts."
            )
        given = _of(dict, entry["fields"])
        if not set(given) <= set(kind.kept):
            raise _wrong(f"part {kind.name!r}: it has fields that such a part does not have")
        found = {name: self.value(one) for name, one in given.items()}
        for name in own_names(kind.cls):
            if name not in found:
                found[name] = _default(kind, name)
        if kind.is_tuple:
            return kind.cls(*(found[name] for name in kind.kept))
        own = {name: found[name] for name in own_names(kind.cls)}
        try:
            # A dataclass checks itself; an estimator takes its parameters as they are.
            out: Any = kind.cls(**own) if own else object.__new__(kind.cls)
        except (TypeError, ValueError):
            raise _wrong(f"part {kind.name!r}: its fields do not make one") from None
        # The names are those of the registry, and none comes from the file.
        for name in kind.further:
            if name in found:
                object.__setattr__(out, name, found[name])
        if isinstance(out, RatioEstimator):
            fitted = tuple(name for name in kind.further if name in found)
            object.__setattr__(out, _OF_FIT, fitted)
        return out

    def _member(self, name: str) -> bytes:
        if name not in self.members:
            raise ModelFileError(f"its member {name} is missing.")
        return self.members[name]


def _default(kind: Kind, name: str) -> Any:
    """What an attribute is that the file does not have."""
    if is_dataclass(kind.cls):
        one = next(one for one in fields(kind.cls) if one.name == name)
        if one.default is not MISSING:
            return one.default
        if one.default_factory is not MISSING:
            return one.default_factory()
    elif not kind.is_tuple:
        default = signature(kind.cls).parameters[name].default
        if default is not Parameter.empty:
            return default
    if not kind.keeps(name):
        return None
    raise _wrong(f"part {kind.name!r}: it lacks {name!r}")


def _is_cached(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), cached_property)


def _list(tables: dict[str, Any], name: str) -> list[Any]:
    found = tables.get(name)
    if not isinstance(found, list):
        raise _wrong(f"table {name!r}")
    return found


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError
    return value


def _wrong(what: str) -> ModelFileError:
    return ModelFileError(f"its model.json is not as this version writes it: {what}.")
