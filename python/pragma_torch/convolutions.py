"""Convolutions of the float64 reference as matrix products over blocks of columns.

Torch's float64 convolutions on CPUs first expand their input into columns. A plain 3-D convolution expands the whole
batch at once. A transposed one expands one image over all its output channels, with a single thread. The columns can be
many times as large as the tensors. Here they are gathered for one block of results that fits in the caches, which is
faster and needs almost no memory. On a GPU cuDNN's float64 convolutions can take tens of times as long as these products.

A transposed convolution with stride s consists of s plain ones (per dimension): every s-th result depends on the same
taps of the kernel, in reversed order.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import torch
from torch.nn import functional

from pragma_torch.lightmode import LightMode

COLUMNS_AT_ONCE = 1 << 23  # bytes: columns and results of a block stay in the caches
COLUMNS_AT_ONCE_ON_GPU = 1 << 29  # enough to keep all multiprocessors busy


class ConvolutionsInBlocks(LightMode):
    """While this mode is active, float64 convolutions keep their columns below `limit` bytes (default: by device), or at
    the size for one row of results."""

    def __init__(self, limit: int = 0) -> None:
        super().__init__()
        self._convolution = functools.partial(convolution, limit=limit)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.convolution.default and not kwargs and self._spreads(*args[:2]):
            return self._convolution(*args)
        return func(*args, **(kwargs or {}))

    @staticmethod
    def _spreads(source: torch.Tensor, weight: torch.Tensor) -> bool:
        if source.dtype != torch.float64 or source.device.type not in ("cpu", "cuda") or source.dim() < 3:
            return False
        return math.prod(weight.shape[2:]) > 1 and source.numel() > 0


def convolution(
    source: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    limit: int = 0,
) -> torch.Tensor:
    """Returns the result of aten.convolution for the same arguments. As there, a list of one number holds for all axes."""
    limit = limit or (COLUMNS_AT_ONCE if source.device.type == "cpu" else COLUMNS_AT_ONCE_ON_GPU)
    axes = source.dim() - 2
    stride, padding, dilation, output_padding = (
        list(given) * axes if len(given) == 1 else given for given in (stride, padding, dilation, output_padding)
    )
    given = [None if t is None else t.to("meta") for t in (source, weight, bias)]
    rest = (stride, padding, dilation, transposed, output_padding, groups)
    result = source.new_empty(torch.ops.aten.convolution.default(*given, *rest).shape)
    if transposed:
        for part, taps, step, before in _phases(result, weight, stride, padding, dilation, groups):
            _correlate(source, taps, part, [1] * len(stride), step, before, limit)
    else:
        _correlate(source, weight, result, stride, dilation, padding, limit)
    if bias is not None:
        result += bias.view(-1, *[1] * len(stride))
    return result


def _phases(
    result: torch.Tensor,
    weight: torch.Tensor,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
) -> Any:
    """Yields (every stride-th result as a view, its taps, the distance between them, the distance of the first tap
    before the result). Results that no tap reaches are set to zero here."""
    by_output = weight.unflatten(0, (groups, -1)).transpose(1, 2).flatten(0, 1)
    for phase in itertools.product(*map(range, stride)):
        part, taps, step, before = result, by_output, [], []
        for axis, offset in enumerate(phase, start=2):
            s, p, d = (of[axis - 2] for of in (stride, padding, dilation))
            first = (offset - p) % s  # the results of this phase are first, first + s, ...
            part = part[(slice(None),) * axis + (slice(first, None, s),)]
            chosen = [k for k in reversed(range(weight.shape[axis])) if (k * d - offset) % s == 0]
            taps = taps.index_select(axis, torch.tensor(chosen, dtype=torch.int64, device=taps.device))
            # Source element t + (first + p - k * d) / s contributes to result first + s * t.
            reached = [(first + p - k * d) // s for k in chosen]
            step.append(reached[1] - reached[0] if len(reached) > 1 else 1)
            before.append(-reached[0] if reached else 0)
        if taps.numel() == 0:
            part.zero_()
        elif part.numel() > 0:
            yield part, taps, step, before


def _correlate(
    source: torch.Tensor,
    weight: torch.Tensor,
    result: torch.Tensor,
    stride: list[int],
    dilation: list[int],
    before: list[int],
    limit: int,
) -> None:
    """Computes result[n, o, t] = sum over c and k of weight[o, c, k] * source[n, c, t * stride + k * dilation -
    before], with zeros outside the source. `result` may be any view."""
    points, taps = result.shape[2:], weight.shape[2:]
    within = weight.shape[1]  # channels per group
    groups = source.shape[1] // within
    padded = _padded(source, points, taps, stride, dilation, before)
    of_image, of_channel, *of_point = padded.stride()
    columns = padded.as_strided(
        (source.shape[0], groups, within, *taps, *points),
        (of_image, of_channel * within, of_channel)
        + tuple(a * b for a, b in zip(of_point, dilation, strict=True))
        + tuple(a * b for a, b in zip(of_point, stride, strict=True)),
    )
    depth = within * math.prod(taps)
    matrix = weight.reshape(groups, -1, depth)
    by_group = result.unflatten(1, (groups, -1))
    row_bytes = source.element_size() * groups * depth * math.prod(points[1:])
    rows = min(points[0], max(1, limit // row_bytes))
    images = min(source.shape[0], max(1, limit // (row_bytes * points[0])))
    for image, row in itertools.product(
        range(0, source.shape[0], images), range(0, points[0], rows)
    ):
        some = columns[image : image + images].narrow(
            3 + len(taps), row, min(rows, points[0] - row)
        )
        into = by_group[image : image + images, :, :, row : row + rows]
        product = torch.matmul(matrix, some.reshape(some.shape[0], groups, depth, -1))
        into.copy_(product.view(into.shape))


def _padded(
    source: torch.Tensor,
    points: list[int],
    taps: list[int],
    stride: list[int],
    dilation: list[int],
    before: list[int],
) -> torch.Tensor:
    """Returns the source from the first point that is read to the last. Negative widths are cut off."""
    widths: list[int] = []
    for axis in reversed(range(len(points))):
        last = (points[axis] - 1) * stride[axis] + (taps[axis] - 1) * dilation[axis] - before[axis]
        widths += [before[axis], last + 1 - source.shape[2 + axis]]
    return functional.pad(source, widths) if any(widths) else source
