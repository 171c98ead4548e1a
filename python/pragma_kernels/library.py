"""A kernel's library: it defines an operator of Torch, torch.ops.pragma_kernels.NAME, when it is loaded."""

from __future__ import annotations

import ctypes
import os
import pathlib
import threading
from collections.abc import Callable
from typing import Any

import torch

from pragma_kernels.errors import PackageError

_loaded: dict[str, tuple[str, Kernel]] = {}
_lock = threading.Lock()


class Kernel:
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
            self.operator, self.fast = _listing(overload), _listing(overload._op)
        torch.library.register_fake(f"pragma_kernels::{self.name}", _fake(entry["outputs"]))
        self._calls = library.pragma_operator_calls
        self._calls.restype = ctypes.c_int64
        copies = library.pragma_operator_copies
        copies.restype = ctypes.c_void_p
        self.copies = ctypes.c_int64.from_address(copies())
        self.copies_seen = 0  # those which are in the statistics of a module
        self.calls_counted = 0  # the same of calls; the others were made by compiled graphs
        self._modules = library.pragma_operator_modules if entry["packed_bytes"] > 0 else None
        self._packs = library.pragma_operator_packs if entry["packed_bytes"] > 0 else None

    @staticmethod
    def load(folder: pathlib.Path, entry: dict[str, Any], identity: str) -> Kernel:
        """Loads a library, or returns the kernel that another folder has already brought."""
        name = entry["name"]
        with _lock:
            if name not in _loaded:
                _loaded[name] = (identity, Kernel(folder / entry["library"], entry))
            known, kernel = _loaded[name]
        if known != identity:
            raise PackageError(f"another build of kernel {name} is already loaded: use {folder} in a new process")
        return kernel

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


def _listing(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the operator as a function of tensors. It takes them as a list, since Torch allows 64 arguments at most."""

    def call(*tensors: torch.Tensor) -> Any:
        return operator(list(tensors))

    return call


def _fake(outputs: list[dict[str, Any]]) -> Callable[..., Any]:
    """Returns the function that says what the operator returns, without computing it."""
    specs = [(spec["shape"], getattr(torch, spec["dtype"])) for spec in outputs]

    def fake(*given: Any) -> Any:
        tensors = given[0] if given and isinstance(given[0], list) else given
        if any(type(t) is torch.Tensor and t.device.type == "meta" for t in tensors):
            raise RuntimeError("pragma_kernels: device: a tensor is on the device meta")
        results = [torch.empty(shape, dtype=dtype, device="cpu") for shape, dtype in specs]
        return results[0] if len(results) == 1 else tuple(results)

    return fake
