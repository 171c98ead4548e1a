"""Place: where the user's model is measured, which is the CPU or the first GPU."""

from __future__ import annotations

import copy
from time import perf_counter
from typing import Any

import torch
from torch.utils._pytree import tree_map

from pragma_model.choice import MOST_OPERATORS
from pragma_model.modelfile import Call
from pragma_model.values import mapped
from pragma_torch.device import CUDA, Device

# About two operators become one kernel in Triton, and each of these takes a second to compile.
_MOST_ON_GPU = 96


class Place:
    """A device, its clock and its memory."""

    def __init__(self, name: str) -> None:
        """Raises RuntimeError if the machine does not have the device."""
        self.device = Device(name)
        self._on_gpu = name == CUDA
        # Unmeasured calls before a sample: on a GPU, launches are captured when addresses come for the second time.
        self.warm_calls = 3 if self._on_gpu else 1
        self.most_operators = _MOST_ON_GPU if self._on_gpu else MOST_OPERATORS  # of a unit

    def model(self, model: torch.nn.Module) -> torch.nn.Module:
        """Moves the model here, and returns it."""
        return model.to(self.device.name)

    def call(self, call: Call) -> Call:
        """Returns a copy of the call whose tensors are here, also those in objects."""
        return moved(call, self.device.name)

    def model_copy(self, model: torch.nn.Module) -> torch.nn.Module:
        return self.model(copy.deepcopy(model)) if self._on_gpu else model

    def now(self) -> float:
        """Returns the time at which all that was asked of the device is done, in seconds."""
        self.device.synchronize()
        return perf_counter()

    def give_memory_back(self) -> None:
        self.device.give_memory_back()

    def free_bytes(self) -> int:
        if self._on_gpu:
            self.give_memory_back()
            return int(torch.cuda.mem_get_info()[0])
        with open("/proc/meminfo", encoding="ascii") as stream:
            return next(int(line.split()[1]) << 10 for line in stream if line.startswith("MemAvailable"))

    def forget_peak(self) -> None:
        if self._on_gpu:
            torch.cuda.reset_peak_memory_stats()
            return
        with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
            stream.write("5")

    def peak_bytes(self) -> int:
        """Returns the most memory that was in use since `forget_peak`: of tensors on a GPU, else of the process."""
        if self._on_gpu:
            return int(torch.cuda.max_memory_allocated())
        with open("/proc/self/status", encoding="ascii") as stream:
            return next(int(line.split()[1]) << 10 for line in stream if line.startswith("VmHWM"))

    def compile_modes(self) -> list[str]:
        """Returns the modes of torch.compile among which the fastest is the baseline. The second captures CUDA graphs."""
        return ["default", "reduce-overhead"] if self._on_gpu else ["default"]


def moved(call: Call, device: str) -> Call:
    """Returns a copy of the call with all tensors on the device."""

    def move(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(device)

    def leaf(value: Any) -> Any:
        return move(value) if isinstance(value, torch.Tensor) else mapped(value, move)

    call = copy.deepcopy(call)
    args, kwargs = tree_map(leaf, (call.args, call.kwargs))
    return Call(args, kwargs)
