"""Batteries: input sets that reveal what the task's own distribution may hide (src/values/batteries.h), for every kind
of machine. That file defines names and rungs. This module defines what they mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from pragma_torch.battery_rows import (
    add_peaks,
    keep_few,
    mask,
    permute_rows,
    place_constants,
    place_limits,
    place_nan,
    place_outliers,
    shift_rows,
    sprinkle,
)
from pragma_torch.draws import Draws
from pragma_torch.plan import Argument
from pragma_torch.structure import Structure, detect, detect_integers, mirror

_DENORMAL_SIZE = 1e-39
_TINY_SIZE = 1e-5
_SMALLEST_MAGNITUDE = -6.0  # exponent to base ten, for wide_range
_PARAMETER_SPREAD = 0.5
_EXTREME_DECADES = 4.0  # above the rung, for extremely_below
_LEAST = 0.05  # lower limit relative to the nominal size, for one sign
_JITTER = 0.01  # for alternating
_DENSE = 0.9  # later blocks and rows are scaled by factors from here to 1
_ORDERED_SPREAD = 3.4  # range of uniform values over their standard deviation

_INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
_SPARSE = ("one_hot", "last_only")
_UNSCALED = ("integers", "ties", "zeros", "denormals", "offset_1e3", "offset_1e5")


def structures_of(tensors: list[torch.Tensor]) -> list[Structure]:
    """Returns the structures of a drawn set."""
    return [detect(t) if t.is_floating_point() else detect_integers(t) for t in tensors]


def apply(
    message: dict[str, Any],
    arguments: list[Argument],
    structures: list[Structure],
    tensors: list[torch.Tensor],
) -> None:
    """Applies the battery of a request (docs/torch-protocol.md). Rewrites a drawn set in place."""
    device = tensors[0].device if tensors else torch.device("cpu")
    with torch.no_grad():
        Battery(
            message["battery"],
            message["rung"],
            message["integer_bound"],
            message["seed"],
            str(device),
            message.get("constants", ()),
            message.get("part", 0),
        ).apply(arguments, structures, tensors, message.get("argument", -1))


class Battery:
    """A battery with its own source of random numbers."""

    def __init__(
        self,
        name: str,
        rung: float,
        integer_bound: float,
        seed: int,
        device: str,
        constants: Sequence[float] = (),
        part: int = 0,
    ) -> None:
        self._name = name
        self._part = part
        self._constants = [c for c in constants if abs(c) <= rung]
        self._rung = rung
        self._bound = integer_bound
        self._draws = Draws(seed, device)

    def apply(
        self,
        arguments: list[Argument],
        structures: list[Structure],
        tensors: list[torch.Tensor],
        chosen: int = -1,
    ) -> None:
        """Rewrites a drawn set in place. `chosen` is the argument that batteries for a single input change. -1 means
        any."""
        free = [
            i
            for i, (a, s) in enumerate(zip(arguments, structures, strict=True))
            if a.role == "input" and a.torch_dtype.is_floating_point and not s.must_stay and a.elements > 0
        ]
        if chosen < 0 and free:
            chosen = free[self._draws.below(len(free))]
        for i, (argument, structure) in enumerate(zip(arguments, structures, strict=True)):
            tensor = tensors[i]
            if tensor.numel() == 0 or self._name == "repeated_indices":
                integers = argument.role == "input" and argument.torch_dtype in _INTEGERS
                if integers and tensor.numel() > 0 and not structure.ordered:
                    self._draw_again(tensor)
                continue
            if not argument.torch_dtype.is_floating_point:
                continue
            if self._name == "partly_changed":
                if argument.role == "input" and not (structure.must_stay or structure.symmetric or structure.some_zeros):
                    self._change_ends(tensor)
                elif argument.role == "parameter" and not (structure.must_stay or structure.symmetric or structure.some_zeros):
                    self._reorder(tensor)
            elif argument.role == "input":
                self._input(tensor, structure, i == chosen)
            elif argument.role == "parameter":
                self._parameter(tensor, structure)

    def _reorder(self, tensor: torch.Tensor) -> None:
        """Moves each row of the tensor on by one position. If the tensor has one row, its elements are moved instead.
        A single number stays."""
        if tensor.dim() > 0:
            tensor.copy_(tensor.roll(1, 0 if tensor.shape[0] > 1 else -1))

    def _change_ends(self, tensor: torch.Tensor) -> None:
        """Replaces the end of each row by that of another row, so that values and zeros are at positions that the
        task could draw."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        begin = row // 2 + self._draws.below(max(row // 4, 1))
        # Tensors move by different distances. Two that moved alike would keep their pairs of elements, and with them
        # most of a sum of products.
        rows = table.shape[0]
        distance = 1 + self._draws.below(rows - 1) if rows > 1 else 0
        table[:, begin:] = table[:, begin:].roll(distance, 0) if rows > 1 else table[:, begin:].flip(1)

    def _draw_again(self, tensor: torch.Tensor) -> None:
        """Draws from the tensor's own values, with repetition, because no other value is known to be a valid index."""
        flat = tensor.reshape(-1).clone()
        places = (self._draws.uniform(torch.Size([flat.numel()])) * flat.numel()).long().clamp(max=flat.numel() - 1)
        tensor.copy_(flat[places].view(tensor.shape))

    def _input(self, tensor: torch.Tensor, structure: Structure, chosen: bool) -> None:
        if not structure.must_stay:
            self._rewrite(tensor, structure, chosen)
        elif self._name == "nan" and chosen:
            sprinkle(self._draws, tensor, math.nan, 1)  # no kernel relies on a structure of NaNs

    def _rewrite(self, tensor: torch.Tensor, structure: Structure, chosen: bool) -> None:
        zeros = tensor == 0 if structure.some_zeros else None
        size = structure.rms or 1.0
        if self._name in ("ascending", "descending"):
            self._order(tensor, size * self._rung)
        elif self._name == "valley":
            self._valley(tensor, size * self._rung)
        elif self._name in ("constant_rows", "constant_columns"):
            self._repeat(tensor, size)
        else:
            self._fill(tensor, size)
        if self._name in ("outlier", "positive_outlier"):
            place_outliers(self._draws, tensor, self._rung * size, self._name == "positive_outlier")
        elif self._name == "offset_rows":
            shift_rows(self._draws, tensor, self._rung * size)
        elif self._name == "periodic":
            add_peaks(self._draws, tensor, size)
        elif self._name in ("limit_rows", "limit_entries"):
            place_limits(self._draws, tensor, self._name == "limit_rows")
        elif self._name == "permuted_rows":
            permute_rows(tensor)
        elif self._name == "constants" and self._constants:
            place_constants(self._draws, tensor, size, self._constants, self._part)
        if chosen:
            self._change_one(tensor)
        if zeros is not None:
            tensor.masked_fill_(zeros, 0)
        if structure.symmetric:
            mirror(tensor)

    def _change_one(self, tensor: torch.Tensor) -> None:
        if self._name in _SPARSE:
            keep_few(self._draws, tensor, self._name == "one_hot")
        elif self._name in ("masked", "masked_rows"):
            mask(self._draws, tensor, self._name == "masked_rows")
        elif self._name == "infinities":
            sprinkle(self._draws, tensor, math.inf, 3)
        elif self._name == "nan":
            place_nan(self._draws, tensor)

    def _parameter(self, tensor: torch.Tensor, structure: Structure) -> None:
        if self._name == "integers" and not structure.must_stay:
            zeros = tensor == 0 if structure.some_zeros else None
            self._fill(tensor, 1.0)
            if zeros is not None:
                tensor.masked_fill_(zeros, 0)
        elif structure.constant:
            tensor.copy_(tensor.double() + _PARAMETER_SPREAD * self._draws.normal(tensor.shape))

    def _fill(self, tensor: torch.Tensor, size: float) -> None:
        blocks = tensor.view(-1).split(self._draws.block)
        blocks[0].copy_(self._values(blocks[0].shape, size))
        if len(blocks) == 1:
            return
        chance = self._draws.uniform(torch.Size([2, len(blocks)])).tolist()
        for i, block in enumerate(blocks[1:], 1):
            scale = 1.0 if self._name in _UNSCALED else _DENSE + (1 - _DENSE) * chance[1][i]
            at = int(chance[0][i] * self._draws.block)
            at -= at % 2  # keeps alternating values aligned
            head = min(self._draws.block - at, block.numel())
            self._scaled(blocks[0][at : at + head], scale, block[:head])
            self._scaled(blocks[0][: block.numel() - head], scale, block[head:])

    def _scaled(self, source: torch.Tensor, scale: float, out: torch.Tensor) -> None:
        if scale == 1.0:
            out.copy_(source)
        else:
            torch.mul(source, scale, out=out)

    def _values(self, shape: torch.Size, size: float) -> torch.Tensor:
        name = self._name
        if name == "wide_range":
            top = math.log10(self._rung)
            power = _SMALLEST_MAGNITUDE + (top - _SMALLEST_MAGNITUDE) * self._draws.uniform(shape)
            return self._draws.signs(shape) * torch.pow(10.0, power)
        if name == "heavy_tails":
            cauchy = torch.tan(math.pi * (self._draws.uniform(shape) - 0.5))
            # What lies further out goes anywhere in the outer half, not to the limit: equal elements are `ties`.
            further = self._draws.signs(shape) * self._rung * (1 - 0.5 * self._draws.uniform(shape))
            return size * torch.where(cauchy.abs() < self._rung, cauchy, further)
        if name == "integers":
            return torch.floor(self._draws.uniform(shape) * (2 * self._bound + 1)) - self._bound
        if name == "ties":
            values = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64, device=self._draws.device)
            return size * values[(self._draws.uniform(shape) * 3).long().clamp(max=2)]
        if name == "denormals":
            return self._draws.signs(shape) * self._draws.uniform(shape) * _DENORMAL_SIZE
        if name == "zeros":
            return torch.copysign(torch.zeros(shape, dtype=torch.float64, device=self._draws.device), self._draws.signs(shape))
        if name == "alternating":
            signs = 1.0 - 2.0 * (torch.arange(shape.numel(), device=self._draws.device) % 2)
            return size * signs.view(shape) * (1 + _JITTER * self._draws.uniform(shape))
        if name in ("negative", "positive", "positive_outlier", "far_below", "far_above", "extremely_below", "extremely_above"):
            return self._of_one_sign(shape, size)
        if name in ("offset_1e3", "offset_1e5"):
            offset = self._rung * (1.0 if self._draws.uniform(torch.Size([1])).item() < 0.5 else -1.0)
            return size * (offset + self._draws.normal(shape))
        return (_TINY_SIZE if name == "tiny" else 1.0) * size * self._draws.normal(shape)

    def _of_one_sign(self, shape: torch.Size, size: float) -> torch.Tensor:
        below = self._name in ("negative", "far_below", "extremely_below")
        if self._name in ("negative", "positive", "positive_outlier"):
            values = size * (_LEAST + self._draws.normal(shape).abs())
        elif self._name.startswith("far"):
            values = self._rung / _DENSE * (1 + 3 * self._draws.uniform(shape))
        else:
            values = self._rung / _DENSE * torch.pow(10.0, _EXTREME_DECADES * self._draws.uniform(shape))
        return -values if below else values

    def _order(self, tensor: torch.Tensor, size: float) -> None:
        """Ascending along each dimension at once: a sum of ascending sequences, one for each dimension, plus a jitter
        smaller than their steps."""
        dims = [d for d, n in enumerate(tensor.shape) if n > 1]
        sign = -1.0 if self._name == "descending" else 1.0
        spread = _ORDERED_SPREAD * size / math.sqrt(max(len(dims), 1))
        least = min((spread / tensor.shape[d] for d in dims), default=0.0)
        self._fill_plain(tensor, 0.4 * least)
        for d in dims:
            count = tensor.shape[d]
            steps = 0.5 + self._draws.uniform(torch.Size([count]))
            row = torch.cumsum(steps, 0) * (spread / count) - spread / 2
            shape = [1] * tensor.dim()
            shape[d] = count
            tensor.add_((sign * row).to(tensor.dtype).view(shape))

    def _valley(self, tensor: torch.Tensor, size: float) -> None:
        """Descends over a third of each row, then ascends to twice the initial height."""
        row = tensor.shape[-1] if tensor.dim() else 1
        place = torch.arange(row, dtype=torch.float64, device=self._draws.device) / max(row, 1)
        shape = torch.where(place < 1 / 3, -3 * place, 4.5 * (place - 1 / 3) - 1)
        self._fill_plain(tensor, 0.4 * size / max(row, 1))
        tensor.view(-1, row).add_((size * shape).to(tensor.dtype))

    def _fill_plain(self, tensor: torch.Tensor, size: float) -> None:
        """Uniform from 0 to `size`."""
        blocks = tensor.view(-1).split(self._draws.block)
        blocks[0].copy_(size * self._draws.uniform(blocks[0].shape))
        for block in blocks[1:]:
            block.copy_(blocks[0][: block.numel()])

    def _repeat(self, tensor: torch.Tensor, size: float) -> None:
        """Constant along the last dimension, or along all others."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        if self._name == "constant_rows":
            table.copy_((size * self._draws.normal(torch.Size([table.shape[0], 1]))).expand_as(table))
        else:
            table.copy_((size * self._draws.normal(torch.Size([1, row]))).expand_as(table))
