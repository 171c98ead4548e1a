#!/usr/bin/env python3
"""Times the expert's Triton texts beside eager (and torch.compile), as a plain script does: no jail, no secret inputs, no verdict.

  pragma-expert-source PYTHON FOLDER --triton bench/gpu16/*.py      on any machine
  gpu_plain.py FOLDER [--compile] [--rows FILE] bench/gpu16/*.py    on a machine with a GPU

It takes a second for each task, so it shows quickly what a change of the expert is worth. What counts is
`expert_suite.py --target triton`. A row holds the medians in microseconds and the largest difference from eager, relative
to eager's largest value.
"""

from __future__ import annotations

import argparse
import inspect
import json
import math
import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from plain_call import load


def scratch(size: int, _alignment: int, _stream: int | None) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="cuda")


def arguments(run: Callable[..., None], model: torch.nn.Module, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Returns what `run` takes: the inputs, the module's tensors by their names, the outputs."""
    names = list(inspect.signature(run).parameters)[len(inputs) : -len(outputs)]
    own = {n.replace(".", "_"): t for n, t in [*model.named_parameters(), *model.named_buffers()]}
    return [*inputs, *(own.get(n, own.get(n.rstrip("_"))) for n in names), *outputs]


class Pair:
    """A task on the GPU, and the expert's text for it."""

    def __init__(self, folder: Path, task: Path) -> None:
        import triton

        triton.set_allocator(scratch)
        torch.set_grad_enabled(False)
        torch.manual_seed(0)
        module = load(str(task), "task_" + task.stem)
        self.model = module.Model(*module.get_init_inputs()).cuda()
        self.inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in module.get_inputs()]
        text = load(str(next((folder / task.stem).glob("*.py"))), "text_" + task.stem)
        expected = self.model(*self.inputs)
        self.expected = list(expected) if isinstance(expected, tuple) else [expected]
        self.outputs = [torch.empty_like(e, memory_format=torch.contiguous_format) for e in self.expected]
        given = arguments(text.run, self.model, self.inputs, self.outputs)
        self.run: Callable[[], None] = lambda: text.run(*given)
        self.run()
        torch.cuda.synchronize()

    def difference(self) -> float:
        pairs = zip(self.outputs, self.expected, strict=True)
        return max(((o.double() - e.double()).abs().max() / e.double().abs().max()).item() for o, e in pairs)


def compiles(job: tuple[Path, Path]) -> str:
    """Runs a text once, so that Triton's cache has it. Returns what went wrong."""
    try:
        Pair(*job)
    except Exception as error:  # a compiler's error may be of any type
        return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return ""


def median_us(run: Callable[[], Any]) -> float:
    import triton.testing

    return float(triton.testing.do_bench(run, warmup=10, rep=60, return_mode="median")) * 1e3


def measured(folder: Path, task: Path, with_compile: bool) -> dict[str, Any]:
    pair = Pair(folder, task)
    row = {"task": task.stem, "us": median_us(pair.run), "eager_us": median_us(lambda: pair.model(*pair.inputs))}
    if with_compile:
        compiled = torch.compile(pair.model, dynamic=False)
        row["compile_us"] = median_us(lambda: compiled(*pair.inputs))
    return row | {"difference": pair.difference()}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="what pragma-expert-source wrote")
    parser.add_argument("tasks", type=Path, nargs="+")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile as well, which takes most of the time")
    parser.add_argument("--rows", type=Path, help="append the rows to this file")
    given = parser.parse_args()
    jobs = [(given.folder, task) for task in given.tasks]
    with multiprocessing.get_context("spawn").Pool(12) as pool:
        wrong = dict(zip(given.tasks, pool.map(compiles, jobs, chunksize=1), strict=True))
    ratios = []
    for task in given.tasks:
        if wrong[task]:
            print(f"{task.stem:24} fails: {wrong[task]}", flush=True)
            continue
        row = measured(given.folder, task, given.compile)
        fastest = min(row["eager_us"], row.get("compile_us", math.inf))
        ratios.append(fastest / row["us"])
        print(f"{task.stem:24} {row['us']:9.1f} us  {ratios[-1]:6.2f}x  difference {row['difference']:.2g}", flush=True)
        if given.rows:
            with given.rows.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
    if ratios:
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f} of {len(ratios)}")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
