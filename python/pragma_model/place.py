"""Place: where the user's model is measured, which is the CPU or the first GPU."""

from __future__ import annotations

import copy
from time import perf_counter

import torch

from pragma_model.modelfile import Call
from pragma_model.objects import twin_arguments
from pragma_torch.device import CUDA, Device


class Place:
    """A device, its clock and its memory."""

    def __init__(self, name: str) -> None:
        """Raises RuntimeError if the machine does not have the device."""
        self.device = Device(name)
        self.on_gpu = name == CUDA
        # Unmeasured calls before a sample: on a GPU, launches are captured when addresses come for the second time.
        self.warm_calls = 3 if self.on_gpu else 1

    def model(self, model: torch.nn.Module) -> torch.nn.Module:
        """Moves the model here, and returns it."""
        return model.to(self.device.name)

    def call(self, call: Call) -> Call:
        """Returns the call with its tensors here, also those in objects."""
        return moved(call, self.device.name)

    def model_copy(self, model: torch.nn.Module) -> torch.nn.Module:
        return self.model(copy.deepcopy(model)) if self.on_gpu else model

    def now(self) -> float:
        """Returns the time at which all that was asked of the device is done, in seconds."""
        self.device.synchronize()
        return perf_counter()

    def give_memory_back(self) -> None:
        self.device.give_memory_back()

    def free_bytes(self) -> int:
        if self.on_gpu:
            self.give_memory_back()
            return int(torch.cuda.mem_get_info()[0])
        with open("/proc/meminfo", encoding="ascii") as stream:
            return next(int(line.split()[1]) << 10 for line in stream if line.startswith("MemAvailable"))

    def forget_peak(self) -> None:
        if self.on_gpu:
            torch.cuda.reset_peak_memory_stats()
            return
        with open("/proc/self/clear_refs", "w", encoding="ascii") as stream:
            stream.write("5")

    def peak_bytes(self) -> int:
        """Returns the most memory that was in use since `forget_peak`: of tensors on a GPU, else of the process."""
        if self.on_gpu:
            return int(torch.cuda.max_memory_allocated())
        with open("/proc/self/status", encoding="ascii") as stream:
            return next(int(line.split()[1]) << 10 for line in stream if line.startswith("VmHWM"))

    def compile_modes(self) -> list[str]:
        """Returns the modes of torch.compile among which the fastest is the baseline. The second captures CUDA graphs."""
        return ["default", "reduce-overhead"] if self.on_gpu else ["default"]


def moved(call: Call, device: str) -> Call:
    """Returns the call with all tensors on the device, and with copies of the objects among its arguments."""
    return Call(*twin_arguments(call.args, call.kwargs, lambda tensor: tensor.to(device)))
