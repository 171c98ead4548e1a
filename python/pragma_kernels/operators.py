"""What the operators of all kernels have in common, whatever their language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def listing(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the operator as a function of tensors. It takes them as a list, since Torch allows 64 arguments at most."""

    def call(*tensors: torch.Tensor) -> Any:
        return operator(list(tensors))

    return call


def fake(outputs: list[dict[str, Any]], device: str) -> Callable[..., Any]:
    """Returns the function that says what the operator returns, without computing it."""
    specs = [(spec["shape"], getattr(torch, spec["dtype"])) for spec in outputs]

    def made(*given: Any) -> Any:
        tensors = given[0] if given and isinstance(given[0], list) else given
        if any(type(t) is torch.Tensor and t.device.type == "meta" for t in tensors):
            raise RuntimeError("pragma_kernels: device: a tensor is on the device meta")
        results = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in specs]
        return results[0] if len(results) == 1 else tuple(results)

    return made
