"""The truth of a module that casts in forward: computed in float64 from end to end."""

from __future__ import annotations

from typing import Any

import torch

from pragma_torch.lightmode import LightMode

# Types that are made wider. Eight-bit types are left alone: to round to one is what such a module computes.
_WIDER = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
    torch.complex32: torch.complex128,
}


class WideCasts(LightMode):
    """While this mode is active, a cast to a floating-point type, and a tensor made with one, have 64 bits.

    Without it `x.float()` in forward rounds the truth, or meets a float64 parameter and fails. torch.autocast
    leaves float64 as it is, so that the truth of a module that uses it is not rounded either.

    Operators may return other strides in float64: attention does on a GPU. A view that Torch then refuses is a copy.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if kwargs.get("dtype") in _WIDER:
            kwargs = {**kwargs, "dtype": _WIDER[kwargs["dtype"]]}
        if func is torch.ops.aten.view.default:
            return _viewed(*args)
        return func(*args, **kwargs)


def _viewed(tensor: torch.Tensor, size: list[int]) -> torch.Tensor:
    try:
        return torch.ops.aten.view.default(tensor, size)
    except RuntimeError:  # the strides do not allow it
        return tensor.reshape(size)
