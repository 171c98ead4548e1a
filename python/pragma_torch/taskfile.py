"""TaskFile: a loaded file in KernelBench's format, with its Model, inputs and constructor arguments."""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

from pragma_torch.device import CPU
from pragma_torch.errors import TaskError, one_line, task_error
from pragma_torch.givens import Givens, WrongForm, givens_of

TASK_MODULE = "pragma_task_"  # prefix of the module name, followed by the file's name
SEED = 42  # KernelBench's seed; graph constants that forward creates are those of this seed


def seed_everything(seed: int) -> None:
    """Seeds torch's generator as KernelBench does, and also those of Python and numpy, so that draws are repeatable."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


class PythonFile:
    """A user's file after running it once. Every error is a TaskError."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.file = os.path.basename(path)
        self.source = _read(path, self.file)
        self._module = types.ModuleType(TASK_MODULE + os.path.splitext(self.file)[0])
        self._module.__file__ = path
        self._run()

    @property
    def names(self) -> dict[str, Any]:
        """What the file defines at its top level."""
        return self._module.__dict__

    def _run(self) -> None:
        try:
            code = compile(self.source, self.path, "exec")
        except (SyntaxError, ValueError) as error:
            what = f"{error.msg} (line {error.lineno})" if isinstance(error, SyntaxError) else str(error)
            raise TaskError(f"{self.file}: not valid Python: {one_line(what)}") from error
        # Python looks up the module of a class by name (inspect, pickling, torch.export).
        sys.modules[self._module.__name__] = self._module
        folder = os.path.dirname(self.path)
        if folder not in sys.path:
            sys.path.append(folder)
        try:
            exec(code, self._module.__dict__)
        except BaseException as error:
            raise task_error(self.file, "importing it", error, self.path) from error


class TaskFile(PythonFile):
    """A file in KernelBench's format."""

    def __init__(self, path: str, evaluates: bool = False) -> None:
        """`evaluates` puts every model into eval mode, as a module is used after training (`--eval`)."""
        super().__init__(path)
        self.evaluates = evaluates
        self.place = CPU
        self.model_class = self._model_class()
        if not callable(getattr(self._module, "get_inputs", None)):
            raise TaskError(
                f"{self.file}: no function `get_inputs`; it must return the list of forward's arguments"
            )

    def _model_class(self) -> type[torch.nn.Module]:
        model = getattr(self._module, "Model", None)
        if not (inspect.isclass(model) and issubclass(model, torch.nn.Module)):
            raise TaskError(f"{self.file}: no class `Model` that derives from torch.nn.Module")
        return model

    def init_inputs(self, seed: int = SEED) -> Givens:
        """Returns the constructor's arguments. KernelBench's get_init_inputs may be missing, and then there are none.
        """
        if getattr(self._module, "get_init_inputs", None) is None:
            return Givens()
        seed_everything(seed)
        return self._givens("get_init_inputs", self.model_class.__init__)

    def make_model(self, seed: int = SEED) -> torch.nn.Module:
        """Returns a fresh Model under `seed`, in the mode in which its constructor leaves it (KernelBench does not call
        eval()), or in eval mode if that was asked for."""
        arguments = self.init_inputs(seed)
        seed_everything(seed)
        try:
            model = self.model_class(*arguments.positional, **arguments.keywords)
            return model.eval() if self.evaluates else model
        except BaseException as error:
            raise task_error(self.file, "Model(...)", error, self.path) from error

    def make_inputs(self, seed: int = SEED) -> Givens:
        """Returns forward's arguments."""
        seed_everything(seed)
        with torch.no_grad(), contextlib.nullcontext() if self.place == CPU else torch.device(self.place):
            return self._givens("get_inputs", self.model_class.forward)

    @contextlib.contextmanager
    def inputs_on(self, place: str) -> Iterator[None]:
        """Meanwhile, what get_inputs() makes without naming a device is on this one."""
        self.place = place
        try:
            yield
        finally:
            self.place = CPU

    def _givens(self, name: str, taker: Any) -> Givens:
        """Calls the file's function `name`, whose result is given to `taker`."""
        try:
            returned = getattr(self._module, name)()
        except BaseException as error:
            raise task_error(self.file, f"{name}()", error, self.path) from error
        try:
            return givens_of(returned, taker)
        except WrongForm as error:
            raise TaskError(f"{self.file}: {name}() {error}") from error

    def init_names(self) -> list[str]:
        """Returns the names of the constructor's positional parameters, without self."""
        return _positional_names(self.model_class.__init__)

    def forward_names(self) -> list[str]:
        return _positional_names(self.model_class.forward)


def _read(path: str, file: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except FileNotFoundError as error:
        raise TaskError(f"{file}: no such file") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{file}: not a UTF-8 text file") from error
    except OSError as error:
        raise TaskError(f"{file}: cannot be read: {error.strerror}") from error


def _positional_names(function: Any) -> list[str]:
    """Returns the positional parameters after self. A *rest parameter comes last, with its star."""
    names = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names.append("*" + parameter.name)
    return names


def positional_name(names: list[str], index: int) -> str:
    """Returns the name of positional argument `index`: "x", or "args_2" for an argument that *args takes."""
    if index < len(names) and not names[index].startswith("*"):
        return names[index]
    if names and names[-1].startswith("*"):
        return f"{names[-1][1:]}_{index - (len(names) - 1)}"
    return f"arg{index}"
