"""The ring as a candidate's process sees it: the location of each tensor, and the tensors themselves."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import warnings

import torch

# The part of struct pragma_control (worker/protocol.h) that describes locations.
_GUARDS = struct.Struct("=II")
_GUARDS_AT = 20
_COUNTS = struct.Struct("=IIII")
_COUNTS_AT = 960
_OFFSETS_AT = 5120


class Layout:
    """Offsets of each set's arguments and outputs, and of the guard pages, in bytes."""

    def __init__(self, control_fd: int) -> None:
        with mmap.mmap(control_fd, os.fstat(control_fd).st_size, prot=mmap.PROT_READ) as page:
            input_guards, output_guards = _GUARDS.unpack_from(page, _GUARDS_AT)
            sets, arguments, outputs, _ = _COUNTS.unpack_from(page, _COUNTS_AT)
            count = sets * (arguments + outputs) + input_guards + output_guards
            words = list(struct.unpack_from(f"={count}Q", page, _OFFSETS_AT))
        width = arguments + outputs
        rows = [words[i * width : (i + 1) * width] for i in range(sets)]
        self.arguments = [row[:arguments] for row in rows]
        self.outputs = [row[arguments:] for row in rows]
        rest = words[sets * width :]
        self.input_guards = rest[:input_guards]
        self.output_guards = rest[input_guards:]


class Memory:
    """One shared memory that pragma owns, mapped as a whole and populated. It lives as long as its tensors."""

    def __init__(self, fd: int, writable: bool, guards: list[int]) -> None:
        size = os.fstat(fd).st_size
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        self._map = mmap.mmap(fd, size, flags=flags, prot=protection) if size else None
        if self._map is not None:
            self._protect(guards)

    def _protect(self, guards: list[int]) -> None:
        """Makes overruns of an extension crash where they happen, as in the C++ worker."""
        if not guards:
            return
        base = self.tensor(0, torch.uint8, [1]).data_ptr()
        mprotect = ctypes.CDLL(None).mprotect
        for offset in guards:
            mprotect(ctypes.c_void_p(base + offset), ctypes.c_size_t(mmap.PAGESIZE), 0)

    def tensor(self, offset: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        count = 1
        for size in shape:
            count *= size
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        assert self._map is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about read-only inputs, which are intended here
            flat = torch.frombuffer(self._map, dtype=dtype, count=count, offset=offset)
        return flat.view(shape)
