"""A timing child: eager or torch.compile on the ring's input sets, driven by a control page.

On the CPU the sets' tensors lie in the ring itself (mapped privately): no copies, and pages the child
never writes show every refill. Arguments that forward writes (running statistics, in-place inputs) are
the exception: they are copied once when the modules are built and are not refreshed afterwards, so
that the child's writes cannot cut the rest of their pages off from refills.

On a GPU every tensor is a copy in device memory, which UPLOAD refreshes; RUN ends when the whole device
is idle, as a candidate's does (pragma_triton/kernels.py).
"""

from __future__ import annotations

import gc
import os
import socket
import traceback
from typing import Any

import torch

from pragma_torch import control
from pragma_torch.areas import Area
from pragma_torch.device import CPU, Device
from pragma_torch.errors import said_by
from pragma_torch.instance import Instance
from pragma_torch.plan import Plan
from pragma_torch.process import keep_freed_memory, limit_files
from pragma_torch.taskfile import TaskFile

_COLLECT_ABOVE = 20_000  # young objects that call for a garbage collection, after the answer


class Timer:
    """The state of one timing child. `calls` has (model, inputs) of each set once loaded."""

    def __init__(self, request: dict[str, Any], inputs_fd: int, page: control.ControlPage) -> None:
        self._request = request
        self._page = page
        self._area = Area(inputs_fd, private=True)
        self._device = Device(CPU)
        self._copies: list[list[tuple[torch.Tensor, torch.Tensor]]] = []  # (on the device, in the ring)
        self._calls: list[tuple[Any, list[Any]]] = []
        self._graphs = 0

    def prepare(self) -> None:
        """What takes long and is no part of loading; on the CPU the zygote has done it."""
        self._device = Device(self._request.get("device", CPU))
        if self._request["mode"] == "compile":
            import torch._dynamo
            import torch._inductor.compile_fx  # noqa: F401

    def serve(self) -> None:
        """Until told to exit. Runs under no_grad, as KernelBench does; no collection inside bursts."""
        page = self._page
        nothing: tuple[Any, list[Any]] = (None, [])
        synchronize = self._device.synchronize
        with torch.no_grad():
            while True:
                command, order = page.wait()
                if command == control.RUN:
                    calls = self._calls
                    try:
                        for i in order:
                            model, inputs = calls[i]
                            model(*inputs)
                        synchronize()
                        page.answer(control.OK)
                    except BaseException as error:
                        self._failed("forward", error)
                elif command == control.EMPTY:
                    calls = self._calls
                    for i in order:
                        model, inputs = calls[i] if i < len(calls) else nothing
                    synchronize()
                    page.answer(control.OK)
                elif command == control.UPLOAD:
                    self._upload(order)
                    page.answer(control.OK)
                elif command == control.LOAD:
                    self._load()
                elif command == control.EXIT:
                    page.answer(control.OK)
                    return
                else:
                    page.answer(control.BAD_COMMAND)
                if gc.get_count()[0] > _COLLECT_ABOVE:
                    gc.collect()

    def _upload(self, order: list[int]) -> None:
        for i in order:
            for own, ring in self._copies[i]:
                own.copy_(ring)
        self._device.synchronize()

    def _load(self) -> None:
        try:
            self._build()
        except BaseException as error:
            self._failed("loading the task", error)
            return
        gc.collect()
        gc.freeze()
        gc.disable()
        if self._request["mode"] == "compile":
            self._page.say(f"torch.compile: {self._graphs} graph(s)")
        self._page.answer(control.OK)

    def _build(self) -> None:
        task = TaskFile(self._request["task"])
        plan = Plan.from_json(self._request["plan"])
        calls = []
        for offsets in self._request["offsets"]:
            # What the model holds besides the arguments (constants of its own) goes along.
            instance = Instance(task.make_model().to(self._device.name), plan)
            instance.bind(self._tensors(plan, offsets))
            calls.append((instance.model, instance.inputs))
        self._calls = self._compiled(calls) if self._request["mode"] == "compile" else calls

    def _tensors(self, plan: Plan, offsets: list[int]) -> list[torch.Tensor]:
        """One set's, in the plan's order."""
        ring = [
            self._area.tensor(offset, argument.torch_dtype, argument.shape)
            for argument, offset in zip(plan.arguments, offsets, strict=True)
        ]
        if self._device.name == CPU:
            return [
                tensor.clone() if argument.mutated else tensor
                for argument, tensor in zip(plan.arguments, ring, strict=True)
            ]
        own = [tensor.to(self._device.name) for tensor in ring]
        self._copies.append(list(zip(own, ring, strict=True)))
        return own

    def _compiled(self, calls: list[tuple[Any, list[Any]]]) -> list[tuple[Any, list[Any]]]:
        """torch.compile of each set's model. Its code cache hangs on forward, not on the instance: the
        first call compiles, the others reuse it (counted, and said in the page's message)."""
        from torch._dynamo.utils import counters

        compiled = [(torch.compile(model), inputs) for model, inputs in calls]
        for model, inputs in compiled:
            model(*inputs)
        self._graphs = counters["stats"].get("unique_graphs", 0)
        return compiled

    def _failed(self, what: str, error: BaseException) -> None:
        traceback.print_exc()
        self._page.say(f"{what} raises {type(error).__name__}: {said_by(error, 200)}")
        self._page.answer(control.RAISED)


def run_child(request: dict[str, Any], inputs_fd: int, control_fd: int, hello_fd: int) -> None:
    """The whole life of a timing child, right after the fork. Never returns."""
    torch.set_num_threads(request["threads"])
    limit_files(compiling=request["mode"] == "compile")
    if request["allocator"] == "keep":
        keep_freed_memory()
    timer = Timer(request, inputs_fd, control.ControlPage(control_fd))
    # One byte, sent by this process itself: the kernel adds our process id as pragma sees it.
    with socket.socket(fileno=hello_fd) as hello:
        hello.sendall(b"T")
    timer.prepare()
    timer.serve()
    os._exit(0)
