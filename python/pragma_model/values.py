"""What a model returns, as tensors, and how far two results are apart."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from pragma_model.modelfile import Call
from pragma_torch.widening import WideCasts

_DEEPEST = 5  # objects inside objects that are searched for tensors (a cache holds layers that hold tensors)


def tensors_within(value: Any, deep: int = _DEEPEST) -> list[torch.Tensor]:
    """Returns the tensors of a result, also those that objects in it (such as a cache) hold."""
    found: list[torch.Tensor] = []
    for leaf in tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            found.append(leaf)
        elif deep > 0 and hasattr(leaf, "__dict__") and not isinstance(leaf, (type, torch.nn.Module)):
            for name in sorted(vars(leaf)):
                found += tensors_within(vars(leaf)[name], deep - 1)
    return found


def result_of(model: torch.nn.Module, call: Call) -> list[torch.Tensor]:
    """Returns the tensors that the model returns for a copy of the call, since a call may change its arguments."""
    call = copy.deepcopy(call)
    with torch.no_grad():
        return [tensor.detach().clone() for tensor in tensors_within(call.of(model))]


def wide(model: torch.nn.Module) -> torch.nn.Module:
    """Returns a copy of the model that computes in float64."""
    return copy.deepcopy(model).double()


def wide_result(model: torch.nn.Module, call: Call) -> list[torch.Tensor]:
    """Returns what a wide model returns for the call."""
    call = copy.deepcopy(call)

    def widen(leaf: Any) -> Any:
        return leaf.double() if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else _widened(leaf)

    args, kwargs = tree_map(widen, (call.args, call.kwargs))
    with torch.no_grad(), WideCasts():
        return [tensor.detach() for tensor in tensors_within(Call(args, kwargs).of(model))]


def _widened(leaf: Any, deep: int = _DEEPEST) -> Any:
    """Makes the floating-point tensors in an object (a copy) wide, in place."""
    if deep <= 0 or not hasattr(leaf, "__dict__") or isinstance(leaf, (type, torch.Tensor)):
        return leaf
    for name, value in vars(leaf).items():
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            setattr(leaf, name, value.double())
        elif isinstance(value, list):
            setattr(leaf, name, [_widened(item, deep - 1) for item in value])
        elif not isinstance(value, torch.Tensor):
            _widened(value, deep - 1)
    return leaf


def distance(got: torch.Tensor, wanted: torch.Tensor) -> float:
    """Returns the relative error in the 2-norm; infinity where the two have different shapes, NaNs or infinities. For
    integers it is the share of elements that differ."""
    if got.shape != wanted.shape:
        return float("inf")
    if got.numel() == 0:
        return 0.0
    if not got.is_floating_point():
        return (got != wanted.to(got.dtype)).double().mean().item()
    a, b = got.double(), wanted.double()
    same = (a == b) | (a.isnan() & b.isnan())
    if not bool((a.isfinite() | same).all()) or not bool((b.isfinite() | same).all()):
        return float("inf")
    zero = torch.zeros((), dtype=torch.float64)
    away = torch.where(same, zero, a - b).norm()
    size = torch.where(b.isfinite(), b, zero).norm()
    return (away / size).item() if size > 0 else float("inf" if away > 0 else 0)
