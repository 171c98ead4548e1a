#!/usr/bin/env python3
"""Times each launch of an expert's Triton module on a GPU, beside what Torch launches for the same task.

  launch_times.py TASK.py MODULE.py ...

MODULE is what `pragma-expert-source PYTHON FOLDER --triton TASK.py` wrote, FOLDER/TASK/solution.py. Each launch is repeated
in a CUDA graph, so the host's time does not count. What a kernel reads is in the L2 cache where it fits there. Kernels that
Triton's tuner launches are timed only as a part of the whole.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

_REPEATS = 20  # of a launch in one graph
_ROUNDS = 7  # of a graph, of which the median counts
_CALLS = 5  # of Torch under its profiler


def microseconds(call: Callable[[], Any], repeats: int = _REPEATS) -> float:
    """Returns how long the launches of one call take."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            call()
    times = []
    for _ in range(_ROUNDS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / repeats)
    return statistics.median(times)


@dataclasses.dataclass(frozen=True)
class Launch:
    """One launch of a compiled kernel."""

    name: str
    kernel: Any
    grid: Any
    arguments: tuple[Any, ...]

    def __call__(self) -> None:
        self.kernel[self.grid](*self.arguments)


class _Noted:
    """A compiled kernel that notes its launches."""

    def __init__(self, name: str, kernel: Any, launches: list[Launch]) -> None:
        self._name, self._kernel, self._launches = name, kernel, launches

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def call(*arguments: Any) -> None:
            self._launches.append(Launch(self._name, self._kernel, grid, arguments))
            self._launches[-1]()

        return call


def launches_of(module: ModuleType, arguments: list[Any]) -> list[Launch]:
    """Returns each launch of one call of the module."""
    launches: list[Launch] = []
    kernels = {name: kernel for name, kernel in vars(module).items() if name.endswith("_built")}
    for name, kernel in kernels.items():
        setattr(module, name, _Noted(name.removesuffix("_built"), kernel, launches))
    module.run(*arguments)
    for name, kernel in kernels.items():
        setattr(module, name, kernel)
    return launches


def loaded(path: Path) -> ModuleType:
    """Imports a file. Triton looks its functions up by their module's name."""
    name = f"{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def show_torchs(title: str, call: Callable[[], Any], most: int | None = None) -> None:
    """Prints how long the GPU is busy in a call, and with which kernels."""
    call()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for _ in range(_CALLS):
            call()
        torch.cuda.synchronize()
    kernels = [event for event in seen.key_averages() if event.self_device_time_total > 0]
    print(f"{sum(e.self_device_time_total for e in kernels) / _CALLS:9.1f} us  {title}")
    for event in sorted(kernels, key=lambda e: -e.self_device_time_total)[:most]:
        print(f"{event.self_device_time_total / _CALLS:9.1f} us    {event.key[:90]}")


@torch.no_grad()
def arguments_of(task: Path, module: ModuleType) -> tuple[list[Any], list[torch.Tensor], Callable[[], Any]]:
    """Returns the arguments of the module's `run`, its outputs among them (filled by a call), Torch's results, and Torch's
    call itself."""
    torch.manual_seed(0)
    given = loaded(task)
    model = given.Model(*given.get_init_inputs()).cuda().eval()
    inputs = [value.cuda() if isinstance(value, torch.Tensor) else value for value in given.get_inputs()]
    returned = model(*inputs)
    truths = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    known = dict(zip(inspect.signature(model.forward).parameters, inputs, strict=False))
    state = dict(model.named_parameters()) | dict(model.named_buffers())
    known |= {name.replace(".", "_"): value for name, value in state.items()}
    outputs = iter([torch.empty_like(truth) for truth in truths])
    arguments = [known[name] if name in known else next(outputs) for name in inspect.signature(module.run).parameters]
    return arguments, truths, lambda: model(*inputs)


@torch.no_grad()
def show(task: Path, solution: Path) -> None:
    module = loaded(solution)
    arguments, truths, torchs = arguments_of(task, module)
    print(f"{task.stem}, {torch.cuda.get_device_name()}")
    launches = launches_of(module, arguments)
    for got, truth in zip(arguments[-len(truths) :], truths, strict=True):
        error = (got.double() - truth.double()).norm() / truth.double().norm()
        print(f"  relative L2 difference from Torch: {float(error):.2g}")
    print(f"{microseconds(lambda: module.run(*arguments), 4):9.1f} us  the module's launches, one after the other")
    for launch in launches:
        print(f"{microseconds(launch):9.1f} us    {launch.name}")
    show_torchs("Torch's kernels, eager", torchs)
    compiled = torch.compile(torchs)
    compiled()
    show_torchs("Torch's kernels, torch.compile", compiled)


def lend_scratch() -> None:
    """A tensor descriptor that a kernel makes lies in memory that Triton asks for."""
    from triton import set_allocator

    set_allocator(lambda size, _alignment, _stream: torch.empty(size, dtype=torch.int8, device="cuda"))


def main() -> None:
    paths = [Path(path) for path in sys.argv[1:]]
    if not paths or len(paths) % 2 != 0:
        sys.exit(__doc__)
    lend_scratch()
    for task, solution in zip(paths[::2], paths[1::2], strict=True):
        show(task, solution)


if __name__ == "__main__":
    main()
