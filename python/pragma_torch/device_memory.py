"""DeviceMemory: memory of a device that another process maps through a descriptor. There is one for each kind of
memory (`memory` of knowledge/backends/*.toml), and each has two methods:

  allocate(size)             a descriptor that keeps new memory alive, and its size, rounded up to what can be mapped
  map(fd, size, writable)    the memory behind a descriptor as a tensor of uint8; read-only memory cannot be written

A descriptor works across jails (neither a process id nor an IPC namespace is part of it). A mapping lasts as long as
the tensors made from it.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import warnings
from typing import Any, Protocol

import torch

from pragma_torch.device import CPU


class DeviceMemory(Protocol):
    def allocate(self, size: int) -> tuple[int, int]: ...

    def map(self, fd: int, size: int, writable: bool) -> torch.Tensor: ...


class HostMemory:
    """A memfd, where the device computes in the host's memory, or there is none."""

    def allocate(self, size: int) -> tuple[int, int]:
        fd = os.memfd_create("pragma-area", os.MFD_CLOEXEC)
        os.ftruncate(fd, size)
        return fd, size

    def map(self, fd: int, size: int, writable: bool) -> torch.Tensor:
        """Raises OSError."""
        owner = mmap.mmap(fd, size, prot=mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about read-only memory, which is intended here
            return torch.frombuffer(owner, dtype=torch.uint8)


# Numbers and structs of the drivers' virtual memory management, which is a stable interface. HIP has taken over CUDA's.
# python/tests/test_device_memory.py compares them with HIP's headers.
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


class DriverMemory:
    """An allocation of a driver's virtual memory management, which can be mapped read-only."""

    def __init__(self, library: str, prefix: str) -> None:
        """The driver's functions are called PREFIX + "MemCreate" and so on: "cu" of CUDA, "hip" of HIP."""
        self._library = library
        self._prefix = prefix

    @functools.cached_property
    def _driver(self) -> ctypes.CDLL:
        return ctypes.CDLL(self._library)

    def call(self, name: str, *arguments: Any) -> int:
        return getattr(self._driver, self._prefix + name)(*arguments)

    def check(self, result: int, what: str) -> None:
        if result == _OUT_OF_MEMORY:
            raise MemoryError(f"the device has no room: {what}")
        if result != 0:
            raise RuntimeError(f"{what} fails with the driver's error {result}")

    def allocate(self, size: int) -> tuple[int, int]:
        """Raises MemoryError if the device has no room."""
        wanted = _Properties(type=_PINNED, handle_types=_POSIX_FD)
        wanted.location = _Location(_ON_DEVICE, 0)
        granularity = ctypes.c_size_t()
        found = self.call("MemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(wanted), 0)
        self.check(found, "MemGetAllocationGranularity")
        size = (size + granularity.value - 1) // granularity.value * granularity.value
        handle = ctypes.c_uint64()
        made = self.call(
            "MemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(wanted), ctypes.c_uint64(0)
        )
        self.check(made, f"allocating {size} bytes")
        fd = ctypes.c_int()
        exported = self.call(
            "MemExportToShareableHandle", ctypes.byref(fd), handle, _POSIX_FD, ctypes.c_uint64(0)
        )
        self.call("MemRelease", handle)
        self.check(exported, "MemExportToShareableHandle")
        os.set_inheritable(fd.value, False)
        return fd.value, size

    def map(self, fd: int, size: int, writable: bool) -> torch.Tensor:
        """Raises RuntimeError."""
        return torch.as_tensor(_Mapping(self, fd, size, writable), device="cuda")


class _Mapping:
    """An imported allocation at an address of this process, until it is dropped."""

    def __init__(self, memory: DriverMemory, fd: int, size: int, writable: bool) -> None:
        self._memory = memory
        self._size = ctypes.c_size_t(size)
        self._address = ctypes.c_uint64()
        handle = ctypes.c_uint64()
        call, none, zero = memory.call, ctypes.c_size_t(0), ctypes.c_uint64(0)
        imported = call("MemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), _POSIX_FD)
        memory.check(imported, "MemImportFromShareableHandle")
        reserved = call("MemAddressReserve", ctypes.byref(self._address), self._size, none, zero, zero)
        memory.check(reserved, "MemAddressReserve")
        mapped = call("MemMap", self._address, self._size, none, handle, zero)
        call("MemRelease", handle)  # the mapping keeps the memory alive
        memory.check(mapped, "MemMap")
        access = _Access(_Location(_ON_DEVICE, 0), _READ_WRITE if writable else _READ)
        allowed = call("MemSetAccess", self._address, self._size, ctypes.byref(access), ctypes.c_size_t(1))
        memory.check(allowed, "MemSetAccess")
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (self._address.value, False),
            "version": 3,
        }

    def __del__(self) -> None:
        if self._address.value:
            self._memory.call("MemUnmap", self._address, self._size)
            self._memory.call("MemAddressFree", self._address, self._size)


CUDA_MEMORY = DriverMemory("libcuda.so.1", "cu")
HIP_MEMORY = DriverMemory("libamdhip64.so", "hip")


def memory_of(device: str) -> DeviceMemory:
    """Returns the memory of a Device (device.py). Torch calls an AMD GPU "cuda" too, and its build tells which it is."""
    if device == CPU:
        return HostMemory()
    return HIP_MEMORY if torch.version.hip else CUDA_MEMORY
