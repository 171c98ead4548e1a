#!/usr/bin/env python3
"""Times Model against ModelNew as a user would, without any part of pragma:

    bench/plain_call.py TASK.py MODEL_NEW.py [--seconds 5] [--threads N] [--seed 0] [--device cuda]

Both are in one process and get the same inputs and parameters. Bursts of about 20 ms alternate in random order. Prints
one line of JSON: median milliseconds of both, the median of the paired ratios, and the largest difference of outputs.

Memory that is kept, as in a program that has run for a while, is the caller's choice (docs/measuring.md, "The call"):
GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=268435456
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import sys
import time

import torch

BURST_SECONDS = 0.02


def load(path: str, name: str):
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def leaves(value) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if not isinstance(value, (list, tuple)):
        return []
    return [leaf for item in value for leaf in leaves(item)]


def moved(value, device: str):
    if isinstance(value, torch.Tensor):
        return value.to(device)
    return type(value)(moved(item, device) for item in value) if isinstance(value, (list, tuple)) else value


def seconds_of(call, inputs, count: int) -> float:
    """Seconds of one of `count` calls that follow each other. On a GPU the clock stops when it is idle."""
    wait = torch.cuda.synchronize if any(leaf.is_cuda for leaf in leaves(inputs)) else lambda: None
    call(*inputs)
    wait()
    start = time.perf_counter()
    for _ in range(count):
        call(*inputs)
    wait()
    return (time.perf_counter() - start) / count


def measure(model, new, inputs, seconds: float) -> list[tuple[float, float]]:
    rough = seconds_of(model, inputs, 3)
    count = max(1, int(BURST_SECONDS / rough))
    pairs: list[tuple[float, float]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(pairs) < 3:
        if random.random() < 0.5:
            old = seconds_of(model, inputs, count)
            pairs.append((old, seconds_of(new, inputs, count)))
        else:
            fresh = seconds_of(new, inputs, count)
            pairs.append((seconds_of(model, inputs, count), fresh))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task")
    parser.add_argument("solution")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    random.seed(options.seed)
    task, solution = load(options.task, "task"), load(options.solution, "solution")
    torch.manual_seed(options.seed)
    init = task.get_init_inputs()
    init = init if isinstance(init, (list, tuple)) else [init]
    torch.manual_seed(options.seed + 1)
    model = task.Model(*init).to(options.device)
    torch.manual_seed(options.seed + 1)
    new = solution.ModelNew(*init).to(options.device)
    new.load_state_dict(model.state_dict(), strict=False)
    inputs = moved(task.get_inputs(), options.device)
    with torch.no_grad():
        expected, found = leaves(model(*inputs)), leaves(new(*inputs))
        error = max((a.double() - b.double()).abs().max().item() if a.numel() else 0.0 for a, b in zip(expected, found, strict=True))
        pairs = measure(model, new, inputs, options.seconds)
    print(json.dumps({
        "model_ms": statistics.median(old for old, _ in pairs) * 1e3,
        "new_ms": statistics.median(fresh for _, fresh in pairs) * 1e3,
        "ratio": statistics.median(old / fresh for old, fresh in pairs),
        "bursts": len(pairs),
        "error": error,
    }))


if __name__ == "__main__":
    main()
