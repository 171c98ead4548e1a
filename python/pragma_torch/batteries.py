"""Input sets that bring out what the task's own distribution may hide (src/verify/batteries.h), made
where the sets lie. Names and rungs are that file's."""

from __future__ import annotations

import math

import torch

from pragma_torch.figures import BLOCK
from pragma_torch.plan import Argument
from pragma_torch.structure import Structure, mirror

_DENORMAL_SIZE = 1e-39
_TINY_SIZE = 1e-5
_SMALLEST_MAGNITUDE = -6.0  # power of ten, of wide_range
_PARAMETER_SPREAD = 0.5
_SPARSE = ("one_hot", "last_only")


class Battery:
    """One of them, with its own source of random numbers."""

    def __init__(self, name: str, rung: float, integer_bound: float, seed: int, device: str) -> None:
        self._name = name
        self._rung = rung
        self._bound = integer_bound
        self._device = device
        self._generator = torch.Generator(device=device).manual_seed(seed)

    def apply(
        self, arguments: list[Argument], structures: list[Structure], tensors: list[torch.Tensor]
    ) -> None:
        """Rewrites a drawn set in place."""
        floating = [i for i, a in enumerate(arguments) if a.role == "input" and a.torch_dtype.is_floating_point]
        chosen = floating[self._below(len(floating))] if floating else -1
        for i, (argument, structure) in enumerate(zip(arguments, structures, strict=True)):
            tensor = tensors[i]
            if not argument.torch_dtype.is_floating_point or tensor.numel() == 0:
                continue
            if argument.role == "input":
                self._input(tensor, structure, i == chosen)
            elif argument.role == "parameter":
                self._parameter(tensor, structure)

    def _input(self, tensor: torch.Tensor, structure: Structure, chosen: bool) -> None:
        if structure.must_stay:
            return
        self._fill(tensor, structure, structure.rms or 1.0)
        if self._name in _SPARSE and chosen:
            self._keep_few(tensor)
        if self._name == "non_finite" and chosen:
            for value in (math.nan, math.inf, -math.inf):
                tensor.view(-1)[self._below(tensor.numel())] = value
        if structure.symmetric:
            mirror(tensor)

    def _parameter(self, tensor: torch.Tensor, structure: Structure) -> None:
        if self._name == "integers" and not structure.must_stay:
            self._fill(tensor, structure, 1.0)
        elif structure.constant:
            tensor.copy_(tensor.double() + _PARAMETER_SPREAD * self._normal(tensor.shape))

    def _fill(self, tensor: torch.Tensor, structure: Structure, size: float) -> None:
        for block in tensor.view(-1).split(BLOCK):
            values = self._values(block.shape, size)
            block.copy_(torch.where(block == 0, 0.0, values) if structure.some_zeros else values)

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
            return torch.zeros(shape, dtype=torch.float64, device=self._device)
        return (_TINY_SIZE if name == "tiny" else 1.0) * size * self._normal(shape)

    def _keep_few(self, tensor: torch.Tensor) -> None:
        row = tensor.shape[-1] if tensor.dim() else 1
        column = torch.arange(row, device=self._device)
        if self._name == "one_hot":
            rows = tensor.numel() // row
            hot = (self._uniform(torch.Size([rows, 1])) * row).long().clamp(max=row - 1)
            kept = (column == hot).view(tensor.shape)
        else:
            kept = (column + 1 == row).expand(tensor.shape)
            if tensor.dim() >= 2:
                rows = tensor.shape[-2]
                last = (torch.arange(rows, device=self._device) + 1 == rows).unsqueeze(-1)
                kept = kept | last.expand(tensor.shape)
        tensor.masked_fill_(~kept, 0)

    def _uniform(self, shape: torch.Size) -> torch.Tensor:
        return torch.rand(shape, dtype=torch.float64, device=self._device, generator=self._generator)

    def _normal(self, shape: torch.Size) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, device=self._device, generator=self._generator)

    def _signs(self, shape: torch.Size) -> torch.Tensor:
        return torch.where(self._uniform(shape) < 0.5, -1.0, 1.0)

    def _below(self, count: int) -> int:
        return min(int(self._uniform(torch.Size([1])).item() * count), count - 1)
