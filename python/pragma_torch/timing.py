"""A timing child: runs eager or torch.compile on the ring's input sets, driven by a control page.

On the CPU the tensors of the sets are in the ring itself, which is mapped privately. So there are no copies, and pages
that the child never writes show every refill. Arguments that forward writes (running statistics, in-place inputs) are
the exception. They are copied once when the modules are built and are not refreshed afterwards, so that the child's
writes cannot detach the rest of their pages from refills.

For a candidate on a GPU the tensors are in an exchange of the referee (exchange.py). RUN ends when the whole device is
idle, as for a candidate (pragma_triton/kernels.py).
"""

from __future__ import annotations

import gc
import os
import traceback
from typing import Any

import torch

from pragma_torch import control
from pragma_torch.areas import Area
from pragma_torch.compiling import KernelHeaders
from pragma_torch.device import CPU, Device
from pragma_torch.errors import said_by
from pragma_torch.exchange import Opened
from pragma_torch.instance import Instance, flatten_outputs
from pragma_torch.loop import Pairs, last_of_loop, renew, renewing
from pragma_torch.plan import Plan
from pragma_torch.process import (
    free_a_large_block,
    keep_freed_memory,
    limit_files,
    offer_memory_first,
    say_hello,
)
from pragma_torch.taskfile import TaskFile

# A run without the time of torch.compile is better than no run.
_COMPILE_OOM_SCORE = 800
_COLLECT_ABOVE = 20_000  # young objects that trigger a garbage collection, after the answer
_BEYOND_CACHES = 256 << 20  # bytes of a call's results that exceed every cache of a device


