"""Compares an exported ModelNew with Model in a plain Python process, without anything of pragma's.

    compare.py TASK.py NEW.py   prints "same", or one line that says what differs (exit status 1)

Both are made under the same seed, get the same weights, and are called on fresh inputs. Results, changed inputs and
changed buffers are compared: what is floating with Model in float64, by the error that Model itself has in its own
precision; everything else exactly.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import random
import sys
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class InDoubles(TorchDispatchMode):
    """Casts to floats of 16 and 32 bits give doubles, so that a module that casts has a truth too."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("dtype") in (torch.float32, torch.float16, torch.bfloat16):
            kwargs["dtype"] = torch.float64
        if kwargs.get("dtype") == torch.complex64:
            kwargs["dtype"] = torch.complex128
        return func(*args, **kwargs)


def widened(model: torch.nn.Module) -> torch.nn.Module:
    """Returns a copy in double precision, complex parameters and buffers too."""
    wide = copy.deepcopy(model).double()
    for tensor in (*wide.parameters(), *wide.buffers()):
        if tensor.is_complex():
            tensor.data = tensor.data.to(torch.complex128)
    return wide


def load(path: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def seed(number: int) -> None:
    torch.manual_seed(number)
    random.seed(number)


def made(of: Any, given: Any) -> torch.nn.Module:
    if isinstance(given, dict):
        return of(**given)
    pair = len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict)
    return of(*given[0], **given[1]) if pair else of(*given)


def called(model: torch.nn.Module, inputs: Any) -> Any:
    return model(**inputs) if isinstance(inputs, dict) else model(*inputs)


def leaves(value: Any, path: str) -> list[tuple[str, Any]]:
    """Returns what a value consists of, with the classes of its containers."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    elif isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, (list, tuple)):
        items = list(enumerate(value))
    else:
        return [(path, value)]
    found: list[tuple[str, Any]] = [(path, type(value).__name__)]
    for key, item in items:
        found += leaves(item, f"{path}[{key!r}]")
    return found


def doubled(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            return value.detach().to(torch.complex128)
        return value.detach().double() if value.is_floating_point() else value.clone()
    if isinstance(value, dict):
        return {key: doubled(item) for key, item in value.items()}
    return type(value)(doubled(item) for item in value) if isinstance(value, (list, tuple)) else value


def seen(model: torch.nn.Module, inputs: Any, result: Any) -> list[tuple[str, Any]]:
    """Returns everything that a caller can see after a call."""
    buffers = {n: b for n, b in model.named_buffers() if n.rpartition(".")[2] not in _STATISTICS}
    return leaves(result, "result") + leaves(inputs, "inputs") + leaves(buffers, "buffers")


def differs(old: Any, new: Any, exact: Any) -> str:
    """Returns what differs between two results of one place, or "". `exact` is the result in float64, if there is one."""
    if not isinstance(old, torch.Tensor):
        return "" if type(old) is type(new) and repr(old) == repr(new) else f"is {new!r}, not {old!r}"
    if not isinstance(new, torch.Tensor) or new.shape != old.shape or new.dtype != old.dtype:
        return f"is another kind of tensor: {getattr(new, 'dtype', type(new))} {list(getattr(new, 'shape', []))}"
    if old.is_complex():
        whole = exact if isinstance(exact, torch.Tensor) and exact.is_complex() else old.to(torch.complex128)
        old, new, exact = (torch.view_as_real(value.resolve_conj()) for value in (old, new, whole))
    if not old.is_floating_point():
        return "" if torch.equal(old, new) else "differs"
    truth = exact if isinstance(exact, torch.Tensor) and exact.shape == old.shape else old.double()
    good = torch.isfinite(truth) & torch.isfinite(old)
    if not torch.equal(old[~good].double().nan_to_num(7), new[~good].double().nan_to_num(7)):
        return "differs where Model's result is not finite"
    if not good.any():
        return ""
    scale = float(truth[good].abs().max())
    own = float((old.double() - truth)[good].abs().max())
    error = float((new.double() - truth)[good].abs().max())
    allowed = 8 * own + scale * 32 * torch.finfo(old.dtype).eps * 8
    return "" if error <= allowed else f"is wrong by {error:.3g}, where {allowed:.3g} is allowed"


def compare(task: Any, solution: Any, number: int) -> str:
    init = getattr(task, "get_init_inputs", list)()
    seed(number)
    old = made(task.Model, init)
    seed(number)
    new = made(solution.ModelNew, init)
    new.load_state_dict(old.state_dict())
    seed(number + 1)
    inputs = task.get_inputs()
    inputs = {**inputs} if isinstance(inputs, dict) else list(inputs)
    wide, exact = widened(old), doubled(inputs)
    given = [copy.deepcopy(inputs), copy.deepcopy(inputs)]
    with torch.no_grad():
        one = seen(old, given[0], called(old, given[0]))
        two = seen(new, given[1], called(new, given[1]))
        try:
            with InDoubles():
                result = called(wide, exact)
            truth = [value for _, value in seen(wide, exact, result)]
        except Exception:
            truth = []
    if [path for path, _ in one] != [path for path, _ in two]:
        return "has another form"
    truth = truth if len(truth) == len(one) else [None] * len(one)
    for (path, a), (_, b), c in zip(one, two, truth, strict=True):
        said = differs(a, b, c)
        if said:
            return f"{path} {said}"
    return ""


def main() -> int:
    task, solution = load(sys.argv[1], "odd_task"), load(sys.argv[2], "odd_solution")
    for number in (101, 977, 31337):
        said = compare(task, solution, number)
        if said:
            print(f"seed {number}: {said}")
            return 1
    print("same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
