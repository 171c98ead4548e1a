"""Convolutions of the float64 reference in slices, so that their scratch fits in memory.

Torch's float64 convolutions on CPUs spread their input into columns first: for a plain 3-D one of the
whole batch at once, for a transposed one of one image over all its output channels. Both can be many
times as large as the tensors. The same operator on a part of the batch, or on some of the output
channels, gives the same sums from a part of the columns.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

COLUMNS_AT_ONCE = 1 << 28  # bytes


class SlicedConvolutions(TorchDispatchMode):
    """While it is active, float64 convolutions on the CPU keep their columns below `limit` bytes, or at
    those of one image and one output channel."""

    def __init__(self, limit: int = COLUMNS_AT_ONCE) -> None:
        super().__init__()
        self._limit = limit

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.convolution.default and not kwargs:
            source = args[0]
            if source.dtype == torch.float64 and source.device.type == "cpu" and source.dim() > 2:
                return self._convolution(*args)
        return func(*args, **(kwargs or {}))

    def _convolution(
        self, source: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *rest: Any
    ) -> torch.Tensor:
        transposed, groups = rest[3], rest[5]
        shape = _result_shape(source, weight, bias, rest)
        images = _steps(shape[0], _columns_of_image(weight, source.shape, shape, transposed), self._limit)
        # Only a transposed convolution has columns per output channel.
        channels = shape[1]
        if transposed and groups == 1 and images == 1:
            one_channel = _columns_of_image(weight[:, :1], source.shape, shape, True)
            channels = _steps(channels, one_channel, self._limit)
        if images >= shape[0] and channels >= shape[1]:
            return torch.ops.aten.convolution.default(source, weight, bias, *rest)
        result = source.new_empty(shape)
        for image in range(0, shape[0], images):
            part = source[image : image + images]
            for channel in range(0, shape[1], channels):
                some = slice(channel, channel + channels)
                whole = channels >= shape[1]
                result[image : image + images, some] = torch.ops.aten.convolution.default(
                    part,
                    weight if whole else weight[:, some],
                    bias if whole or bias is None else bias[some],
                    *rest,
                )
        return result


def _result_shape(
    source: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, rest: tuple
) -> list[int]:
    given = [None if t is None else t.to("meta") for t in (source, weight, bias)]
    return list(torch.ops.aten.convolution.default(*given, *rest).shape)


def _columns_of_image(
    weight: torch.Tensor, source: torch.Size, result: list[int], transposed: bool
) -> int:
    """Bytes. Every point of the side that a kernel slides over holds a kernel's worth of the other side's
    channels (of one group; the groups follow one another)."""
    points = math.prod(source[2:] if transposed else result[2:])
    return 8 * math.prod(weight.shape[1:]) * points


def _steps(count: int, bytes_each: int, limit: int) -> int:
    """How many of `count` at a time."""
    return max(1, min(count, limit // max(1, bytes_each)))
