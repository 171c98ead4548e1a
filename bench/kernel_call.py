#!/usr/bin/env python3
"""What a call of a module costs more if pragma_kernels serves it: a relu of four elements, with and without its kernel.

  .venv/bin/python bench/kernel_call.py

The kernel does what torch.relu does, so the difference is that of the calls. Each figure is the shortest of fifteen
loops of 20,000 calls in inference mode.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
import time
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, treespec_dumps

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import pragma_kernels as pk  # noqa: E402
from pragma_model.pack import pack  # noqa: E402

KERNEL = """#include "kernel.h"
extern "C" void pragma_kernel(const float* x, float* out, void*) {
  for (int i = 0; i < 4; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
"""


class Relu(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)


def request() -> dict[str, Any]:
    x: dict[str, Any] = {"name": "x", "dtype": "float32", "shape": [4]}
    given: dict[str, Any] = {"path": "args[0]", "role": "input", "constant": "", "complex": False}
    kernel: dict[str, Any] = {"name": "call_relu", "candidate": "0", "header": "#pragma once\n", "kernel": KERNEL, "compiler": "g++", "flags": ["-O2"]}
    kernel |= {"needs": [], "scratch_bytes": 0, "packed_bytes": 0, "arguments": [x | given], "outputs": [x | {"name": "o"}]}
    tensor = torch.zeros(1)
    unit: dict[str, Any] = {"name": "u1", "class": "Relu", "paths": [""], "in_spec": treespec_dumps(tree_flatten(((tensor,), {}))[1])}
    unit |= {"out_spec": treespec_dumps(tree_flatten(tensor)[1]), "leaves": [{"argument": 0}], "out_leaves": [{"result": 0}]}
    unit |= {"results": ["o"], "arguments": [x | {"leaf": 0}]}
    unit |= {"steps": [{"kernel": "call_relu", "arguments": ["x"], "results": ["o"]}]}
    return {"model": "relu", "threads": torch.get_num_threads(), "kernels": [kernel], "units": [unit]}


def microseconds(model: torch.nn.Module, x: torch.Tensor, calls: int = 20_000, loops: int = 15) -> float:
    shortest = float("inf")
    for _ in range(loops):
        began = time.perf_counter()
        for _ in range(calls):
            model(x)
        shortest = min(shortest, (time.perf_counter() - began) / calls)
    return shortest * 1e6


def main() -> None:
    model, x = Relu().eval(), torch.randn(4)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        package = pathlib.Path(folder) / "fast"
        pack(request(), package)
        for _ in range(3):
            plain = microseconds(model, x)
            pk.apply(model, package)
            served = microseconds(model, x)
            pk.remove(model)
            print(f"torch {plain:.2f} us, with a kernel {served:.2f} us: {served - plain:+.2f} us")


if __name__ == "__main__":
    main()
