"""Hidden state: what forward keeps outside its arguments, and whether later results depend on it.

A kernel is a function of its arguments. State in a name of the file, in a class or in an attribute that is no tensor of
the constructor's making is not among them. It is harmless where results do not depend on it (a cached mask, a counter).
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch

from pragma_torch.errors import TaskError
from pragma_torch.instance import Instance
from pragma_torch.observe import OTHER_SEED, guarded, same
from pragma_torch.plan import Leaf, Plan, flatten
from pragma_torch.taskfile import TaskFile, seed_everything

# A few numbers, or one in two that is zero, may hide on one set what forward keeps.
_SEEDS = (OTHER_SEED, 7, 21, 33, 43, 57, 71, 83)
_ENOUGH_SECONDS = 0.5  # no further set is tried after this time
_PRIVATE = frozenset(("_parameters", "_buffers", "_modules"))  # what a plan binds, and modules themselves


class Snapshot:
    """What the file's names, its classes and the model's modules hold, one level deep."""

    def __init__(self, task: TaskFile, model: torch.nn.Module) -> None:
        self._task = task
        self._model = model
        self._names = _copied(task.names)
        self._classes = {n: (c, _copied(vars(c))) for n, c in task.names.items() if inspect.isclass(c)}
        self._modules = {name: _copied(vars(module)) for name, module in model.named_modules()}

    def changed(self, plan: Plan | None = None) -> list[str]:
        """Returns the names that hold something else now: "SCALE", "Model.cache", "self.layer.seen". The plan's tensors
        do not count."""
        bound = {place for argument in plan.arguments for place in argument.places} if plan else set()
        found = _differing(self._names, self._task.names)
        for name, (owner, before) in self._classes.items():
            found += [f"{name}.{key}" for key in _differing(before, vars(owner))]
        for name, module in self._model.named_modules():
            prefix = f"{name}." if name else ""
            keys = _differing(self._modules.get(name, {}), vars(module))
            found += [f"self.{prefix}{key}" for key in keys if key not in _PRIVATE and prefix + key not in bound]
        return found

    def restore(self) -> None:
        """Gives the file's names and classes what they held. Models are made anew instead."""
        names = self._task.names
        _put_back(self._names, names, names.__setitem__, names.__delitem__)
        for owner, before in self._classes.values():
            _put_back(before, vars(owner), functools.partial(setattr, owner), functools.partial(delattr, owner))


def _copied(names: Any) -> dict[str, tuple[Any, Any, Any]]:
    """Returns for each name a comparable trace of what it holds, the object itself, and a copy of a container."""
    return {
        key: (_trace(value), value, type(value)(value) if type(value) in (list, dict, set) else None)
        for key, value in list(names.items())
        if not key.startswith("__")
    }


def _trace(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return (id(value), value._version)
    if value is None or type(value) in (bool, int, float, str):
        return (type(value), repr(value))
    if type(value) in (list, tuple):
        return (id(value), [_trace(v) if isinstance(v, torch.Tensor) else id(v) for v in value])
    if type(value) is dict:
        return (id(value), [(id(k), _trace(v) if isinstance(v, torch.Tensor) else id(v)) for k, v in value.items()])
    return id(value)


def _differing(before: dict[str, tuple[Any, Any, Any]], names: Any) -> list[str]:
    now = {key: value for key, value in list(names.items()) if not key.startswith("__")}
    return [key for key, value in now.items() if key not in before or _trace(value) != before[key][0]]


def _put_back(
    before: dict[str, tuple[Any, Any, Any]], names: Any, put: Callable[[str, Any], None], drop: Callable[[str], None]
) -> None:
    for key in _differing(before, names):
        if key not in before:
            drop(key)
            continue
        _, held, content = before[key]
        _refill(held, content)
        put(key, held)


def _refill(container: Any, content: Any) -> None:
    if content is None:
        return
    container.clear()
    container.extend(content) if isinstance(container, list) else container.update(content)


def check_hidden(
    task: TaskFile, used: torch.nn.Module, plan: Plan, tensors: list[torch.Tensor], before: Snapshot
) -> str:
    """`used` has run on `tensors` since `before` was taken. Returns a note if it keeps something, "" if it does not.
    Raises TaskError if its results on other inputs depend on that."""
    names = before.changed(plan)
    if not names:
        return ""
    started = perf_counter()
    later: list[tuple[list[torch.Tensor], Any]] = []
    for seed in _SEEDS:
        if later and perf_counter() - started > _ENOUGH_SECONDS:
            break
        other = drawn_like_inputs(task, plan, tensors, seed)
        if other is not None:
            later.append((other, _run(task, used, plan, other)))
        elif not later:
            return ""
    if all(same(results, _fresh(task, plan, other, before)) for other, results in later):
        return f"forward keeps {', '.join(names)} between calls; its results do not depend on that"
    line = _line_of(task.source, names[0])
    raise TaskError(
        f"{task.file}: forward keeps {names[0]} from one call to the next{line}, and its results depend on that; a kernel "
        "sees only its arguments: compute it in each call, or fill a buffer in the constructor"
    )


def _fresh(task: TaskFile, plan: Plan, tensors: list[torch.Tensor], before: Snapshot) -> Any:
    """What forward returns where it has kept nothing."""
    before.restore()
    return _run(task, task.make_model(), plan, tensors)


def drawn_like_inputs(
    task: TaskFile, plan: Plan, tensors: list[torch.Tensor], seed: int
) -> list[torch.Tensor] | None:
    """Returns the arguments with inputs drawn under `seed`, or None if these have other shapes. A later
    request for a drawn set reports that."""
    leaves: list[Leaf] = []
    for value in task.make_inputs(seed).values():
        flatten(value, "", "", leaves, [])
    other = list(tensors)
    for number, argument in enumerate(plan.arguments):
        if argument.role != "input":
            continue
        if argument.leaf >= len(leaves) or list(leaves[argument.leaf].tensor.shape) != argument.shape:
            return None
        other[number] = leaves[argument.leaf].tensor.detach().to(tensors[number].device).contiguous()
    return other


def _run(task: TaskFile, model: torch.nn.Module, plan: Plan, tensors: list[torch.Tensor]) -> Any:
    instance = Instance(model, plan)
    instance.bind([t.clone() for t in tensors])
    seed_everything(OTHER_SEED)
    outputs = guarded(task, instance)[1]
    return [(path, t.detach().clone()) for path, t in [*outputs, *(("", t) for t in instance.updated())]]


def _line_of(source: str, name: str) -> str:
    """Returns " (line 9)", where a method other than the constructor assigns the name, or ""."""
    leaf = name.rpartition(".")[2]
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
            continue
        for node in ast.walk(function):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for part in (p for t in targets if t is not None for p in ast.walk(t)):
                if leaf in (getattr(part, "id", None), getattr(part, "attr", None)):
                    return f" (line {getattr(part, 'lineno', 0)})"
    return ""
