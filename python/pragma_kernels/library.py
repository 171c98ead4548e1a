"""Kernels as operators of Torch, torch.ops.pragma_kernels.NAME: those in a library, which defines its operator when it is
loaded, and those written in Triton (triton_kernel.py)."""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from typing import Any

import torch

from pragma_kernels.errors import PackageError
from pragma_kernels.operators import fake, listing
from pragma_kernels.triton_kernel import TritonKernel


class LibraryKernel:
    """A loaded kernel. There is one for each name in a process, because operators cannot be defined twice."""

    def __init__(self, path: pathlib.Path, entry: dict[str, Any]) -> None:
        try:
            library = ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_NOW)
        except OSError as error:
            raise PackageError(f"the library {path} cannot be loaded: {error}") from error
        self.name: str = entry["name"]
        self.threads: int = entry["threads"]
        overload = getattr(torch.ops.pragma_kernels, self.name).default
        # The second is what OpOverload.__call__ calls, without its own frame.
        self.operator, self.fast = overload, overload._op
        if entry["takes_list"]:
            self.operator, self.fast = listing(overload), listing(overload._op)
        self._calls = library.pragma_operator_calls
        self._calls.restype = ctypes.c_int64
        copies = library.pragma_operator_copies
        copies.restype = ctypes.c_void_p
        self.copies = ctypes.c_int64.from_address(copies())
        self.copies_seen = 0  # those which are in the statistics of a module
        self.calls_counted = 0  # the same of calls; the others were made by compiled graphs
        self._modules = library.pragma_operator_modules if entry["packed_bytes"] > 0 else None
        self._packs = library.pragma_operator_packs if entry["packed_bytes"] > 0 else None

    slow = ""  # a call costs no launches

    def calls(self) -> int:
        """Returns how often the kernel ran in this process, no matter what called it."""
        return int(self._calls())

    def change_modules(self, more: int) -> None:
        """Says that so many more modules use the kernel: it keeps a packed copy of the weights for each."""
        if self._modules is not None:
            self._modules(ctypes.c_int64(more))

    def packs(self) -> int:
        """Returns the number of packed copies of weights that are held."""
        return int(self._packs()) if self._packs is not None else 0


Kernel = LibraryKernel | TritonKernel

_loaded: dict[str, tuple[str, Kernel]] = {}
_lock = threading.Lock()


def load_kernel(folder: pathlib.Path, entry: dict[str, Any], device: dict[str, Any], identity: str) -> Kernel:
    """Loads a kernel for the package's device, or returns the one that another folder has already brought."""
    name = entry["name"]
    with _lock:
        if name not in _loaded:
            _loaded[name] = (identity, _made(folder, entry, device))
        known, kernel = _loaded[name]
    if known != identity:
        raise PackageError(f"another build of kernel {name} is already loaded: use {folder} in a new process")
    return kernel


def _made(folder: pathlib.Path, entry: dict[str, Any], device: dict[str, Any]) -> Kernel:
    made: Kernel
    if entry["language"] == "triton":
        made = TritonKernel(folder / entry["source"], entry, device)
    else:
        made = LibraryKernel(folder / entry["library"], entry)
    torch.library.register_fake(f"pragma_kernels::{made.name}", fake(entry["outputs"], device["type"]))
    return made
