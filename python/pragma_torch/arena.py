"""Arena: device memory that another process maps through a descriptor (device_memory.py), in tensors. Tensors made from
an arena must not outlive it."""

from __future__ import annotations

import torch

from pragma_torch.device_memory import memory_of

ALIGNMENT = 512  # torch's own alignment on a GPU: the tensors of all sides start alike


class Arena:
    """`bytes` is the whole arena as a tensor of uint8."""

    def __init__(self, device: str, fd: int, size: int, writable: bool) -> None:
        """Maps the memory behind `fd`, which remains the caller's. Raises OSError or RuntimeError."""
        self.fd = fd
        self.size = size
        self.bytes = memory_of(device).map(fd, size, writable)

    def tensor(self, offset: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        """Returns a tensor at `offset` bytes. Raises ValueError if it is not inside the arena."""
        size = torch.Size(shape).numel() * dtype.itemsize
        if offset < 0 or offset + size > self.size:
            raise ValueError(f"offset {offset} lies outside of an area of {self.size} bytes")
        return self.bytes[offset : offset + size].view(dtype).view(shape)


def make_arena(device: str, size: int) -> Arena:
    """Makes a new arena, which owns its descriptor. Raises MemoryError if the device has no room."""
    fd, size = memory_of(device).allocate(max(size, 1))
    return Arena(device, fd, size, True)
