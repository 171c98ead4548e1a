"""Kernels: the Work (pragma_candidate/service.py) of one Triton module.

Its tensors are in an exchange (pragma_torch/exchange.py). pragma itself writes their values and reads the results, so
nothing is copied here. RUN launches `run` for each set in the given order and waits until the whole device is idle.
Only that is timed. Without a GPU the same runs in Triton's interpreter in host memory, for checks but not for times.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from pragma_candidate.service import Refused, Unloadable
from pragma_torch import control
from pragma_torch.device import CPU, CUDA, Device
from pragma_torch.exchange import Opened
from pragma_triton import amdgcn, interpreter, no_torch, ptx
from pragma_triton.models import Models
from pragma_triton.scramble import Scrambler

INTERPRET = "TRITON_INTERPRET"  # environment variable: "1" if there is no GPU

# The second call is watched, because the first one compiles and tunes, for which Triton itself computes with torch (as
# its interpreter does in every call).
_WATCHED_CALL = 1
_WORD = 4  # bytes of a register in local memory
_PATH = "/candidate/solution.py"  # shown in tracebacks; no such file is read


class Kernels:
    entry = "run"

    def __init__(self, area_fd: int, module: str) -> None:
        """`module` is its text: a module with `run`, or an exported ModelNew."""
        self._area_fd = area_fd
        self._module = module
        self._opened: Opened | None = None
        self._sets: list[list[Any]] = []
        self._run: Callable[..., Any] | None = None
        self._calls = 0
        self._loaded: Any = None
        self._looked_at: set[int] = set()  # ids of kernels, which live as long as the module
        self._synchronize = self.wake = _nothing
        self._watches = False
        self._scrambler: Scrambler | None = None
        self._models: Models | None = None
        self.commands: dict[int, Callable[[list[int]], None]] = {control.DELIVER: self._deliver}

    def load(self) -> None:
        """Starts the device first, because the functions that query it must be loaded before candidate code."""
        device = Device(CPU if os.environ.get(INTERPRET) == "1" else CUDA)
        self._synchronize, self.wake = device.synchronize, device.wake
        self._watches = device.name == CUDA
        # Its kernels are PTX. Nothing like them has been written for AMD's GPUs yet.
        self._scrambler = Scrambler() if device.name == CUDA and not torch.version.hip else None
        opened = self._opened = Opened(self._area_fd, arguments_writable=False)
        self._sets = [[*a, *o] for a, o in zip(opened.arguments, opened.outputs, strict=True)]
        if device.name == CPU:
            interpreter.complete()
        _lend_scratch(device.name)
        self._loaded = load_text(self._module)
        if hasattr(self._loaded, "ModelNew"):
            self._models = Models(self._loaded.ModelNew, opened, device.name)
            return
        run = self._loaded.run
        self._check_parameters(run, opened)
        self._look_at_compiled()
        self._run = run

    def _check_parameters(self, run: Callable[..., Any], opened: Opened) -> None:
        given = len(inspect.signature(run).parameters)
        wanted = [argument.name for argument in opened.plan.arguments]
        count = len(opened.specs)
        wanted += [f"out{i}" for i in range(count)] if count > 1 else ["out"]
        if given != len(wanted):
            raise Unloadable(
                f"run takes {given} parameters; this task has {len(wanted)}: {', '.join(wanted)}"
            )

    def run(self, order: list[int], scramble: int, repeat: int) -> None:
        if self._models is not None:
            if repeat:
                self._models.loop(order, repeat)
            else:
                self._models.call(order)
                self._models.deliver(order)
            self._synchronize()
            self._look_at_compiled()
            return
        run, sets = self._run, self._sets
        assert run is not None
        for number, i in enumerate(order):
            if scramble != 0 and self._scrambler is not None:
                self._scrambler.scramble((scramble + number) & 0xFFFFFFFF, local_bytes(self._loaded))
            if self._calls == _WATCHED_CALL and self._watches:
                no_torch.call(run, sets[i])
            else:
                run(*sets[i])
            self._calls += 1
        self._synchronize()
        self._look_at_compiled()

    def _look_at_compiled(self) -> None:
        """Checks what was compiled since the last check. After the first call nothing new is compiled, unless a call
        requests another variant."""
        for kernel in compiled(self._loaded):
            if id(kernel) in self._looked_at:
                continue
            self._looked_at.add(id(kernel))
            if wrong := complaint(kernel.asm):
                raise Refused(f"{kernel.name}: {wrong}")

    def idle(self, order: list[int]) -> None:
        if self._models is not None:
            self._models.let_go()
        for i in order:
            _ = self._sets[i]
        self._synchronize()

    def _deliver(self, order: list[int]) -> None:
        if self._models is not None:
            self._models.deliver(order)
            self._synchronize()


def complaint(asm: dict[str, Any]) -> str:
    """Returns what is wrong with a kernel's device code, or an empty string."""
    for name, look in (("ptx", ptx.complaint), ("amdgcn", amdgcn.complaint)):
        if text := asm.get(name):
            return look(text)
    return "its device code cannot be looked at: Triton keeps no assembly"


def compiled(module: Any) -> list[Any]:
    """Returns what Triton compiled from a module's kernels: all variants, including those that were never launched."""
    found: dict[int, Any] = {}
    for value in vars(module).values():
        while hasattr(value, "fn") and not hasattr(value, "device_caches"):  # autotune, heuristics
            value = value.fn
        several = [k for caches in getattr(value, "device_caches", {}).values() for k in caches[0].values()]
        for kernel in [value, *several]:
            if isinstance(getattr(kernel, "asm", None), dict):
                found[id(kernel)] = kernel
    return list(found.values())


def local_bytes(module: Any) -> int:
    """Returns the largest local memory per thread of its kernels, among those that were launched."""
    return max((_WORD * (getattr(k, "n_spills", None) or 0) for k in compiled(module)), default=0)


def load_text(text: str) -> Any:
    """Loads a registered module from memory, because the candidate's other processes could change a file. Triton reads
    the source of kernels through inspect, which uses linecache."""
    module = types.ModuleType("pragma_solution")
    module.__file__ = _PATH
    linecache.cache[_PATH] = (len(text), None, text.splitlines(keepends=True), _PATH)
    sys.modules[module.__name__] = module
    exec(compile(text, _PATH, "exec"), module.__dict__)
    return module


def _lend_scratch(device: str) -> None:
    """Gives Triton the memory for tensor descriptors that kernels make (tl.make_tensor_descriptor), at each launch."""
    import triton

    def scratch(size: int, _alignment: int, _stream: int | None) -> torch.Tensor:
        return torch.empty(size, dtype=torch.int8, device=device)

    if hasattr(triton, "set_allocator"):  # since Triton 3.3
        triton.set_allocator(scratch)


def _nothing() -> None:
    pass
