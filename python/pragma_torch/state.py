"""The tensors that a Model holds, in the order in which kernels take them: parameters, buffers, constants."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from pragma_torch.instance import held_at
from pragma_torch.plan import pairs_of


@dataclasses.dataclass
class StateTensor:
    """One tensor of the model's state. `places` has every attribute path that holds it (ties)."""

    role: str  # parameter, buffer, constant
    path: str
    held: torch.Tensor
    places: list[str]  # empty: a constant that forward makes itself; its value never changes

    @property
    def tensor(self) -> torch.Tensor:
        """The tensor as kernels get it: a complex one as pairs."""
        return pairs_of(self.held)


def exported_state(model: torch.nn.Module, program: Any) -> list[StateTensor]:
    """Returns what torch.export lifted, in its order."""
    kinds = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "constant"}
    found: list[StateTensor] = []
    for spec in program.graph_signature.input_specs:
        role = kinds.get(spec.kind.name)
        if role is None:
            continue
        held = _held_tensor(model, spec.target)
        if held is not None:
            found.append(StateTensor(role, spec.target, held, [spec.target]))
        else:
            found.append(StateTensor(role, spec.target, program.constants[spec.target], []))
    return _merge_ties(found)


def declared_state(model: torch.nn.Module) -> list[StateTensor]:
    """Works without torch.export: named parameters and buffers (in the order of state_dict), then tensor attributes."""
    found = [
        StateTensor("parameter", n, t, [n])
        for n, t in model.named_parameters(remove_duplicate=False)
    ]
    found += [
        StateTensor("buffer", n, t, [n]) for n, t in model.named_buffers(remove_duplicate=False)
    ]
    for prefix, module in model.named_modules():
        for leaf, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                path = f"{prefix}.{leaf}" if prefix else leaf
                found.append(StateTensor("constant", path, value, [path]))
    return _merge_ties(found)


def _held_tensor(model: torch.nn.Module, path: str) -> torch.Tensor | None:
    try:
        value = held_at(model, path)
    except AttributeError:
        return None
    return value if isinstance(value, torch.Tensor) else None


def _merge_ties(found: list[StateTensor]) -> list[StateTensor]:
    """Keeps the first of tensors that share memory, shape and strides, and collects their places."""
    kept: dict[Any, StateTensor] = {}
    for item in found:
        t = item.tensor
        key = (t.data_ptr(), tuple(t.shape), t.stride(), t.dtype) if t.numel() else id(t)
        if key in kept:
            kept[key].places += [place for place in item.places if place not in kept[key].places]
        else:
            kept[key] = item
    return list(kept.values())