class Timer:
    """The state of one timing child. `calls` has (model, inputs) of each set once they are loaded."""

    def __init__(self, request: dict[str, Any], inputs_fd: int, page: control.ControlPage) -> None:
        """`inputs_fd` is the ring's inputs or, without offsets, a socket with an exchange."""
        self._request = request
        self._exchanges = not request["offsets"]
        self._page = page
        self._inputs_fd = inputs_fd
        self._area: Area | None = None
        self._opened: Opened | None = None
        self._device = Device(CPU)
        self._calls: list[tuple[Any, list[Any]]] = []
        self._run = self._burst_on_device if self._exchanges else self._burst
        self._results: list[Any] = []
        self._graphs = 0
        # By set: what forward changes and a caller can see, and the ring's contents of it.
        self._changed: list[Pairs] = []

    def serve(self) -> None:
        """Serves until it is told to exit. Runs under no_grad, as KernelBench does, without garbage collection inside
        bursts."""
        page = self._page
        nothing: tuple[Any, list[Any]] = (None, [])
        with torch.no_grad():
            while True:
                command, order = page.wait()
                if command == control.RUN:
                    try:
                        if page.repeat > 0:
                            self._loop(order)
                            page.answer(control.OK)
                        else:
                            results = self._run(order)
                            page.answer(control.OK)
                            del results
                        self._renew(order)
                    except BaseException as error:
                        self._failed("forward", error)
                elif command == control.EMPTY:
                    self._results.clear()
                    calls = self._calls
                    for i in order:
                        model, inputs = calls[i] if i < len(calls) else nothing
                    self._device.synchronize()
                    page.answer(control.OK)
                elif command == control.WAKE:
                    self._device.wake()
                    page.answer(control.OK)
                elif command == control.DELIVER:
                    self._results.clear()
                    page.answer(control.OK)
                elif command == control.RELEASE:
                    self._device.give_memory_back()
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

    def _renew(self, order: list[int]) -> None:
        """Gives back to these sets what forward has changed, after the clock has stopped. Values that each call halves
        would otherwise end as denormals, which are slow."""
        if self._changed:
            for i in order:
                renew(self._changed[i])

    def _burst(self, order: list[int]) -> None:
        """Drops each result at once. The loop contains nothing else, because it is what is timed."""
        calls = self._calls
        for i in order:
            model, inputs = calls[i]
            model(*inputs)

    def _loop(self, order: list[int]) -> None:
        """Makes calls as a user makes them, and keeps what the last one returned until the clock has stopped, as the
        candidate's process does (pragma_candidate/runner.py)."""
        self._results.clear()
        model, inputs = self._calls[order[0]]
        changed = self._changed[order[0]] if self._changed else []
        self._results.append(last_of_loop((renewing(model, changed), inputs), self._page.repeat))
        self._device.synchronize()

    def _burst_on_device(self, order: list[int]) -> list[Any]:
        """Keeps the results until the burst is over. If one block were reused in every call, it would stay in the
        device's cache, which a candidate's outputs cannot."""
        calls = self._calls
        results = []
        for i in order:
            model, inputs = calls[i]
            results.append(model(*inputs))
        self._device.synchronize()
        return results

    def _burst_of_large_results(self, order: list[int]) -> None:
        """Does not keep results, because none of a large result stays in a cache. Kept results would only fill the
        device's memory."""
        self._burst(order)
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
        task = TaskFile(self._request["task"], self._request.get("eval", False))
        plan = Plan.from_json(self._request["plan"])
        instances = []
        for tensors in self._sets(plan):
            # Moves what the model holds besides the arguments (its own constants) to the device.
            instance = Instance(task.make_model().to(self._device.name), plan)
            instance.bind(tensors)
            instances.append(instance)
        compiling = self._request["mode"] == "compile"
        models = self._compiled(instances, task.source) if compiling else [i.model for i in instances]
        self._calls = [(i.takes(model), i.inputs) for i, model in zip(instances, models, strict=True)]
        if self._exchanges:
            self._first_call_on_device()

    def _first_call_on_device(self) -> None:
        """Loads what Torch loads on first use. The memory is freed afterwards, because many such processes wait while
        stopped."""
        model, inputs = self._calls[0]
        _, results = flatten_outputs(model(*inputs))
        if sum(tensor.nbytes for _, tensor in results) > _BEYOND_CACHES:
            self._run = self._burst_of_large_results
        self._device.synchronize()
        del results
        self._device.give_memory_back()

    def _sets(self, plan: Plan) -> list[list[torch.Tensor]]:
        """Returns the tensors of each set, in the order of the plan."""
        if self._exchanges:
            self._device = Device(self._request["device"])
            self._opened = Opened(self._inputs_fd, arguments_writable=True)
            return self._opened.arguments
        area = self._area = Area(self._inputs_fd, private=True)
        os.close(self._inputs_fd)
        sets = []
        for offsets in self._request["offsets"]:
            ring = [
                area.tensor(offset, argument.torch_dtype, argument.shape)
                for argument, offset in zip(plan.arguments, offsets, strict=True)
            ]
            own = [t.clone() if a.mutated else t for a, t in zip(plan.arguments, ring, strict=True)]
            sets.append(own)
            if plan.updates:
                self._changed.append([(own[i], ring[i]) for i in plan.updates])
        return sets

    def _compiled(self, instances: list[Instance], source: str) -> list[Any]:
        """Returns torch.compile of each set's model. Its code cache belongs to forward and not to the instance. So the
        first call compiles and the others reuse the result, which is counted and reported in the page's message."""
        from torch._dynamo.utils import counters

        headers = KernelHeaders([source, self._request["plan"], self._request["threads"]])
        headers.choose(instances[0].model)
        mode = self._request["compile_mode"]
        compiled = [torch.compile(instance.model, mode=mode) for instance in instances]
        for model, instance in zip(compiled, instances, strict=True):
            model(*instance.inputs, **instance.keywords)
        headers.compiled()
        self._graphs = counters["stats"].get("unique_graphs", 0)
        return compiled

    def _failed(self, what: str, error: BaseException) -> None:
        traceback.print_exc()
        self._page.say(f"{what} raises {type(error).__name__}: {said_by(error, 200)}")
        self._page.answer(control.RAISED)


def run_child(request: dict[str, Any], inputs_fd: int, control_fd: int, hello_fd: int) -> None:
    """Runs the whole life of a timing child, right after the fork. Never returns."""
    torch.set_num_threads(request["threads"])
    limit_files(compiling=request["mode"] == "compile")
    if request["mode"] == "compile":
        offer_memory_first(_COMPILE_OOM_SCORE)
    if request["allocator"] == "keep":
        keep_freed_memory()
    elif request.get("as_call"):
        free_a_large_block()
    timer = Timer(request, inputs_fd, control.ControlPage(control_fd))
    say_hello(hello_fd, b"T")
    timer.serve()
    os._exit(0)
