"""ModelFile: a user's file with `build()` and `inputs()`, or a task in KernelBench's format."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from pragma_torch.errors import TaskError, task_error
from pragma_torch.taskfile import SEED, PythonFile, TaskFile, seed_everything


@dataclasses.dataclass
class Call:
    """The arguments of one example call of the model."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def of(self, model: torch.nn.Module) -> Any:
        return model(*self.args, **self.kwargs)


class ModelFile:
    """What the file says. Every error is a TaskError."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file = PythonFile(path)
        self._task = None if "build" in self._file.names else TaskFile(path)
        if self._task is None and not callable(self._file.names.get("inputs")):
            raise TaskError(f"{self.name}: no function `inputs`; it must return a list of example calls of the model")

    @property
    def name(self) -> str:
        return self._file.file

    def make_model(self, seed: int = SEED) -> torch.nn.Module:
        """Returns a fresh model in eval mode, in which it is judged and its kernels apply."""
        if self._task is not None:
            return self._task.make_model(seed).eval()
        seed_everything(seed)
        model = self._called("build")
        if not isinstance(model, torch.nn.Module):
            raise TaskError(f"{self.name}: build() returns {type(model).__name__}; it must return a torch.nn.Module")
        return model.eval()

    def make_calls(self, seed: int = SEED) -> list[Call]:
        """Returns the example calls, drawn under `seed`."""
        if self._task is not None:
            givens = self._task.make_inputs(seed)
            return [Call(tuple(givens.positional), dict(givens.keywords))]
        seed_everything(seed)
        with torch.no_grad():
            calls = self._called("inputs")
        if not isinstance(calls, list) or not calls:
            raise TaskError(f"{self.name}: inputs() must return a list with at least one example call")
        return [self._call(index, call) for index, call in enumerate(calls)]

    def _call(self, index: int, call: Any) -> Call:
        if isinstance(call, dict) and all(isinstance(name, str) for name in call):
            return Call((), dict(call))
        if isinstance(call, (tuple, list)):
            return Call(tuple(call), {})
        raise TaskError(
            f"{self.name}: call {index + 1} of inputs() is of type {type(call).__name__}; it must be a tuple of "
            "positional arguments or a dict of keyword arguments"
        )

    def _called(self, name: str) -> Any:
        try:
            return self._file.names[name]()
        except BaseException as error:
            raise task_error(self.name, f"{name}()", error, self.path) from error
