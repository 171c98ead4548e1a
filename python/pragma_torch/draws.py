"""Draws: random numbers from one seed, on a tensor's device."""

from __future__ import annotations

import torch

from pragma_torch.device import CPU

# Only this many elements of a tensor are drawn one by one. Further blocks are shifted and scaled copies of the first,
# because powers, tangents and random numbers for each of 10^8 elements would take longer than the kernel. A GPU draws
# as many in a millisecond, and takes as long to start a copy of any size.
BLOCK = 1 << 16
BLOCK_ON_GPU = 1 << 24


class Draws:
    def __init__(self, seed: int, device: str) -> None:
        self.device = device
        self.block = BLOCK if device == CPU else BLOCK_ON_GPU  # elements drawn one by one
        self._generator = torch.Generator(device=device).manual_seed(seed)

    def uniform(self, shape: torch.Size) -> torch.Tensor:
        return torch.rand(shape, dtype=torch.float64, device=self.device, generator=self._generator)

    def normal(self, shape: torch.Size) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, device=self.device, generator=self._generator)

    def signs(self, shape: torch.Size) -> torch.Tensor:
        return torch.where(self.uniform(shape) < 0.5, -1.0, 1.0)

    def below(self, count: int) -> int:
        return min(int(self.uniform(torch.Size([1])).item() * count), count - 1)

    def columns(self, rows: torch.Size, row: int) -> torch.Tensor:
        """Returns one random position in each row."""
        return (self.uniform(rows) * row).long().clamp(max=row - 1)

    def order(self, count: int) -> torch.Tensor:
        """Returns the numbers below `count` in random order."""
        return torch.randperm(count, generator=self._generator, device=self.device)
