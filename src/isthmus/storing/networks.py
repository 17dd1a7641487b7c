"""Networks: layers by name, and their weights by safetensors.

A file says of which layers a network is made, out of the list here, and how large they are. A
module of a user's own class has code, which a file does not hold: it is refused.
"""

from __future__ import annotations

from typing import Any

from ..baselines.fdre import FLOWS, make_flow
from ..critics.mlp import activations, is_module
from ..neural.lazy_torch import require_torch, seeded
from .container import ModelFileError

# Constants that an activation may have, beside those that make it itself.
_CONSTANTS = {
    "CELU": ("alpha",),
    "ELU": ("alpha",),
    "GELU": ("approximate",),
    "Hardshrink": ("lambd",),
    "Hardtanh": ("min_val", "max_val"),
    "LeakyReLU": ("negative_slope",),
    "Softplus": ("beta", "threshold"),
    "Softshrink": ("lambd",),
}
_MOST_UNITS = 10_000_000


def is_network(value: Any) -> bool:
    """Whether an object is a module of torch."""
    return is_module(value)


def network_entry(module: Any, where: str, recipe: list[Any] | None) -> tuple[Any, bytes]:
    """What the JSON says of a network, and its weights."""
    tensors = _safetensors(f"{where} is a network, which")
    if recipe is None:
        entry = {"layers": _layers(module, where)}
    else:
        if recipe[0] not in FLOWS:
            raise ModelFileError(
                f"{where} must be a flow by name to be saved; received one that a function made, "
                "whose code a file of a model does not hold."
            )
        entry = {"flow": recipe}
    state = {name: one.detach().cpu().contiguous() for name, one in module.state_dict().items()}
    return {**entry, "training": bool(module.training)}, bytes(tensors.save(state))


class NetworkReader:
    """Makes networks of entries and weights."""

    def __call__(self, entry: Any, data: bytes) -> Any:
        """A network with its weights, in double precision where they are."""
        tensors = _safetensors("a network in the file")
        torch = require_torch("a network in the file")
        try:
            state = tensors.load(data)
            training = entry.pop("training")
            [(form, made_of)] = entry.items()
            if form == "flow":
                module = _flow(made_of, len(data))
            elif form == "layers":
                module = _made(made_of, torch.nn, len(data))
            else:
                raise ValueError(form)
            for one in state.values():
                if one.is_floating_point():
                    module = module.to(one.dtype)
                    break
            module.load_state_dict(state, strict=True)
        except ModelFileError:
            raise
        except Exception as error:
            # Sizes that do not fit, and weights that are cut off.
            raise ModelFileError(
                "one of its networks cannot be made of its layers and weights "
                f"({type(error).__name__})."
            ) from None
        return module.train(training is True)


def _layers(module: Any, where: str) -> Any:
    """Names and sizes of the layers of a module."""
    nn = require_torch("a network").nn
    name = type(module).__name__
    hooked = any(vars(module).get(hooks) for hooks in ("_forward_hooks", "_forward_pre_hooks"))
    own = getattr(nn, name, None) is type(module) and not hooked
    if own and name in ("Sequential", "ModuleList"):
        return [name, [_layers(one, where) for one in module]]
    if own and name == "Linear":
        return [name, module.in_features, module.out_features, module.bias is not None]
    if own and name == "PReLU":
        return [name, module.num_parameters]
    if own and name in activations():
        return [name, {one: getattr(module, one) for one in _CONSTANTS.get(name, ())}]
    raise ModelFileError(
        f"{where} must be made of torch's linear layers and activations, in a Sequential, to be "
        f"saved; received a {type(module).__module__}.{name}, whose code a file of a model does "
        "not hold."
    )


def _made(entry: Any, nn: Any, most: int) -> Any:
    """A module of layers; one with more weights than the file has bytes is refused."""
    name, *sizes = entry
    if name in ("Sequential", "ModuleList"):
        parts = [_made(one, nn, most) for one in sizes[0]]
        return nn.Sequential(*parts) if name == "Sequential" else nn.ModuleList(parts)
    if name == "Linear":
        n_in, n_out, bias = sizes
        _check_size(n_in, n_out, most)
        # Without a draw from torch's own generator.
        return nn.utils.skip_init(nn.Linear, n_in, n_out, bias=bias is True)
    if name == "PReLU":
        _check_size(sizes[0], 1, most)
        return nn.PReLU(sizes[0])
    constants = _CONSTANTS.get(name, ())
    for known in activations():
        if name == known and set(sizes[0]) == set(constants):
            given = {one: sizes[0][one] for one in constants}
            if all(type(one) in (int, float, str) for one in given.values()):
                return getattr(nn, known)(**given)
    raise ModelFileError("one of its networks has a layer that is none of this version's.")


def _flow(recipe: Any, most: int) -> Any:
    name, columns, transforms, width, depth = recipe
    if name not in FLOWS:
        raise ModelFileError("one of its networks is a flow that is none of this version's.")
    for one in (columns, transforms, width, depth):
        _check_size(one, 1, most)
    import numpy as np

    # Its weights are replaced, and torch's own generator is left alone.
    with seeded(np.random.default_rng(0)):
        return make_flow(name, columns, transforms, width, depth)


def _check_size(n_in: Any, n_out: Any, most: int) -> None:
    sizes = (n_in, n_out)
    if any(type(n) is not int or not 0 <= n <= _MOST_UNITS for n in sizes) or n_in * n_out > most:
        raise ModelFileError("one of its networks has layers that its weights do not fit.")


def _safetensors(who: str) -> Any:
    try:
        require_torch(who)
    except ImportError as error:
        raise ModelFileError(str(error)) from None
    try:
        import safetensors.torch
    except ImportError:
        raise ModelFileError(
            f"{who} must have safetensors to be written and read; it is not installed. Install it "
            "with: pip install 'isthmus[neural]'"
        ) from None
    return safetensors.torch
