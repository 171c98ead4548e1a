"""KernelBench's own rule: does a solution's `ModelNew` agree with the task's `Model`?

Five trials with seeds drawn from a generator seeded with 42; both models are built under seed 42;
each trial seeds, calls get_inputs, runs Model, then ModelNew on the same input objects, in train
mode, without resetting the seed in between; shapes must be equal and values close with
atol = rtol = 1e-4 (1e-2 for half precision). Unlike KernelBench, integer inputs keep their type
(cast to float, embeddings and class indices would fail), and tuples of outputs are compared one by one.
"""

from __future__ import annotations

import os
from typing import Any

import torch

from pragma_torch.errors import TaskError, one_line, task_error
from pragma_torch.instance import OutputError, flatten_outputs
from pragma_torch.taskfile import SEED, TaskFile, seed_everything

TRIALS = 5
_TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 1e-2}


def check_solution(task_path: str, solution_path: str) -> str:
    """Empty when the solution agrees, else one line why not. Raises TaskError for a bad task."""
    task = TaskFile(task_path)
    model = task.make_model()
    try:
        solution = _make_solution(task, solution_path)
    except TaskError as error:
        return error.message
    torch.manual_seed(SEED)
    seeds = [int(torch.randint(0, 2**32 - 1, (1,)).item()) for _ in range(TRIALS)]
    with torch.no_grad():
        for number, seed in enumerate(seeds, 1):
            why = _trial(task, model, solution, seed)
            if why:
                return f"trial {number} of {TRIALS}: {why}"
    return ""


def _make_solution(task: TaskFile, path: str) -> torch.nn.Module:
    """Builds ModelNew; any failure becomes a TaskError that names the solution's file."""
    file = os.path.basename(path)
    namespace: dict[str, Any] = {"__name__": "pragma_solution", "__file__": path}
    try:
        with open(path, encoding="utf-8") as stream:
            exec(compile(stream.read(), path, "exec"), namespace)
        if "ModelNew" not in namespace:
            raise TaskError(f"{file}: no class `ModelNew`")
        arguments = task.init_inputs()
        seed_everything(SEED)
        return namespace["ModelNew"](*arguments)
    except BaseException as error:
        raise task_error(file, "ModelNew", error, path) from error


def _trial(task: TaskFile, model: torch.nn.Module, solution: torch.nn.Module, seed: int) -> str:
    inputs = task.make_inputs(seed)
    try:
        _, expected = flatten_outputs(model(*inputs))
    except BaseException as error:
        raise task_error(task.file, "forward", error, task.path) from error
    # In-place solutions may write what they return; Model's results must not change with it.
    expected = [(path, tensor.clone()) for path, tensor in expected]
    try:
        _, given = flatten_outputs(solution(*inputs))
    except OutputError as error:
        return f"ModelNew: {error}"
    except BaseException as error:
        return f"ModelNew.forward raises {type(error).__name__}: {one_line(str(error))}"
    if len(given) != len(expected):
        return f"ModelNew returns {len(given)} outputs, Model {len(expected)}"
    for (path, want), (_, got) in zip(expected, given, strict=True):
        why = _difference(path, want, got)
        if why:
            return why
    return ""


def _difference(path: str, want: torch.Tensor, got: torch.Tensor) -> str:
    if want.shape != got.shape:
        return f"{path} has shape {list(got.shape)}, expected {list(want.shape)}"
    if want.dtype != got.dtype:
        return f"{path} is {got.dtype}, expected {want.dtype}"
    tolerance = _TOLERANCE.get(want.dtype, 1e-4)
    if torch.allclose(got, want, atol=tolerance, rtol=tolerance):
        return ""
    worst = float((got.double() - want.double()).abs().max())
    return f"{path} differs: largest difference {worst:.4g}, allowed {tolerance:g} (absolute and relative)"
