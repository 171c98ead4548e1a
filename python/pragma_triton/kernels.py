"""Kernels: the Work (pragma_candidate/service.py) of one Triton module.

Its tensors are copies of the ring's sets on the device. RUN launches `run` for each set in the order
given and waits until the whole device is idle; only that is timed. Without a GPU the same goes
through Triton's interpreter on copies in host memory: checks, no times.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from typing import Any

import torch

from pragma_candidate.ring import Layout, Memory
from pragma_candidate.runner import load_module
from pragma_candidate.service import INPUT_FD, OUTPUT_FD, Unloadable
from pragma_torch.device import CPU, CUDA, Device
from pragma_torch.plan import DTYPES, Plan
from pragma_triton import no_torch
from pragma_triton.region import Region

INTERPRET = "TRITON_INTERPRET"  # environment: "1" where there is no GPU

# The second: the first one compiles and tunes, for which Triton itself computes with torch (so does its
# interpreter in every call).
_WATCHED_CALL = 1


class WroteInput(Exception):
    """run changed a tensor that it may only read."""


class _Set:
    """One set on the device; `host` are views of pragma's memory."""

    def __init__(self, device: Device, host: list[torch.Tensor], outputs: list[Region]) -> None:
        self.host = host
        self.inputs = [device.empty_like(tensor) for tensor in host]
        self.outputs = outputs
        self.tensors = [*self.inputs, *(region.tensor for region in outputs)]

    def upload(self) -> None:
        for own, host in zip(self.inputs, self.host, strict=True):
            own.copy_(host)
        for region in self.outputs:
            region.upload()

    def changed_input(self) -> int | None:
        """Its number. Compared by bytes: NaN is not equal to itself."""
        for i, (own, host) in enumerate(zip(self.inputs, self.host, strict=True)):
            if not torch.equal(_bytes(own), _bytes(host).to(own.device)):
                return i
        return None


class Kernels:
    entry = "run"

    def __init__(self, layout: Layout, plan_path: str, solution: str) -> None:
        with open(plan_path, encoding="utf-8") as stream:
            request = json.load(stream)
        self._plan = Plan.from_json(request["plan"])
        self._outputs = request["outputs"]
        self._solution = solution
        self._layout = layout
        # The input memory's guards stay: nobody reads beyond a tensor here.
        self._input_memory = Memory(INPUT_FD, False, layout.input_guards)
        self._output_memory = Memory(OUTPUT_FD, True, [])
        self._sets: list[_Set] = []
        self._run: Callable[..., Any] | None = None
        self._calls = 0
        self._synchronize = _nothing_to_wait_for
        self._watches = False

    def _make_sets(self, device: Device) -> list[_Set]:
        return [
            _Set(
                device,
                [
                    self._input_memory.tensor(at, argument.torch_dtype, argument.shape)
                    for argument, at in zip(self._plan.arguments, arguments, strict=True)
                ],
                [
                    Region(device, self._output_memory, at, DTYPES[spec["dtype"]], spec["shape"])
                    for spec, at in zip(self._outputs, places, strict=True)
                ],
            )
            for arguments, places in zip(
                self._layout.arguments, self._layout.outputs, strict=True
            )
        ]

    def load(self) -> None:
        """The device first: what it is asked with must be there before candidate code is."""
        device = Device(CPU if os.environ.get(INTERPRET) == "1" else CUDA)
        self._synchronize = device.synchronize
        self._watches = device.name == CUDA
        self._sets = self._make_sets(device)
        if device.name == CPU:
            _tune_nothing()
        run = load_module(self._solution, "run").run
        self._check_parameters(run)
        self._run = run

    def _check_parameters(self, run: Callable[..., Any]) -> None:
        given = len(inspect.signature(run).parameters)
        wanted = [argument.name for argument in self._plan.arguments]
        wanted += [f"out{i}" for i in range(len(self._outputs))] if len(self._outputs) > 1 else ["out"]
        if given != len(wanted):
            raise Unloadable(
                f"run takes {given} parameters; this task has {len(wanted)}: {', '.join(wanted)}"
            )

    def run(self, order: list[int]) -> None:
        run, sets = self._run, self._sets
        assert run is not None
        for i in order:
            if self._calls == _WATCHED_CALL and self._watches:
                no_torch.call(run, sets[i].tensors)
            else:
                run(*sets[i].tensors)
            self._calls += 1
        self._synchronize()

    def idle(self, order: list[int]) -> None:
        for i in order:
            _ = self._sets[i].tensors
        self._synchronize()

    def upload(self, order: list[int]) -> None:
        for i in order:
            self._sets[i].upload()
        self._synchronize()

    def download(self, order: list[int]) -> None:
        for i in order:
            for region in self._sets[i].outputs:
                region.download()
        for i in order:
            changed = self._sets[i].changed_input()
            if changed is not None:
                name = self._plan.arguments[changed].name
                raise WroteInput(f"it wrote {name}; inputs and parameters can only be read")


def _tune_nothing() -> None:
    """The interpreter takes the first configuration: its times would choose nothing sensible."""
    import triton

    autotune = triton.autotune
    triton.autotune = lambda configs, *rest, **more: autotune(configs[:1], *rest, **more)


def _nothing_to_wait_for() -> None:
    pass


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.reshape(-1).view(torch.uint8)
