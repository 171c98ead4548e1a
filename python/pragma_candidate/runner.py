"""Solution: a file that defines ModelNew, run on views of the ring.

It works like the reference in a timing child of pragma_torch, with two differences: the ring is mapped read-only, and
each result is copied into the set's own output area.

The copy is a part of the call, so that nothing can be finished later. Where calls are repeated as a user repeats them,
what the last one returned is copied by a later command.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from typing import Any

import torch

from pragma_candidate.binding import bound_plan, new_model
from pragma_candidate.outputs import complex_where, store
from pragma_candidate.ring import Layout, Memory
from pragma_candidate.service import INPUT_FD, OUTPUT_FD
from pragma_torch import control
from pragma_torch.instance import Instance
from pragma_torch.loop import Call, Pairs, last_of_loop, renew, renewing
from pragma_torch.plan import DTYPES, Plan


class _Call:
    """One set: its model and inputs, the private copies that forward may write, and its output areas."""

    def __init__(self, instance: Instance, plan: Plan, areas: list[torch.Tensor]) -> None:
        self.model = instance.takes(instance.model)
        self.inputs = instance.inputs
        self._instance = instance
        self._tree = plan.tree
        self._areas = areas
        self._updates = bool(plan.updates)
        self.refresh: Pairs = []

    def run(self) -> None:
        renew(self.refresh)
        self.store(self.model(*self.inputs))

    def store(self, returned: Any) -> None:
        """Copies what forward returned, then what it changed."""
        store(returned, self._areas, self._tree, self._instance.updated() if self._updates else ())

    def of_a_user(self) -> Call:
        """The call as a user makes it."""
        return renewing(self.model, self.refresh), self.inputs


class Solution:
    """The Work (service.py) of one ModelNew."""

    entry = "forward"

    def __init__(self, layout: Layout, plan_path: str, solution: str) -> None:
        with open(plan_path, encoding="utf-8") as stream:
            self._request = json.load(stream)
        self._plan = Plan.from_json(self._request["plan"])
        self._solution = solution
        self._layout = layout
        self._inputs = Memory(INPUT_FD, False, layout.input_guards)
        self._outputs = Memory(OUTPUT_FD, True, layout.output_guards)
        self._calls: list[_Call] = []
        self._results: list[Any] = []
        self.commands: dict[int, Callable[[list[int]], None]] = {control.DELIVER: self._deliver}

    def run(self, order: list[int], scramble: int, repeat: int) -> None:
        """Does not scramble, because memory that Python itself needs cannot be distinguished from other memory."""
        calls = self._calls
        if not repeat:
            for i in order:
                calls[i].run()
            return
        self._results.clear()
        self._results.append(last_of_loop(calls[order[0]].of_a_user(), repeat))

    def idle(self, order: list[int]) -> None:
        self._results.clear()
        for i in order:
            _ = self._calls[i]

    def _deliver(self, order: list[int]) -> None:
        """Copies what the last call returned to the outputs of its set, and lets go of it. Raises WrongForm."""
        results, self._results = self._results, []
        for i, result in zip(order, results, strict=True):
            self._calls[i].store(result)

    def wake(self) -> None:
        """This runner uses no device, so the method does nothing."""

    def load(self) -> None:
        model_class = load_module(self._solution, "ModelNew").ModelNew
        for arguments, outputs in zip(self._layout.arguments, self._layout.outputs, strict=True):
            model = new_model(model_class, self._request)
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
        call = _Call(instance, plan, complex_where(plan.tree, areas))
        call.refresh = refresh
        return call


def load_module(path: str, wanted: str) -> Any:
    """Loads the file as a registered module, because classes, inspect and Triton look it up by name."""
    spec = importlib.util.spec_from_file_location("pragma_solution", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, wanted):
        kind = "class" if wanted[0].isupper() else "function"
        raise AttributeError(f"the file defines no {kind} {wanted}")
    return module
