"""Batteries: input sets that reveal what the task's own distribution may hide (src/values/batteries.h), for every kind
of machine. That file defines names and rungs. This module defines what they mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from pragma_torch.plan import Argument
from pragma_torch.structure import Structure, detect, detect_integers, mirror

# Only this many elements are drawn one by one. Further blocks of a tensor are shifted and scaled copies of the first,
# because powers, tangents and random numbers for each of 10^8 elements would take longer than the kernel.
BLOCK = 1 << 16

_DENORMAL_SIZE = 1e-39
_TINY_SIZE = 1e-5
_SMALLEST_MAGNITUDE = -6.0  # exponent to base ten, for wide_range
_PARAMETER_SPREAD = 0.5
_EXTREME_DECADES = 4.0  # above the rung, for extremely_below
_LEAST = 0.05  # lower limit relative to the nominal size, for one sign
_JITTER = 0.01  # for alternating
_DENSE = 0.9  # later blocks and rows are scaled by factors from here to 1
_MASKED = 0.25  # share of the elements
_LIMIT_ROWS = 0.25  # share of the rows, for each of the two limits
_DISTANCES = (64, 32, 16, 8, 4)  # between peaks
_PEAK = 20.0  # relative to the nominal size: above all other drawn values
_ORDERED_SPREAD = 3.4  # range of uniform values over their standard deviation
_TURNS = 64  # number of different rows of permuted_rows
_AROUND = 0.1  # relative to a constant: spread of the values around it
_BESIDE = 1e-3  # relative distance to a constant that the type cannot represent
# The ways in which a row shows a constant. The first three differ in where its other elements lie.
_AROUND_IT, _BELOW, _ABOVE, _AMONG, _NORM = range(5)
_WAYS = 5

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
        self._device = device
        self._generator = torch.Generator(device=device).manual_seed(seed)

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
            chosen = free[self._below(len(free))]
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
        """
        tensor.copy_(tensor.roll(1, 0 if tensor.dim() and tensor.shape[0] > 1 else -1))

    def _change_ends(self, tensor: torch.Tensor) -> None:
        """Replaces the end of each row by that of the previous row, so that values and zeros are at positions that the
        task could draw."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        begin = row // 2 + self._below(max(row // 4, 1))
        table[:, begin:] = table[:, begin:].roll(1, 0) if table.shape[0] > 1 else table[:, begin:].flip(1)

    def _draw_again(self, tensor: torch.Tensor) -> None:
        """Draws from the tensor's own values, with repetition, because no other value is known to be a valid index."""
        flat = tensor.reshape(-1).clone()
        places = (self._uniform(torch.Size([flat.numel()])) * flat.numel()).long().clamp(max=flat.numel() - 1)
        tensor.copy_(flat[places].view(tensor.shape))

    def _input(self, tensor: torch.Tensor, structure: Structure, chosen: bool) -> None:
        if not structure.must_stay:
            self._rewrite(tensor, structure, chosen)
        elif self._name == "nan" and chosen:
            self._sprinkle(tensor, math.nan, 1)  # no kernel relies on a structure of NaNs

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
            self._place_outliers(tensor, size)
        elif self._name == "offset_rows":
            self._shift_rows(tensor, size)
        elif self._name == "periodic":
            self._add_peaks(tensor, size)
        elif self._name in ("limit_rows", "limit_entries"):
            self._place_limits(tensor)
        elif self._name == "permuted_rows":
            self._permute_rows(tensor)
        elif self._name == "constants" and self._constants:
            self._place_constants(tensor, size)
        if chosen:
            self._change_one(tensor)
        if zeros is not None:
            tensor.masked_fill_(zeros, 0)
        if structure.symmetric:
            mirror(tensor)

    def _change_one(self, tensor: torch.Tensor) -> None:
        if self._name in _SPARSE:
            self._keep_few(tensor)
        elif self._name in ("masked", "masked_rows"):
            self._mask(tensor)
        elif self._name == "infinities":
            self._sprinkle(tensor, math.inf, 3)
        elif self._name == "nan":
            self._place_nan(tensor)

    def _place_nan(self, tensor: torch.Tensor) -> None:
        """Places one NaN in each row. In the first row it is the last element."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        columns = self._columns(torch.Size([table.shape[0], 1]), row)
        columns[0] = row - 1
        table.scatter_(1, columns, math.nan)

    def _parameter(self, tensor: torch.Tensor, structure: Structure) -> None:
        if self._name == "integers" and not structure.must_stay:
            zeros = tensor == 0 if structure.some_zeros else None
            self._fill(tensor, 1.0)
            if zeros is not None:
                tensor.masked_fill_(zeros, 0)
        elif structure.constant:
            tensor.copy_(tensor.double() + _PARAMETER_SPREAD * self._normal(tensor.shape))

    def _fill(self, tensor: torch.Tensor, size: float) -> None:
        blocks = tensor.view(-1).split(BLOCK)
        blocks[0].copy_(self._values(blocks[0].shape, size))
        if len(blocks) == 1:
            return
        chance = self._uniform(torch.Size([2, len(blocks)])).tolist()
        for i, block in enumerate(blocks[1:], 1):
            scale = 1.0 if self._name in _UNSCALED else _DENSE + (1 - _DENSE) * chance[1][i]
            at = int(chance[0][i] * BLOCK)
            at -= at % 2  # keeps alternating values aligned
            head = min(BLOCK - at, block.numel())
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
            power = _SMALLEST_MAGNITUDE + (top - _SMALLEST_MAGNITUDE) * self._uniform(shape)
            return self._signs(shape) * torch.pow(10.0, power)
        if name == "heavy_tails":
            cauchy = torch.tan(math.pi * (self._uniform(shape) - 0.5))
            return size * cauchy.clamp(-self._rung, self._rung)
        if name == "integers":
            return torch.floor(self._uniform(shape) * (2 * self._bound + 1)) - self._bound
        if name == "ties":
            values = torch.tensor([-1.0, 0.5, 2.0], dtype=torch.float64, device=self._device)
            return size * values[(self._uniform(shape) * 3).long().clamp(max=2)]
        if name == "denormals":
            return self._signs(shape) * self._uniform(shape) * _DENORMAL_SIZE
        if name == "zeros":
            return torch.copysign(torch.zeros(shape, dtype=torch.float64, device=self._device), self._signs(shape))
        if name == "alternating":
            signs = 1.0 - 2.0 * (torch.arange(shape.numel(), device=self._device) % 2)
            return size * signs.view(shape) * (1 + _JITTER * self._uniform(shape))
        if name in ("negative", "positive", "positive_outlier", "far_below", "far_above", "extremely_below", "extremely_above"):
            return self._of_one_sign(shape, size)
        if name in ("offset_1e3", "offset_1e5"):
            offset = self._rung * (1.0 if self._uniform(torch.Size([1])).item() < 0.5 else -1.0)
            return size * (offset + self._normal(shape))
        return (_TINY_SIZE if name == "tiny" else 1.0) * size * self._normal(shape)

    def _of_one_sign(self, shape: torch.Size, size: float) -> torch.Tensor:
        below = self._name in ("negative", "far_below", "extremely_below")
        if self._name in ("negative", "positive", "positive_outlier"):
            values = size * (_LEAST + self._normal(shape).abs())
        elif self._name.startswith("far"):
            values = self._rung / _DENSE * (1 + 3 * self._uniform(shape))
        else:
            values = self._rung / _DENSE * torch.pow(10.0, _EXTREME_DECADES * self._uniform(shape))
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
            steps = 0.5 + self._uniform(torch.Size([count]))
            row = torch.cumsum(steps, 0) * (spread / count) - spread / 2
            shape = [1] * tensor.dim()
            shape[d] = count
            tensor.add_((sign * row).to(tensor.dtype).view(shape))

    def _valley(self, tensor: torch.Tensor, size: float) -> None:
        """Descends over a third of each row, then ascends to twice the initial height."""
        row = tensor.shape[-1] if tensor.dim() else 1
        place = torch.arange(row, dtype=torch.float64, device=self._device) / max(row, 1)
        shape = torch.where(place < 1 / 3, -3 * place, 4.5 * (place - 1 / 3) - 1)
        self._fill_plain(tensor, 0.4 * size / max(row, 1))
        tensor.view(-1, row).add_((size * shape).to(tensor.dtype))

    def _fill_plain(self, tensor: torch.Tensor, size: float) -> None:
        """Uniform from 0 to `size`."""
        blocks = tensor.view(-1).split(BLOCK)
        blocks[0].copy_(size * self._uniform(blocks[0].shape))
        for block in blocks[1:]:
            block.copy_(blocks[0][: block.numel()])

    def _repeat(self, tensor: torch.Tensor, size: float) -> None:
        """Constant along the last dimension, or along all others."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        if self._name == "constant_rows":
            table.copy_((size * self._normal(torch.Size([table.shape[0], 1]))).expand_as(table))
        else:
            table.copy_((size * self._normal(torch.Size([1, row]))).expand_as(table))

    def _place_outliers(self, tensor: torch.Tensor, size: float) -> None:
        table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
        rows = torch.Size([table.shape[0], 1])
        signs = 1.0 if self._name == "positive_outlier" else self._signs(rows)
        values = self._rung * size * signs * (1 + self._uniform(rows))
        table.scatter_(1, self._columns(rows, table.shape[1]), values.to(tensor.dtype))

    def _add_peaks(self, tensor: torch.Tensor, size: float) -> None:
        """Rows cycle through the distances, as far as they fit."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        for turn, distance in enumerate(d for d in _DISTANCES if d == _DISTANCES[0] or 2 * d <= row):
            first = self._below(min(distance, row))
            peaks = table[turn :: len(_DISTANCES), first::distance]
            peaks.add_(_PEAK * size)

    def _permute_rows(self, tensor: torch.Tensor) -> None:
        """Makes each row a copy of the first one with its interior rotated. The first and last element and every sum
        over a row are the same."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        first, inside = table[0].clone(), table[0, 1:-1].clone()
        for turn in range(min(table.shape[0], _TURNS)):
            rows = table[turn::_TURNS]
            rows.copy_(first)
            if inside.numel() > 0:
                rows[:, 1:-1] = inside.roll(turn * max(inside.numel() // _TURNS, 1))

    def _place_constants(self, tensor: torch.Tensor, size: float) -> None:
        """A constant for each row, in one of five ways: every other element is the constant, the rest lies
        around it, below it or above it; every fourth is, among usual values; the row's norm is about it.
        All constants in all ways come first, then their negatives; parts share them out."""
        row = tensor.shape[-1] if tensor.dim() else 1
        table = tensor.view(-1, row)
        rows = torch.Size([table.shape[0], 1])
        order = torch.randperm(table.shape[0], generator=self._generator, device=self._device).view(rows)
        place = (self._part * table.shape[0] + order) % (2 * len(self._constants) * _WAYS)
        kind = place % _WAYS
        signed = torch.tensor(self._constants, dtype=torch.float64, device=self._device)
        wanted = torch.cat([signed, -signed])[place // _WAYS]
        held = wanted.to(tensor.dtype)
        beside = (wanted * (1 + _BESIDE * self._signs(rows))).to(tensor.dtype)
        held = torch.where(held.double() == wanted, held, beside)
        norm = wanted.abs() / math.sqrt(row) * (0.3 + 3 * self._uniform(rows))
        near = kind <= _ABOVE
        spread = torch.where(near, _AROUND * wanted.abs(), torch.where(kind == _AMONG, size, norm))
        table.mul_((spread / size).to(tensor.dtype))
        table.copy_(torch.where(kind == _BELOW, -table.abs(), torch.where(kind == _ABOVE, table.abs(), table)))
        table.add_(torch.where(near, held, 0))
        for chosen, distance in ((near, 2), (kind == _AMONG, 4)):
            some = table[:, self._below(min(distance, row)) :: distance]
            some.copy_(torch.where(chosen, held, some))

    def _place_limits(self, tensor: torch.Tensor) -> None:
        """Uses the least and the greatest finite number, either for a whole row (in half of the rows) or once each in
        every row."""
        limits = torch.finfo(tensor.dtype)
        table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
        rows = torch.Size([table.shape[0], 1])
        if self._name == "limit_entries":
            table.scatter_(1, self._columns(rows, table.shape[1]), limits.max)
            table.scatter_(1, self._columns(rows, table.shape[1]), limits.min)
            return
        chance = self._uniform(rows)
        table.masked_fill_(chance < _LIMIT_ROWS, limits.max)
        table.masked_fill_(chance > 1 - _LIMIT_ROWS, limits.min)

    def _shift_rows(self, tensor: torch.Tensor, size: float) -> None:
        table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
        offsets = self._rung * size * self._normal(torch.Size([table.shape[0], 1]))
        table.add_(offsets.to(tensor.dtype))

    def _mask(self, tensor: torch.Tensor) -> None:
        """Sets elements to -inf, but not all of a row. For masked_rows it also masks whole rows."""
        table = tensor.view(-1, tensor.shape[-1] if tensor.dim() else 1)
        rows = torch.Size([table.shape[0], 1])
        columns = self._columns(rows, table.shape[1])
        kept = table.gather(1, columns)
        share = self._uniform(torch.Size([min(tensor.numel(), BLOCK)])) < _MASKED
        blocks = tensor.view(-1).split(BLOCK)
        places = (self._uniform(torch.Size([len(blocks)])) * share.numel()).long().tolist()
        for block, at in zip(blocks, places, strict=True):
            head = min(share.numel() - at, block.numel())
            block[:head].masked_fill_(share[at : at + head], -math.inf)
            block[head:].masked_fill_(share[: block.numel() - head], -math.inf)
        table.scatter_(1, columns, kept)
        if self._name == "masked_rows":
            whole = self._uniform(rows) < _MASKED
            whole[self._below(rows[0])] = rows[0] > 1
            whole[self._below(rows[0])] = False
            table.masked_fill_(whole, -math.inf)

    def _sprinkle(self, tensor: torch.Tensor, value: float, count: int) -> None:
        for _ in range(count):
            tensor.view(-1)[self._below(tensor.numel())] = value

    def _keep_few(self, tensor: torch.Tensor) -> None:
        row = tensor.shape[-1] if tensor.dim() else 1
        column = torch.arange(row, device=self._device)
        if self._name == "one_hot":
            hot = self._columns(torch.Size([tensor.numel() // row, 1]), row)
            kept = (column == hot).view(tensor.shape)
        else:
            kept = (column + 1 == row).expand(tensor.shape or (1,)).view(tensor.shape)
            if tensor.dim() >= 2:
                rows = tensor.shape[-2]
                last = (torch.arange(rows, device=self._device) + 1 == rows).unsqueeze(-1)
                kept = kept | last.expand(tensor.shape)
        tensor.masked_fill_(~kept, 0)

    def _columns(self, rows: torch.Size, row: int) -> torch.Tensor:
        """Returns one random position in each row."""
        return (self._uniform(rows) * row).long().clamp(max=row - 1)

    def _uniform(self, shape: torch.Size) -> torch.Tensor:
        return torch.rand(shape, dtype=torch.float64, device=self._device, generator=self._generator)

    def _normal(self, shape: torch.Size) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, device=self._device, generator=self._generator)

    def _signs(self, shape: torch.Size) -> torch.Tensor:
        return torch.where(self._uniform(shape) < 0.5, -1.0, 1.0)

    def _below(self, count: int) -> int:
        return min(int(self._uniform(torch.Size([1])).item() * count), count - 1)
