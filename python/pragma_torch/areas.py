"""Areas: pragma's shared memory, accessed as tensors without copies."""

from __future__ import annotations

import mmap
import os

import torch


class Area:
    """A mapped memfd. The mapping lives as long as any tensor made from it."""

    def __init__(self, fd: int, private: bool) -> None:
        """`private` means that writes stay in this process, while pages that were not written keep showing pragma's
        later values. Raises OSError, also if write access is requested and pragma has sealed the memory."""
        self.size = os.fstat(fd).st_size
        flags = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        self._map: mmap.mmap | None = None
        if self.size == 0:
            return
        self._map = mmap.mmap(fd, self.size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)

    def tensor(self, offset: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        """Returns a contiguous tensor at `offset` bytes. Raises ValueError if it is not inside the area."""
        count = 1
        for size in shape:
            count *= size
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        if offset < 0 or offset + count * dtype.itemsize > self.size:
            raise ValueError(
                f"offset {offset} lies outside of the shared memory of {self.size} bytes"
            )
        assert self._map is not None
        return torch.frombuffer(self._map, dtype=dtype, count=count, offset=offset).view(shape)


class Areas:
    """The mappings of the memory that requests name repeatedly. A new mapping costs a page fault for each page.

    Mapped memory uses memory and address space even after pragma has released it. So at most a quarter of the machine's
    memory is kept mapped.
    """

    _KEPT = 8
    _KEPT_BYTES = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4

    def __init__(self) -> None:
        self._areas: dict[tuple[int, int, bool], Area] = {}

    def of(self, fd: int, private: bool) -> Area:
        """Returns the Area of `fd`. A private one must not be written, or it stops showing what pragma writes there."""
        status = os.fstat(fd)
        key = (status.st_dev, status.st_ino, private)  # stays unique while the memory is mapped
        area = self._areas.pop(key, None)
        if area is None or area.size != status.st_size:
            area = Area(fd, private)
        self._areas[key] = area  # the most recently used is dropped last
        while len(self._areas) > self._KEPT or (len(self._areas) > 1 and self._bytes() > self._KEPT_BYTES):
            del self._areas[next(iter(self._areas))]
        return area

    def _bytes(self) -> int:
        return sum(area.size for area in self._areas.values())
