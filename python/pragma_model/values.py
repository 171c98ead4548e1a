"""What a model returns, as tensors, and how far two results are apart."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from pragma_model.modelfile import Call
from pragma_model.objects import twin_arguments
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


def result_of(model: torch.nn.Module, call: Call, mode: Callable[[], Any] = torch.no_grad) -> list[torch.Tensor]:
    """Returns the tensors that the model returns for a copy of the call, since a call may change its arguments. A compiled
    model must run in the mode in which it was compiled."""
    call = copy.deepcopy(call)
    with mode():
        return [tensor.detach().clone() for tensor in tensors_within(call.of(model))]


def wide(model: torch.nn.Module) -> torch.nn.Module:
    """Returns a copy of the model that computes in float64."""
    return copy.deepcopy(model).double()


def wide_result(model: torch.nn.Module, call: Call) -> list[torch.Tensor]:
    """Returns what a wide model returns for the call."""
    call = copy.deepcopy(call)

    def widen(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.double() if tensor.is_floating_point() else tensor

    args, kwargs = twin_arguments(call.args, call.kwargs, widen)
    with torch.no_grad(), WideCasts():
        return [tensor.detach() for tensor in tensors_within(Call(args, kwargs).of(model))]


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
    zero = torch.zeros((), dtype=torch.float64, device=a.device)
    away = torch.where(same, zero, a - b).norm()
    size = torch.where(b.isfinite(), b, zero).norm()
    return (away / size).item() if size > 0 else float("inf" if away > 0 else 0)
