"""Agreement: whether the exported graph computes what forward computes, on several drawn sets.

torch.export may take another path than eager does (fast paths in eval mode, constants that it folds in). A kernel that
is written from such a graph would compute something else, and only its author would be blamed.
"""

from __future__ import annotations

import itertools
from time import perf_counter
from typing import Any

import torch

from pragma_torch.errors import one_line, out_of_memory
from pragma_torch.graph import output_values, placeholders
from pragma_torch.hidden import drawn_like_inputs
from pragma_torch.instance import Instance
from pragma_torch.observe import OTHER_SEED, Outputs, alike
from pragma_torch.plan import Plan, pairs_of
from pragma_torch.taskfile import SEED, TaskFile, seed_everything
from pragma_torch.tree import pick

_SEEDS = (SEED, OTHER_SEED, 7)
_ENOUGH_SECONDS = 2.0  # no further set is compared after this time


def disagreement(
    task: TaskFile, program: Any, plan: Plan, tensors: list[torch.Tensor], first: Outputs
) -> str:
    """Returns what differs, in one line, or "". `first` is what forward gave for `tensors`."""
    started = perf_counter()
    model: torch.nn.Module | None = None
    for number, seed in enumerate(_SEEDS):
        inputs = tensors if number == 0 else drawn_like_inputs(task, plan, tensors, seed)
        if inputs is None or (number > 1 and perf_counter() - started > _ENOUGH_SECONDS):
            return ""
        if number == 0:
            expected = [t for _, t in first]
        else:
            model = model or task.make_model()
            expected = _eager(model, plan, inputs)
        try:
            found = _run(program, plan, inputs, task.place)
        except Exception as error:
            if out_of_memory(error) is not None or isinstance(error, NotImplementedError):
                return ""  # says nothing about the graph
            return f"it fails on drawn set {number + 1}: {type(error).__name__}: {one_line(str(error), 160)}"
        said = _compared(plan, expected, found)
        if said:
            return f"{said} on drawn set {number + 1}"
    return ""


def _eager(model: torch.nn.Module, plan: Plan, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    instance = Instance(model, plan)
    instance.bind([t.clone() for t in tensors])
    seed_everything(OTHER_SEED)
    with torch.no_grad():
        found = pick(plan.tree, instance())
    return [pairs_of(found[i][1]) for i in range(len(found))] + instance.updated()


class _Elsewhere(torch.fx.Interpreter):
    """Runs a graph that was exported on the CPU on `place`."""

    def __init__(self, module: torch.nn.Module, place: str) -> None:
        super().__init__(module)
        self._place = place

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": self._place}
        return super().call_function(target, args, kwargs)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        held = super().get_attr(target, args, kwargs)
        return held.to(self._place) if isinstance(held, torch.Tensor) else held


def _run(program: Any, plan: Plan, tensors: list[torch.Tensor], place: str) -> list[Any]:
    """Returns the values of the graph's outputs, in the order of the task's."""
    meanings = placeholders(program, plan)
    numbers = {argument.name: number for number, argument in enumerate(plan.arguments)}
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        meaning = meanings.get(spec.arg.name)
        if isinstance(meaning, tuple):
            values.append(meaning[1])
        elif meaning is not None:
            values.append(tensors[numbers[meaning.name]].clone())
        else:
            values.append(pairs_of(program.constants[spec.target]).to(place))
    with torch.no_grad():
        results = _Elsewhere(program.graph_module, place).run(*values)
    wanted, _ = output_values(program, plan, list(itertools.chain(results)))
    return wanted


def _compared(plan: Plan, expected: list[torch.Tensor], found: list[Any]) -> str:
    if len(expected) != len(found):
        return f"it has {len(found)} results, forward {len(expected)}"
    returned = len(expected) - len(plan.updates)
    for number, (wanted, given) in enumerate(zip(expected, found, strict=True)):
        if isinstance(given, torch.Tensor) and alike(wanted, given):
            continue
        what = f"output {number}" if number < returned else plan.arguments[plan.updates[number - returned]].path
        return f"{what} differs{_size(wanted, given)}"
    return ""


def _size(wanted: torch.Tensor, given: Any) -> str:
    if not isinstance(given, torch.Tensor) or given.shape != wanted.shape or not wanted.numel():
        return " in its form"
    return f" by up to {float((wanted.double() - given.double()).abs().nan_to_num(0).max()):.2g}" if not wanted.is_complex() else ""
