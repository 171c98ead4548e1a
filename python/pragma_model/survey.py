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

_ROUNDS = 3  # at least so many runs
_SECONDS = 0.3  # short calls are run for so long, since a single pause of the machine would hide what takes their time


@dataclasses.dataclass
class Visit:
    """The calls of one submodule in the example, or of the model itself."""

    seconds: float  # of all its calls, with everything that they call
    own: float  # of these, those that it does not spend in submodules
    operators: int  # of Torch, that it and its submodules run in one call
    calls: int


class _Counter(LightMode):
    """Counts the operators that run while it is active."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += 1
        return func(*args, **(kwargs or {}))


def survey(model: torch.nn.Module, call: Call, now: Callable[[], float] = perf_counter) -> dict[str, Visit]:
    """Returns the visits by the module's path; the model itself has the path "". `now` is the clock of the device on which
    both are: it waits until the device has done what it was asked.

    What a module does itself, between the calls of its submodules, is timed apart, and the shortest of several runs
    counts. The times of a module and all that it calls are sums of these. The shortest time of a module as a whole would
    hold pauses that other programs make in every run of a long module, and in few runs of a short one.
    """
    counter = _Counter()
    with torch.no_grad(), counter, _watched(model, lambda: counter.count) as counted:
        call.of(model)
    visits = {path: Visit(0.0, 0.0, int(count), counted.calls[path]) for path, count in counted.first.items()}
    shortest: dict[_Chain, float] = {}
    began = perf_counter()
    rounds = 0
    while rounds < _ROUNDS or perf_counter() - began < _SECONDS:
        rounds += 1
        with torch.no_grad(), _watched(model, now) as timed:
            call.of(model)
        for chain, seconds in timed.own.items():
            shortest[chain] = min(shortest.get(chain, seconds), seconds)
    for chain, seconds in shortest.items():
        for path in visits.keys() & set(chain):
            visits[path].seconds += seconds
        if chain[-1] in visits:
            visits[chain[-1]].own += seconds
    return visits


_Chain = tuple[str, ...]  # the paths of modules of which each is called by the one before


class _Watch:
    """How much a gauge rises in the calls of modules."""

    def __init__(self, gauge: Callable[[], float]) -> None:
        self.first: dict[str, float] = {}  # in a module's first call
        self.calls: dict[str, int] = {}
        self.own: dict[_Chain, float] = {}  # in the module that ends the chain, apart from the modules that it calls
        self._gauge = gauge
        self._open: list[tuple[str, float]] = []  # the modules that run now
        self._last = 0.0  # the gauge when a call last began or ended

    def enter(self, path: str) -> None:
        now = self._note()
        self._open.append((path, now))

    def leave(self) -> None:
        now = self._note()
        path, began = self._open.pop()
        self.first.setdefault(path, now - began)
        self.calls[path] = self.calls.get(path, 0) + 1

    def _note(self) -> float:
        now = self._gauge()
        if self._open:
            chain = tuple(path for path, _ in self._open)
            self.own[chain] = self.own.get(chain, 0.0) + now - self._last
        self._last = now
        return now


@contextlib.contextmanager
def _watched(model: torch.nn.Module, gauge: Callable[[], float]) -> Iterator[_Watch]:
    watch = _Watch(gauge)
    hooks = []
    for path, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, path=path: watch.enter(path)))
        hooks.append(module.register_forward_hook(lambda *_: watch.leave(), always_call=True))
    try:
        yield watch
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def _as_compiled() -> Iterator[None]:
    """Models ask torch.compiler.is_compiling(), and prepare other arguments then: a mask as a tensor, say, where they would
    otherwise look whether it hides anything."""
    before = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = before


def arguments_of(
    model: torch.nn.Module, call: Call, paths: list[str], compiling: bool = False
) -> dict[str, Call]:
    """Runs the model and returns what the modules at these paths were given in their first call. With `compiling` it is
    what they are given where torch.compile compiles the model."""
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
        with torch.no_grad(), _as_compiled() if compiling else contextlib.nullcontext():
            call.of(model)
    finally:
        for hook in hooks:
            hook.remove()
    return found
