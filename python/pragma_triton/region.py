"""Region: one output on the device with a copy of what surrounds it in pragma's memory.

pragma looks for writes outside an output in the bytes round it (zero, and they must stay so); a
kernel on a device writes into these copies first. There they are masked with random bytes: a stray
write often is a zero, read beyond an input.
"""

from __future__ import annotations

import mmap
import os

import torch

from pragma_candidate.ring import Memory
from pragma_torch.device import Device

_ALIGNMENT = 512  # torch's own on a GPU: every side's tensors begin alike


class Region:
    """`tensor` is what the kernel gets."""

    def __init__(
        self, device: Device, memory: Memory, offset: int, dtype: torch.dtype, shape: list[int]
    ) -> None:
        page = mmap.PAGESIZE
        count = torch.Size(shape).numel()
        size = count * dtype.itemsize
        begin = offset // page * page - page
        end = (offset + max(size, 1) + page - 1) // page * page + page
        before = offset - begin
        start = (before + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT - before
        self._host = memory.tensor(begin, torch.uint8, [end - begin])
        whole = torch.empty(start + end - begin, dtype=torch.uint8, device=device.name)
        self._device = whole[start:]
        mask = torch.frombuffer(bytearray(os.urandom(end - begin - size)), dtype=torch.uint8)
        self._masks = (mask[:before], mask[before:])
        self._inside = slice(before, before + size)
        self._margins = (slice(0, before), slice(before + size, end - begin))
        self.tensor = self._device[self._inside].view(dtype).view(shape)

    def upload(self) -> None:
        """The poison, and what lies round it."""
        self._device[self._inside].copy_(self._host[self._inside])
        for margin, mask in zip(self._margins, self._masks, strict=True):
            self._device[margin].copy_(self._host[margin] ^ mask)

    def download(self) -> None:
        """Margins are added to what is there: neighbours share them, and any of them may be broken."""
        self._host[self._inside].copy_(self._device[self._inside])
        for margin, mask in zip(self._margins, self._masks, strict=True):
            self._host[margin].bitwise_or_(self._device[margin].cpu() ^ mask)
