#!/usr/bin/env python3
"""Times whole models in each way that a user could choose on a processor, beside the kernels that `pragma model` made.

  model_rivals.py --packages FOLDER --rows FILE [--only vit,bert]    packages as bench/models.py leaves them
  model_rivals.py --summary FILE --out FILE.md

The sides are eager, eager with channels_last weights, torch.compile, torch.compile with max-autotune and freezing, ONNX
Runtime, OpenVINO (float32), and the kernels, which are also tried inside torch.compile. One process holds all sides of a
model and runs them in turn, in random order: each once unmeasured, then timed. What a side cannot do is a failure of that
side, and so are results that differ from eager's by more than 1e-3.

Needs onnx, onnxscript, onnxruntime and openvino beside torch for all sides; a side whose library is missing says so.
"""

from __future__ import annotations

import argparse
import copy
import functools
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchlib
from models import interval

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "bench" / "models"
_ROUNDS = (8, 40)  # at least, at most
_MOST_APART = 1e-3  # relative L2 distance from eager's results
_OURS = ("kernels", "kernels in torch.compile")

Run = Callable[[], Any]


class Sides:
    """The ways to run one model. Each method returns a function that runs the model's example calls once."""

    def __init__(self, name: str, package: Path, threads: int) -> None:
        import torch
        from pragma_model.modelfile import ModelFile

        self._torch = torch
        torch.set_num_threads(threads)
        self._threads = threads
        self._package = package
        file = ModelFile(str(MODELS / f"{name}.py"))
        self._model = file.make_model()
        self._calls = file.make_calls()
        self._folder = tempfile.TemporaryDirectory()

    def makers(self) -> dict[str, Callable[[], Run]]:
        made = {
            "eager": lambda: self._of(self._model),
            "channels_last": self._channels_last,
            "torch.compile": lambda: self._of(self._torch.compile(copy.deepcopy(self._model))),
            "max-autotune, freezing": self._frozen,
            "ONNX Runtime": self._onnxruntime,
            "OpenVINO": self._openvino,
        }
        if (self._package / "manifest.json").exists():
            made |= {"kernels": self._kernels, "kernels in torch.compile": lambda: self._kernels(self._torch.compile)}
        return made

    def _of(self, model: Any) -> Run:
        def run() -> list[Any]:
            calls = copy.deepcopy(self._calls)  # a cache among the arguments changes
            with self._torch.inference_mode():
                return [call.of(model) for call in calls]

        return run

    def _channels_last(self) -> Run:
        if not any(p.dim() == 4 for p in self._model.parameters()):
            raise ValueError("the model has no weights of four dimensions")
        return self._of(copy.deepcopy(self._model).to(memory_format=self._torch.channels_last))

    def _frozen(self) -> Run:
        options = {"freezing": True, "max_autotune": True}
        return self._of(self._torch.compile(copy.deepcopy(self._model), options=options))

    def _kernels(self, wrapped: Callable[[Any], Any] = lambda model: model) -> Run:
        if str(self._package) not in sys.path:
            sys.path.insert(0, str(self._package))
        import pragma_kernels

        model = copy.deepcopy(self._model)
        pragma_kernels.apply(model, self._package)
        return self._of(wrapped(model))

    def _tensors(self, call: Any) -> list[Any]:
        return [leaf for leaf in self._torch.utils._pytree.tree_leaves((call.args, call.kwargs)) if isinstance(leaf, self._torch.Tensor)]

    @functools.cached_property
    def _onnx(self) -> list[str]:
        """Returns one file for each example call."""
        files = []
        for number, call in enumerate(self._calls):
            files.append(f"{self._folder.name}/{number}.onnx")
            self._torch.onnx.export(copy.deepcopy(self._model), call.args, files[-1], kwargs=call.kwargs, dynamo=True, verbose=False)
        return files

    def _onnxruntime(self) -> Run:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        sessions = [onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"]) for file in self._onnx]
        feeds = [
            dict(zip((given.name for given in session.get_inputs()), (t.numpy() for t in self._tensors(call)), strict=True))
            for session, call in zip(sessions, self._calls, strict=True)
        ]
        return lambda: [session.run(None, feed) for session, feed in zip(sessions, feeds, strict=True)]

    def _openvino(self) -> Run:
        import openvino

        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": self._threads, "INFERENCE_PRECISION_HINT": "f32"}
        models = [openvino.compile_model(openvino.convert_model(file), "CPU", settings) for file in self._onnx]
        feeds = [[t.numpy() for t in self._tensors(call)] for call in self._calls]
        return lambda: [list(model(feed).values()) for model, feed in zip(models, feeds, strict=True)]

    def flat(self, found: Any) -> list[Any]:
        """Returns the floating-point tensors of a result, in float64."""
        as_tensors = [self._torch.as_tensor(leaf) for leaf in self._torch.utils._pytree.tree_leaves(found) if hasattr(leaf, "shape")]
        return [t.double() for t in as_tensors if t.is_floating_point()]


def distance(ours: list[Any], theirs: list[Any]) -> float:
    """Returns the largest relative L2 distance of tensors that are there on both sides."""
    return max(float((a.reshape(-1) - b.reshape(-1)).norm() / b.norm().clamp(min=1e-30)) for a, b in zip(ours, theirs, strict=False))


def prepared(sides: Sides) -> tuple[dict[str, Run], dict[str, str]]:
    runs: dict[str, Run] = {}
    failures: dict[str, str] = {}
    expected: list[Any] = []
    for name, make in sides.makers().items():
        benchlib.say(f"  {name}")
        try:
            run = make()
            run()
            found = sides.flat(run())
            expected = expected or found
            apart = distance(found, expected)
        except Exception as error:
            failures[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:160]
            continue
        if apart <= _MOST_APART:
            runs[name] = run
        else:
            failures[name] = f"results differ from eager's by {apart:.1e}"
    return runs, failures


def timed(runs: dict[str, Run], seconds: float) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in runs}
    order = list(runs)
    shuffle = random.Random(1).shuffle
    began = time.perf_counter()
    for done in range(_ROUNDS[1]):
        if done >= _ROUNDS[0] and time.perf_counter() - began > seconds:
            break
        shuffle(order)
        for name in order:
            runs[name]()
            start = time.perf_counter()
            runs[name]()
            samples[name].append(time.perf_counter() - start)
    return samples


