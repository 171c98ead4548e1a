"""Says why tensors are not those that a unit's kernels were verified for. A call that a kernel serves does not come here:
the operator checks the same by itself."""

from __future__ import annotations

from typing import Any

import torch

from pragma_kernels.package import Unit

_PLAIN = (torch.Tensor, torch.nn.Parameter)


def refusal(unit: Unit, tensors: Any) -> str:
    """Returns the reason, or "" if the tensors are right."""
    for tensor, spec in zip(tensors or (), [*unit.inputs, *unit.weights], strict=False):
        reason = _one(tensor, spec, unit.device)
        if reason:
            return reason
    return ""


def _one(tensor: Any, spec: dict[str, Any], device: str) -> str:
    if not isinstance(tensor, torch.Tensor):
        return "arguments"
    if type(tensor) not in _PLAIN or tensor.is_nested or tensor.layout != torch.strided:
        return "tensor type"
    if tensor.device.type != device:
        return "device"
    if str(tensor.dtype) != f"torch.{spec['dtype']}":
        return "dtype"
    return "" if list(tensor.shape) == spec["shape"] else "shape"


def checked(unit: Unit, tensors: tuple[Any, ...]) -> bool:
    """Returns whether the tensors are right, in a form that torch.compile can trace."""
    for tensor, spec in zip(tensors, [*unit.inputs, *unit.weights], strict=True):
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != unit.device or tensor.layout != torch.strided:
            return False
        if tensor.dtype != getattr(torch, spec["dtype"]) or list(tensor.shape) != spec["shape"]:
            return False
        if torch.is_grad_enabled() and tensor.requires_grad:
            return False
    return True
