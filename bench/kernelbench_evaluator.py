#!/usr/bin/env python3
"""Does KernelBench's own evaluator agree with pragma's verdicts? Runs on a machine with a GPU:

    bench/kernelbench_evaluator.py --kernelbench CHECKOUT --pragma FILE --home DIR... [--rows FILE] [--jobs 4]

Exports (`pragma export`) the best kernel of the last run in each given home, or of all runs with --every. Passes
ModelNew and the task's own source to `eval_kernel_against_ref` of the checkout, which uses five drawn inputs,
KernelBench's tolerance and 100 timed calls. Each solution has a process of its own, as in KernelBench's own scripts.

    bench/kernelbench_evaluator.py --summary ROWS    writes docs/results/gpu-kernelbench.md from the rows
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import types

import benchlib

LIMIT = 240  # seconds for one evaluation, including its build
# Modules that KernelBench's package imports for other purposes than judging: models and their keys.
UNNEEDED = {"openai": ["OpenAI"], "litellm": ["completion"], "dotenv": ["load_dotenv"]}


def judge(checkout: pathlib.Path, task: pathlib.Path, solution: pathlib.Path, backend: str, build: str, tf32: str) -> dict:
    """Returns what KernelBench's evaluator says, run in this process. The evaluator does not change Torch's settings.
    One of them lets cuDNN round the factors of the reference's convolutions to TF32. `tf32` = "off" prevents that."""
    if tf32 == "off":
        import torch

        torch.backends.cudnn.allow_tf32 = False
    for name, attributes in UNNEEDED.items():
        stub = types.ModuleType(name)
        vars(stub).update(dict.fromkeys(attributes, lambda *_, **__: None))
        sys.modules.setdefault(name, stub)
    sys.path.insert(0, str(checkout / "src"))
    evaluator = importlib.import_module("kernelbench.eval")
    found = evaluator.eval_kernel_against_ref(
        task.read_text(), solution.read_text(), num_correct_trials=5, num_perf_trials=100,
        measure_performance=True, build_dir=build, backend=backend,
    )  # fmt: skip
    if found is None:
        return {"compiled": False, "correct": False, "why": "no result"}
    why = {key: str(value)[:300] for key, value in found.metadata.items() if ("error" in key or "issue" in key) and "traceback" not in key}
    return {"compiled": found.compiled, "correct": found.correctness, "ms": found.runtime, "eager_ms": found.ref_runtime, "why": why}


