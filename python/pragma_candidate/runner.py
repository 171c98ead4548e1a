"""Runner: loads one solution, and serves the control page of worker/protocol.h.

As a timing child of pragma_torch does for the reference, with two differences: the ring is mapped
read-only, and each result is copied into the set's own output area.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import sys
import traceback
from typing import Any

import torch

from pragma_candidate import keep
from pragma_candidate.binding import Unbound, bound_plan
from pragma_candidate.late_filter import LateFilter
from pragma_candidate.outputs import WrongForm, store
from pragma_candidate.ring import Layout, Memory
from pragma_torch import control
from pragma_torch.errors import said_by
from pragma_torch.instance import Instance
from pragma_torch.plan import DTYPES, Plan, fill

CONTROL_FD, INPUT_FD, OUTPUT_FD, SCRATCH_FD, KEEP_FD, LATE_FD = 3, 4, 5, 6, 7, 8
KEEP_FOLDER = "PRAGMA_KEEP"  # environment: what is compiled lies here
LOAD_FAILED = 1
WRONG_FORM = 4
SEED = 42  # KernelBench's, before each construction
_COLLECT_ABOVE = 20_000  # young objects that call for a garbage collection, after the answer


class _Call:
    """One set: its model and inputs, the private copies that forward may write, its output areas."""

    def __init__(self, model: Any, inputs: list[Any], areas: list[torch.Tensor]) -> None:
        self.model = model
        self.inputs = inputs
        self.areas = areas
        self.refresh: list[tuple[torch.Tensor, torch.Tensor]] = []

    def run(self) -> None:
        for own, ring in self.refresh:
            own.copy_(ring)
        store(self.model(*self.inputs), self.areas)


class Runner:
    """The life of one process. Descriptors are mapped and closed before candidate code runs."""

    def __init__(self, plan_path: str, solution: str, threads: int) -> None:
        with open(plan_path, encoding="utf-8") as stream:
            self._request = json.load(stream)
        self._plan = Plan.from_json(self._request["plan"])
        self._solution = solution
        self._layout = Layout(CONTROL_FD)
        self._page = control.ControlPage(CONTROL_FD)
        self._inputs = Memory(INPUT_FD, False, self._layout.input_guards)
        self._outputs = Memory(OUTPUT_FD, True, self._layout.output_guards)
        self._late_filter: LateFilter | None = LateFilter(LATE_FD)
        self._kept = False
        self._calls: list[_Call] = []
        for fd in (CONTROL_FD, INPUT_FD, OUTPUT_FD, SCRATCH_FD):
            os.close(fd)
        torch.set_num_threads(threads)

    def serve(self) -> None:
        """Until told to exit. Under no_grad, as KernelBench runs solutions; no collection in a burst."""
        page = self._page
        with torch.no_grad():
            while True:
                command, order = page.wait()
                if command == control.RUN:
                    page.answer(self._run(order))
                elif command == control.EMPTY:
                    for i in order:
                        _ = self._calls[i]
                    page.answer(control.OK)
                elif command == control.LOAD:
                    page.answer(self._load())
                elif command == control.EXIT:
                    os._exit(0)
                else:
                    page.answer(control.BAD_COMMAND)
                if gc.get_count()[0] > _COLLECT_ABOVE:
                    gc.collect()

    def _run(self, order: list[int]) -> int:
        calls = self._calls
        try:
            for i in order:
                calls[i].run()
            if self._late_filter is not None:
                self._first_run_done()
        except WrongForm as error:
            self._page.say(str(error))
            return WRONG_FORM
        except BaseException as error:
            return self._failed("forward", error, control.RAISED)
        return control.OK

    def _first_run_done(self) -> None:
        """Whatever is compiled is compiled by now, also what forward does on its first call."""
        if not self._kept:
            keep.save(KEEP_FD, os.environ[KEEP_FOLDER])
        os.close(KEEP_FD)
        assert self._late_filter is not None
        self._late_filter.install()
        self._late_filter = None

    def _load(self) -> int:
        try:
            self._kept = keep.restore(KEEP_FD, os.environ[KEEP_FOLDER])
            self._build()
        except Unbound as error:
            self._page.say(str(error))
            return LOAD_FAILED
        except BaseException as error:
            return self._failed("loading it", error, LOAD_FAILED)
        gc.collect()
        gc.freeze()
        gc.disable()
        return control.OK

    def _build(self) -> None:
        model_class = _load_solution(self._solution).ModelNew
        init = [fill(template, []) for template in self._request["init"]]
        for arguments, outputs in zip(self._layout.arguments, self._layout.outputs, strict=True):
            torch.manual_seed(SEED)
            model = model_class(*init)
            self._calls.append(self._bind(model, arguments, outputs))

    def _bind(self, model: torch.nn.Module, arguments: list[int], outputs: list[int]) -> _Call:
        plan = bound_plan(model, self._plan)
        refresh = []
        tensors = []
        for argument, offset in zip(plan.arguments, arguments, strict=True):
            ring = self._inputs.tensor(offset, argument.torch_dtype, argument.shape)
            tensors.append(ring.clone() if argument.mutated else ring)
            if argument.mutated:
                refresh.append((tensors[-1], ring))
        instance = Instance(model, plan)
        instance.bind(tensors)
        areas = [
            self._outputs.tensor(offset, DTYPES[spec["dtype"]], spec["shape"])
            for spec, offset in zip(self._request["outputs"], outputs, strict=True)
        ]
        call = _Call(instance.model, instance.inputs, areas)
        call.refresh = refresh
        return call

    def _failed(self, what: str, error: BaseException, code: int) -> int:
        traceback.print_exc()
        if isinstance(error, SystemExit):
            self._page.say(f"{what} ends the program (exit code {error.code})")
        else:
            self._page.say(f"{what} raises {type(error).__name__}: {said_by(error, 300)}")
        return code


def _load_solution(path: str) -> Any:
    """As a module of its own: classes and inspect look it up by name."""
    spec = importlib.util.spec_from_file_location("pragma_solution", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, "ModelNew"):
        raise AttributeError("the file defines no class ModelNew")
    return module
