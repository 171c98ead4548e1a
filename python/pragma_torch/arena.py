"""Arena: device memory that another process maps through a descriptor.

On a GPU it is an allocation of the driver's virtual memory management. Its descriptor works across jails (neither a
process id nor an IPC namespace is part of it), and it can be mapped read-only. Without a GPU it is a memfd. Tensors
made from an arena must not outlive it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import warnings
from typing import Any

import torch

from pragma_torch.device import CPU

ALIGNMENT = 512  # torch's own alignment on a GPU: the tensors of all sides start alike


class Arena:
    """`bytes` is the whole arena as a tensor of uint8."""

    def __init__(self, device: str, fd: int, size: int, writable: bool) -> None:
        """Maps the memory behind `fd`, which remains the caller's. Raises OSError or RuntimeError."""
        self.fd = fd
        self.size = size
        self._owner: Any = None
        if device == CPU:
            protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
            self._owner = mmap.mmap(fd, size, prot=protection)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch warns about read-only memory, which is intended here
                self.bytes = torch.frombuffer(self._owner, dtype=torch.uint8)
        else:
            self._owner = _Mapping(fd, size, writable)
            self.bytes = torch.as_tensor(self._owner, device=device)

    def tensor(self, offset: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        """Returns a tensor at `offset` bytes. Raises ValueError if it is not inside the arena."""
        size = torch.Size(shape).numel() * dtype.itemsize
        if offset < 0 or offset + size > self.size:
            raise ValueError(f"offset {offset} lies outside of an area of {self.size} bytes")
        return self.bytes[offset : offset + size].view(dtype).view(shape)


def make_arena(device: str, size: int) -> Arena:
    """Makes a new arena, which owns its descriptor. Raises MemoryError if the device has no room."""
    size = max(size, 1)
    if device == CPU:
        fd = os.memfd_create("pragma-area", os.MFD_CLOEXEC)
        os.ftruncate(fd, size)
        return Arena(device, fd, size, True)
    granularity = _granularity()
    size = (size + granularity - 1) // granularity * granularity
    return Arena(device, _allocate(size), size, True)


# --- the driver's virtual memory management (cuda.h; numbers and structs of a stable interface) ---

_PINNED, _ON_DEVICE, _POSIX_FD = 1, 1, 1
_READ, _READ_WRITE = 1, 3
_OUT_OF_MEMORY = 2


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Properties(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("handle_types", ctypes.c_int),
        ("location", _Location),
        ("windows", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]


class _Access(ctypes.Structure):
    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _check(result: int, what: str) -> None:
    if result == _OUT_OF_MEMORY:
        raise MemoryError(f"the device has no room: {what}")
    if result != 0:
        raise RuntimeError(f"{what} fails with CUDA's error {result}")


def _properties() -> _Properties:
    wanted = _Properties(type=_PINNED, handle_types=_POSIX_FD)
    wanted.location = _Location(_ON_DEVICE, 0)
    return wanted


def _granularity() -> int:
    found = ctypes.c_size_t()
    wanted = _properties()
    get = _driver().cuMemGetAllocationGranularity
    _check(get(ctypes.byref(found), ctypes.byref(wanted), 0), "cuMemGetAllocationGranularity")
    return found.value


def _allocate(size: int) -> int:
    """Allocates memory and returns its descriptor, which keeps it alive."""
    driver = _driver()
    handle = ctypes.c_uint64()
    wanted = _properties()
    made = driver.cuMemCreate(
        ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(wanted), ctypes.c_uint64(0)
    )
    _check(made, f"allocating {size} bytes")
    fd = ctypes.c_int()
    exported = driver.cuMemExportToShareableHandle(
        ctypes.byref(fd), handle, _POSIX_FD, ctypes.c_uint64(0)
    )
    driver.cuMemRelease(handle)
    _check(exported, "cuMemExportToShareableHandle")
    os.set_inheritable(fd.value, False)
    return fd.value


class _Mapping:
    """An imported allocation at an address of this process, until it is dropped."""

    def __init__(self, fd: int, size: int, writable: bool) -> None:
        driver = _driver()
        self._driver = driver
        self._size = ctypes.c_size_t(size)
        self._address = ctypes.c_uint64()
        handle = ctypes.c_uint64()
        imported = driver.cuMemImportFromShareableHandle(
            ctypes.byref(handle), ctypes.c_void_p(fd), _POSIX_FD
        )
        _check(imported, "cuMemImportFromShareableHandle")
        none = ctypes.c_size_t(0)
        reserved = driver.cuMemAddressReserve(
            ctypes.byref(self._address), self._size, none, ctypes.c_uint64(0), ctypes.c_uint64(0)
        )
        _check(reserved, "cuMemAddressReserve")
        mapped = driver.cuMemMap(self._address, self._size, none, handle, ctypes.c_uint64(0))
        driver.cuMemRelease(handle)  # the mapping keeps the memory alive
        _check(mapped, "cuMemMap")
        access = _Access(_Location(_ON_DEVICE, 0), _READ_WRITE if writable else _READ)
        allowed = driver.cuMemSetAccess(
            self._address, self._size, ctypes.byref(access), ctypes.c_size_t(1)
        )
        _check(allowed, "cuMemSetAccess")
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (self._address.value, False),
            "version": 3,
        }

    def __del__(self) -> None:
        if self._address.value:
            self._driver.cuMemUnmap(self._address, self._size)
            self._driver.cuMemAddressFree(self._address, self._size)