def pragma(options: argparse.Namespace, *arguments) -> dict:
    done = subprocess.run([options.pragma, *map(str, arguments), "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        benchlib.fail(f"pragma {arguments[0]}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def ours(shown: dict) -> dict:
    """Returns a run's best trial: status, verdict by KernelBench's rule (pragma's is against fp64), time, speedup."""
    best = next(trial for trial in shown["trials"] if trial["node"] == shown["best"])
    judged = best["evaluation"]
    eager = (judged.get("speedup") or {}).get("eager") or {}
    return {"status": judged["status"], "official": (judged.get("official") or {}).get("correct"), "language": best["candidate"]["language"],
            "ms": (judged.get("timing") or {}).get("median_ms"), "speedup": eager.get("median")}


def by_their_rule(verdict: dict) -> bool:
    official = verdict.get("official")
    return verdict["status"] == "passed" if official is None else official


def runs_of(options: argparse.Namespace) -> list[tuple[pathlib.Path, str]]:
    """Returns pairs of home and run."""
    if not options.every:
        return [(home, "last") for home in options.home]
    found = [(home, run["run"]) for home in options.home
             for run in pragma(options, "runs", "--limit", 1000, "--home", home)["runs"] if run["final"]]
    return found[:: max(len(found) // options.limit, 1)][: options.limit] if options.limit else found


def row_of(options: argparse.Namespace, home: pathlib.Path, run: str) -> dict | None:
    shown = pragma(options, "show", run, "--home", home)
    if not shown.get("best"):
        return None
    verdict = ours(shown)
    with tempfile.TemporaryDirectory() as folder:
        pragma(options, "export", run, "--home", home, "--out", f"{folder}/new")
        solution = next(pathlib.Path(folder, "new").glob("*_new.py"))
        command = [sys.executable, __file__, "--judge", shown["task_path"], solution, verdict["language"], f"{folder}/build",
                   "--kernelbench", options.kernelbench, "--tf32", options.tf32]
        try:
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT, check=False)
            lines = [line for line in done.stdout.splitlines() if line.startswith('{"compiled"')]
            theirs = json.loads(lines[-1]) if lines else {"compiled": False, "correct": False, "why": (done.stderr.strip().splitlines() or ["no output"])[-1]}
        except subprocess.TimeoutExpired:
            theirs = {"compiled": False, "correct": False, "why": f"no answer within {LIMIT} s"}
    agrees = by_their_rule(verdict) == bool(theirs["correct"])
    return {"task": shown["task"], "run": home.parent.name if run == "last" else run, "tf32": options.tf32, "ours": verdict,
            "theirs": theirs, "agrees": agrees}


def collect(options: argparse.Namespace) -> None:
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in filter(None, pool.map(lambda of: row_of(options, *of), runs_of(options))):
            rows.append(row)
            print(f"{'agrees  ' if row['agrees'] else 'DIFFERS '} {row['task']} ({row['ours']['language']}): {row['theirs']}", flush=True)
            if options.rows:
                with options.rows.open("a") as out:
                    out.write(json.dumps(row) + "\n")
    print(f"{sum(row['agrees'] for row in rows)} of {len(rows)} agree")


def page(rows: list[dict]) -> list[str]:
    table = []
    for row in rows:
        ours, theirs = row["ours"], row["theirs"]
        said = "correct" if theirs["correct"] else f"not correct: {theirs['why']}"
        timed = theirs.get("ms") and theirs.get("eager_ms") and theirs["ms"] > 0
        official = {None: "", True: "correct", False: "not correct"}[ours.get("official")]
        table.append([row["task"], ours["language"], ours["status"], official, said, f"{ours['speedup'] or math.nan:.2f}",
                      f"{theirs['eager_ms'] / theirs['ms']:.2f}" if timed else ""])
    return [
        "The best kernel of each run, exported as `ModelNew` and judged by `eval_kernel_against_ref` of KernelBench: five drawn inputs, its"
        " tolerance for fp32, 100 calls timed by events. Ours: secret inputs, an fp64 truth, pairs of bursts on the wall's clock.",
        f"- What we say by KernelBench's rule (`official` in every evaluation) agrees on {sum(row['agrees'] for row in rows)} of {len(rows)};"
        f" our own verdict, against fp64, on {sum((row['ours']['status'] == 'passed') == bool(row['theirs']['correct']) for row in rows)}.\n"
        "- Its rule holds kernels to 1e-4 of Torch's fp32 result: a long sum of Torch's own can be off by more near zero, and then a kernel"
        " nearer to the truth fails.\n"
        "- Its reference rounds the factors of convolutions to TF32 unless told not to (--tf32 off).\n"
        "- It compares one tensor, so a task with several outputs ends in an error; it makes every input a floating number,"
        " which class labels may not be.",
        benchlib.table(["task", "language", "ours", "ours by their rule", "theirs", "ours, times eager", "theirs, times eager"], table),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench", type=pathlib.Path)
    parser.add_argument("--pragma", default=str(benchlib.ROOT / "build" / "pragma"))
    parser.add_argument("--home", type=pathlib.Path, nargs="+", default=[])
    parser.add_argument("--tf32", choices=["on", "off"], default="on", help="whether cuDNN may use it in their reference (Torch's default: on)")
    parser.add_argument("--every", action="store_true", help="all runs of a home that have a kernel")
    parser.add_argument("--limit", type=int, default=0, help="with --every: this many of them, evenly spaced")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1, help="solutions at once, which disturbs the times that it prints")
    parser.add_argument("--summary", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=benchlib.ROOT / "docs" / "results" / "gpu-kernelbench.md")
    parser.add_argument("--judge", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        task, solution, backend, build = options.judge
        print(json.dumps(judge(options.kernelbench, pathlib.Path(task), pathlib.Path(solution), backend, build, options.tf32)))
    elif options.summary:
        rows = [json.loads(line) for line in options.summary.read_text().splitlines()]
        benchlib.write_result(options.out, "KernelBench's evaluator on exported kernels", benchlib.command_line(), page(rows))
    else:
        collect(options)


if __name__ == "__main__":
    main()
