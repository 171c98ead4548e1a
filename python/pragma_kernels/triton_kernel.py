"""A kernel written in Triton: an operator of Torch, torch.ops.pragma_kernels.NAME, which is defined in this process.

The module's `run` launches its Triton kernels on the current stream. Every message that the operator raises has the form
`pragma_kernels: REASON: what was found`, as those of libraries have.
"""

from __future__ import annotations

import ctypes
import importlib.util
import pathlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch

from pragma_kernels.errors import PackageError
from pragma_kernels.launches import Launches
from pragma_kernels.operators import listing

_ALIGNMENT = 16  # bytes; Triton compiles other code for pointers that are not so aligned


class TritonKernel:
    """An operator that checks its tensors and calls a Triton module. There is one for each name in a process."""

    threads = 0  # any number

    def __init__(self, path: pathlib.Path, entry: dict[str, Any], device: dict[str, Any]) -> None:
        self.name: str = entry["name"]
        self._module = _Module(path, self.name, device)
        self._device: str = device["type"]
        self._arguments = [_Wanted(spec) for spec in entry["arguments"]]
        self._outputs = [(spec["shape"], getattr(torch, spec["dtype"])) for spec in entry["outputs"]]
        self._runs = 0
        self._modules = 0  # that use it
        self.copies = ctypes.c_int64(0)  # tensors that were copied to be contiguous and aligned
        self.copies_seen = 0  # those which are in the statistics of a module
        self.calls_counted = 0  # the same of calls; the others were made by compiled graphs
        self._library = _defined(entry, self._call, self._device)
        overload = getattr(torch.ops.pragma_kernels, self.name).default
        self.operator, self.fast = overload, overload._op
        if entry["takes_list"]:
            self.operator, self.fast = listing(overload), listing(overload._op)

    def calls(self) -> int:
        """Returns how often the kernel ran in this process. The replay of a CUDA graph is not counted."""
        return self._runs

    def change_modules(self, more: int) -> None:
        """Says that so many more modules use the kernel. What is kept of its launches goes with the last one."""
        self._modules += more
        if self._modules <= 0 and self._module.launches is not None:
            self._module.launches.forget()

    @property
    def replays(self) -> int:
        """Returns how many of the runs were launched as one graph."""
        return self._module.launches.replays if self._module.launches is not None else 0

    @property
    def slow(self) -> str:
        """Returns why the host launches each of its kernels in each call, or ""."""
        return self._module.launches.slow if self._module.launches is not None else ""

    def packs(self) -> int:
        return 0

    def _call(self, *given: Any) -> Any:
        tensors = given[0] if len(given) == 1 and isinstance(given[0], (list, tuple)) else given
        if len(tensors) != len(self._arguments):
            _refuse("arguments", "another number of tensors")
        device = tensors[0].device
        for tensor, wanted in zip(tensors, self._arguments, strict=True):
            self._check(tensor, wanted, device)
        run = self._module.on(device)
        values = [self._ready(tensor) for tensor in tensors]
        results = [torch.empty(shape, dtype=dtype, device=device) for shape, dtype in self._outputs]
        run(*values, *results)
        self._runs += 1
        return results[0] if len(results) == 1 else tuple(results)

    def _check(self, tensor: torch.Tensor, wanted: _Wanted, device: torch.device) -> None:
        if tensor.device.type != self._device or tensor.device != device:
            _refuse("device", f"{wanted.name} is on {tensor.device}")
        if tensor.layout != torch.strided:
            _refuse("tensor type", f"{wanted.name} is not a dense tensor")
        if tensor.dtype != wanted.dtype:
            _refuse("dtype", f"{wanted.name} is {tensor.dtype}, not {wanted.dtype}")
        if tensor.shape != wanted.shape:
            _refuse("shape", f"{wanted.name} is {list(tensor.shape)}, not {list(wanted.shape)}")

    def _ready(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_contiguous() and tensor.data_ptr() % _ALIGNMENT == 0 and not tensor.is_neg():
            return tensor
        self.copies.value += 1
        return tensor.resolve_neg().clone(memory_format=torch.contiguous_format)


class _Wanted:
    """A tensor that the kernel takes."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.name: str = spec["name"]
        self.dtype: torch.dtype = getattr(torch, spec["dtype"])
        self.shape = torch.Size(spec["shape"])


class _Module:
    """The Triton module. It is imported at the first call, since that compiles its kernels for the current GPU."""

    def __init__(self, path: pathlib.Path, name: str, device: dict[str, Any]) -> None:
        self._path = path
        self._name = name
        self._wanted = device
        self._home: torch.device | None = None  # where its compiled kernels are loaded
        self._unfit = ""
        self.launches: Launches | None = None  # on a GPU
        self._run: Callable[..., None] | None = None
        self._lock = threading.Lock()

    def on(self, device: torch.device) -> Callable[..., None]:
        """Returns `run`. Refuses a GPU other than the first on which it ran, and one of another kind."""
        if self._run is None:
            self._load(device)
        if self._unfit:
            _refuse("processor", self._unfit)
        if device != self._home:
            _refuse("device", f"the kernel was loaded on {self._home}, the tensors are on {device}")
        assert self._run is not None
        if device.type != "cuda":
            return self._run
        return self._run if torch.cuda.current_device() == device.index else _on(device, self._run)

    def _load(self, device: torch.device) -> None:
        with self._lock:
            if self._run is not None or self._unfit:
                return
            if device.type == "cuda":
                found = _capability(device)
                if found != self._wanted["capability"]:
                    self._unfit = f"the kernel was verified on a GPU of capability {self._wanted['capability']}, this has {found}"
                    return
            self._home = device
            if device.type != "cuda":
                self._run = self._imported().run
                return
            with torch.cuda.device(device):
                self.launches = Launches(_with_scratch(self._imported().run))
            self._run = self.launches

    def _imported(self) -> Any:
        """Triton reads the source of a kernel from the module's file."""
        name = f"pragma_kernels_triton_{self._name}"
        spec = importlib.util.spec_from_file_location(name, self._path)
        if spec is None or spec.loader is None:
            raise PackageError(f"{self._path} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module


def _capability(device: torch.device) -> str:
    """Returns "9.0" for NVIDIA's Hopper, "gfx942" for AMD's MI300."""
    if torch.version.hip:
        return str(torch.cuda.get_device_properties(device).gcnArchName).partition(":")[0]
    return ".".join(map(str, torch.cuda.get_device_capability(device)))


def _on(device: torch.device, run: Callable[..., None]) -> Callable[..., None]:
    def there(*tensors: torch.Tensor) -> None:
        with torch.cuda.device(device):
            run(*tensors)

    return there


def _with_scratch(run: Callable[..., None]) -> Callable[..., None]:
    """A tensor descriptor that a kernel makes lies in memory that Triton asks for at each launch. What gives it is set for
    each thread."""
    import triton

    def launch(*tensors: torch.Tensor) -> None:
        triton.set_allocator(_scratch)
        run(*tensors)

    return launch


def _scratch(size: int, alignment: int, stream: int | None) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="cuda")


def _refuse(reason: str, found: str) -> None:
    raise RuntimeError(f"pragma_kernels: {reason}: {found}")


def _defined(entry: dict[str, Any], call: Callable[..., Any], device: str) -> torch.library.Library:
    """Defines the operator. Modes of Torch in which the original forward must run have a dispatch key each, in which the
    operator refuses."""
    library = torch.library.Library("pragma_kernels", "FRAGMENT")
    library.define(entry["schema"])
    name, key = entry["name"], device.upper()

    def refusing(reason: str, found: str) -> Callable[..., None]:
        return lambda *_: _refuse(reason, found)

    library.impl(name, call, key)
    library.impl(name, refusing("autocast", "autocast is on"), f"Autocast{key}")
    library.impl(name, refusing("tensor type", "torch.jit is tracing"), "Tracer")
    library.impl(name, refusing("tensor type", "a transform of torch.func is active"), "FuncTorchDynamicLayerFrontMode")
    return library
