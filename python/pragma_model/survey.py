"""Survey: what every submodule of a model takes, how long it runs and how many operators it calls, in one example."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import torch

from pragma_model.modelfile import Call
from pragma_model.objects import twin_arguments
from pragma_torch.lightmode import LightMode

_ROUNDS = 3  # at least so many runs; the shortest of all counts
_SECONDS = 0.3  # short calls are run for so long, since a single pause of the machine would hide what takes their time


@dataclasses.dataclass
class Visit:
    """The first call of one submodule in the example, or of the model itself."""

    seconds: float = float("inf")  # with everything that it calls
    operators: int = 0  # of Torch, that it and its submodules run
    calls: int = 0


class _Counter(LightMode):
    """Counts the operators that run while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def survey(model: torch.nn.Module, call: Call) -> dict[str, Visit]:
    """Returns the visits by the module's path; the model itself has the path ""."""
    visits: dict[str, Visit] = {}
    counter = _Counter()
    with torch.no_grad(), counter, _watched(model, lambda: counter.count) as seen:
        call.of(model)
    for path, marks in seen.items():
        visits[path] = Visit(operators=int(marks[0]), calls=len(marks))
    began = perf_counter()
    rounds = 0
    while rounds < _ROUNDS or perf_counter() - began < _SECONDS:
        rounds += 1
        with torch.no_grad(), _watched(model, perf_counter) as seen:
            call.of(model)
        for path, marks in seen.items():
            if path in visits:
                visits[path].seconds = min(visits[path].seconds, sum(marks))
    return visits


@contextlib.contextmanager
def _watched(model: torch.nn.Module, gauge: Callable[[], float]) -> Iterator[dict[str, list[float]]]:
    """Yields, by path, how much the gauge rises in each call of a module."""
    seen: dict[str, list[float]] = {}
    began: dict[str, list[float]] = {}
    hooks = []

    def enter(path: str) -> Callable[..., None]:
        return lambda *_: began.setdefault(path, []).append(gauge())

    def leave(path: str) -> Callable[..., None]:
        return lambda *_: seen.setdefault(path, []).append(gauge() - began[path].pop())

    for path, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(enter(path)))
        hooks.append(module.register_forward_hook(leave(path)))
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def arguments_of(model: torch.nn.Module, call: Call, paths: list[str]) -> dict[str, Call]:
    """Runs the model and returns what the modules at these paths were given in their first call."""
    found: dict[str, Call] = {}
    hooks = []

    def note(path: str) -> Callable[..., None]:
        def first(_: Any, args: Any, kwargs: Any) -> None:
            if path not in found:  # objects among them may change later in the model's call
                found[path] = Call(*twin_arguments(args, dict(kwargs)))

        return first

    for path in paths:
        hooks.append(model.get_submodule(path).register_forward_pre_hook(note(path), with_kwargs=True))
    try:
        with torch.no_grad():
            call.of(model)
    finally:
        for hook in hooks:
            hook.remove()
    return found
