"""Scrambler: writes pseudo-random bytes to all device memory in which an earlier call could have left something. It
does for a Triton module what worker/cuda/scramble.c does for a CUDA candidate.

Its kernels are in scramble.ptx in the same folder, which the driver compiles. They must be loaded before candidate
code.
"""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Iterable
from typing import Any

import torch

_PTX = pathlib.Path(__file__).with_name("scramble.ptx")
# CUdevice_attribute, CUfunction_attribute
_MULTIPROCESSORS, _COOPERATIVE, _MOST_SHARED = 16, 95, 97
_DYNAMIC_SHARED, _CARVEOUT, _ALL_SHARED = 8, 9, 100
# The launch configuration for which the kernels are written.
_CHIP_THREADS, _THREADS, _BLOCK_BYTES, _MOST_BLOCKS = 512, 256, 4096, 4096
_LOCAL_SIZES = (256, 1024, 4096, 16384, 65536)


class Scrambler:
    """It is made after Torch has started CUDA, in Torch's context, and launches on the default stream."""

    def __init__(self) -> None:
        """Raises RuntimeError if the driver does not accept the kernels."""
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._text = _PTX.read_bytes() + b"\0"
        module = ctypes.c_void_p()
        self._check(self._driver.cuModuleLoadData(ctypes.byref(module), self._text))
        self._chip = self._function(module, "chip")
        self._memory = self._function(module, "memory")
        self._locals = [self._function(module, f"local_{size}") for size in _LOCAL_SIZES]
        self._multiprocessors = self._attribute(_MULTIPROCESSORS)
        self._shared = self._attribute(_MOST_SHARED)
        if not self._attribute(_COOPERATIVE):
            raise RuntimeError("memory cannot be scrambled: no cooperative launches on this device")
        for attribute, value in ((_DYNAMIC_SHARED, self._shared), (_CARVEOUT, _ALL_SHARED)):
            self._check(self._driver.cuFuncSetAttribute(self._chip, attribute, value))
        self._launched = 0  # number of blocks launched so far that wait for each other

    def scramble(self, seed: int, local_bytes: int) -> None:
        """Waits for the device before and after. `local_bytes` is the minimum of local memory per thread."""
        torch.cuda.synchronize()
        if local_bytes > 0:
            fits = [k for k, size in zip(self._locals, _LOCAL_SIZES, strict=True) if size >= local_bytes]
            self._fill_device(fits[0] if fits else self._locals[-1], _THREADS, 0, seed)
        for address, size in free_blocks(torch.cuda.memory_snapshot()):
            self._fill_memory(address, size, seed)
        self._fill_device(self._chip, _CHIP_THREADS, self._shared, seed)
        torch.cuda.synchronize()

    def _fill_device(self, kernel: Any, threads: int, shared: int, seed: int) -> None:
        """Launches as many blocks as fit at once. Their kernel waits until all of them are running."""
        each = ctypes.c_int(0)
        occupancy = self._driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
        self._check(occupancy(ctypes.byref(each), kernel, threads, ctypes.c_size_t(shared), 0))
        blocks = each.value * self._multiprocessors
        target = (self._launched + blocks) & 0xFFFFFFFF
        arguments = _pointers(ctypes.c_uint32(seed), ctypes.c_uint32(target), ctypes.c_uint32(shared // 4))
        launch = self._driver.cuLaunchCooperativeKernel
        self._check(launch(kernel, blocks, 1, 1, threads, 1, 1, shared, None, arguments))
        self._launched = target

    def _fill_memory(self, address: int, size: int, seed: int) -> None:
        blocks = min(-(-size // _BLOCK_BYTES), _MOST_BLOCKS)
        arguments = _pointers(ctypes.c_uint64(address), ctypes.c_uint64(size), ctypes.c_uint32(seed))
        launch = self._driver.cuLaunchKernel
        self._check(launch(self._memory, blocks, 1, 1, _THREADS, 1, 1, 0, None, arguments, None))

    def _function(self, module: Any, name: str) -> Any:
        function = ctypes.c_void_p()
        found = self._driver.cuModuleGetFunction(ctypes.byref(function), module, b"pragma_scramble_" + name.encode())
        self._check(found)
        return function

    def _attribute(self, which: int) -> int:
        value = ctypes.c_int(0)
        self._check(self._driver.cuDeviceGetAttribute(ctypes.byref(value), which, torch.cuda.current_device()))
        return value.value

    def _check(self, error: int) -> None:
        if error == 0:
            return
        text = ctypes.c_char_p()
        self._driver.cuGetErrorString(error, ctypes.byref(text))
        raise RuntimeError(f"memory cannot be scrambled: {(text.value or b'unknown error').decode()}")


def _pointers(*values: Any) -> Any:
    """Returns pointers to the arguments in an array that keeps the arguments alive."""
    array: Any = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    array.values = values
    return array


def free_blocks(segments: Iterable[dict[str, Any]]) -> list[tuple[int, int]]:
    """Returns address and size of the freed blocks that Torch's allocator keeps, from which torch.empty takes memory.
    """
    return [
        (block["address"], block["size"])
        for segment in segments
        for block in segment["blocks"]
        if block["state"] != "active_allocated"
    ]
