#!/usr/bin/env python3
"""Shows what a GPU does in one call of a whole model, in each way that a user could run it.

  model_launches.py MODEL.py PACKAGE    PACKAGE is the folder that `pragma model MODEL.py --target triton` wrote

The ways are eager, torch.compile in two modes, the kernels, and torch.compile around the kernels. For each: how long a call
takes, calls in a row on the same arguments; how long the GPU is busy in it; and the kernels that take most of that. A call
that takes longer than the GPU is busy waits for the host.
"""

from __future__ import annotations

import copy
import functools
import importlib
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import launch_times  # noqa: E402
import torch  # noqa: E402
from pragma_model.modelfile import ModelFile  # noqa: E402
from pragma_model.place import Place  # noqa: E402

_CALLS = 20
_SHOWN = 12  # kernels of each way


def wall_us(call: Callable[[], Any]) -> float:
    """Returns the microseconds of one of several calls in a row, the median of five tries."""
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        began = perf_counter()
        for _ in range(_CALLS):
            call()
        torch.cuda.synchronize()
        times.append((perf_counter() - began) / _CALLS * 1e6)
    return statistics.median(times)


def ways(model: torch.nn.Module, package: str, kernels: Any) -> dict[str, Callable[[], torch.nn.Module]]:
    """Returns functions that make the model ready to be called."""

    def with_kernels() -> torch.nn.Module:
        own = copy.deepcopy(model)
        kernels.apply(own, package)
        return own

    found: dict[str, Callable[[], torch.nn.Module]] = {"eager": lambda: model, "kernels": with_kernels}
    for mode in ("default", "reduce-overhead"):
        found[f"torch.compile, {mode}"] = functools.partial(_compiled, lambda: copy.deepcopy(model), mode)
        found[f"kernels in torch.compile, {mode}"] = functools.partial(_compiled, with_kernels, mode)
    return found


def _compiled(make: Callable[[], torch.nn.Module], mode: str) -> Any:
    return torch.compile(make(), mode=mode)


@torch.inference_mode()
def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    file, package = sys.argv[1:]
    sys.path.insert(0, package)
    kernels = importlib.import_module("pragma_kernels")
    place = Place("cuda")
    given = ModelFile(file)
    model = place.model(given.make_model())
    arguments = place.call(given.make_calls()[0])
    print(f"{Path(file).stem}, {torch.cuda.get_device_name()}, torch {torch.__version__}")
    for name, make in ways(model, package, kernels).items():
        try:
            ready = make()
            for _ in range(4):  # the first compiles, the second captures
                arguments.of(ready)
            call = functools.partial(arguments.of, ready)
            print(f"\n{wall_us(call):9.1f} us a call  {name}", flush=True)
            launch_times.show_torchs("of these the GPU is busy", call, _SHOWN)
            for kernel, why in kernels.slow_launches(ready).items():
                print(f"  {kernel} is launched kernel by kernel: {why}")
        except Exception as error:  # a way that fails is a result, too
            print(f"\n{name} fails: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", flush=True)


if __name__ == "__main__":
    main()