def ratio(slow: list[float], fast: list[float]) -> dict[str, Any]:
    """Returns the geometric mean of paired ratios and its interval of 95 % (bootstrap)."""
    logs = [math.log(a / b) for a, b in zip(slow, fast, strict=True)]
    return {"median": math.exp(sum(logs) / len(logs)), "ci95": benchlib.bootstrap(logs, random.Random(1))}


def measured(name: str, package: Path, threads: int, seconds: float) -> dict[str, Any]:
    sys.path.insert(0, str(ROOT / "python"))
    from pragma_torch.process import keep_freed_memory

    keep_freed_memory()  # as `pragma model` measures, for all sides
    runs, failures = prepared(Sides(name, package, threads))
    samples = timed(runs, seconds)
    ours = min((side for side in _OURS if side in samples), key=lambda side: benchlib.median(samples[side]), default=None)
    return {
        "model": name,
        "threads": threads,
        "cpu": benchlib.processor(),
        "sources": benchlib.commit(),
        "rounds": len(next(iter(samples.values()))),
        "ms": {side: 1e3 * benchlib.median(values) for side, values in samples.items()},
        "ours": ours,
        "over": {side: ratio(values, samples[ours]) for side, values in samples.items() if side not in _OURS} if ours else {},
        "failures": failures,
    }


def measure(args: argparse.Namespace) -> None:
    """Each model has a process of its own, so that one which dies takes nothing with it."""
    rows = Path(args.rows)
    known = {row["model"] for row in benchlib.read_rows(rows)}
    names = args.only.split(",") if args.only else [path.stem for path in sorted(MODELS.glob("*.py"))]
    for name in (name for name in names if name not in known):
        benchlib.say(f"{name} ...")
        command = [sys.executable, __file__, "--one", name, "--packages", args.packages, "--threads", str(args.threads), "--seconds", str(args.seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        lines = done.stdout.splitlines()
        row = json.loads(lines[-1]) if done.returncode == 0 and lines else {"model": name, "failure": f"ended with status {done.returncode}"}
        with rows.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


def page(rows: list[dict[str, Any]]) -> list[str]:
    whole = [row for row in rows if "ms" in row]
    names = list(dict.fromkeys(side for row in whole for side in (*row["ms"], *row["failures"])))
    lines = [[row["model"], *(f"{row['ms'][side]:.4g}" if side in row["ms"] else "-" for side in names)] for row in whole]
    parts = ["Milliseconds of a call, medians.", benchlib.table(["model", *names], lines)]
    gains, against = [], []
    for row in whole:
        if not row["over"]:
            against.append([row["model"], "-", "no kernels"])
            continue
        rival = min(row["over"], key=lambda side: row["over"][side]["median"])
        over = row["over"][rival]
        gains.append(over["median"])
        against.append([row["model"], rival, interval(over)])
    parts += ["## Against the fastest other", benchlib.table(["model", "fastest other", "the kernels against it"], against)]
    if gains:
        parts.append(f"Geometric mean against the fastest other: {benchlib.geomean(gains):.3f} ({len(gains)} models with kernels).")
    failures = [[row["model"], side, why] for row in whole for side, why in row["failures"].items()]
    failures += [[row["model"], "all", row["failure"]] for row in rows if "failure" in row]
    parts += ["## What a side could not do", benchlib.table(["model", "side", "why"], failures)]
    return parts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="JSON lines, one for each model")
    parser.add_argument("--only", default="", help="names of models, with commas")
    parser.add_argument("--packages", default=".pragma/packages", help="folder with the packages of kernels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of timing for each model (60)")
    parser.add_argument("--one", help="measure this model in this process, and print its row")
    parser.add_argument("--summary", help="rows to make a page of")
    parser.add_argument("--out", type=Path, default=benchlib.RESULTS / "model-rivals.md")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measured(args.one, Path(args.packages).resolve() / args.one, args.threads, args.seconds)))
    elif args.summary:
        benchlib.write_result(args.out, "Whole models against every other way", benchlib.command_line(), page(benchlib.read_rows(Path(args.summary))))
    elif args.rows:
        measure(args)
    else:
        parser.error("--rows or --summary is needed")


if __name__ == "__main__":
    main()
