#!/usr/bin/env python3
"""What the loop finds on a GPU with a real language model: recorded runs, and their best kernels measured again.

The recorded runs are shown step by step. The best kernels are measured once more with nothing else running.

    bench/gpu_search.py --measure ROWS    on a machine with a GPU: each run's best kernel against eager and
                                          torch.compile (`pragma evaluate`), one line of JSON each;
                                          continues where it stopped
    bench/gpu_search.py --rows ROWS       writes docs/results/gpu-search.md from the recordings and those lines

Recordings are recordings/gpu/TASK.TARGET.jsonl (`pragma export RUN --recording`).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import random
import tempfile

import benchlib

from recordings import Judge, Run, ratio

FOLDER = benchlib.ROOT / "recordings" / "gpu"
METRICS = {  # PRAGMA's six, and what a profile reports first
    "gpu_kernel_time": "kernel, us", "gpu_achieved_occupancy": "occupancy, %", "gpu_registers_per_thread": "registers",
    "gpu_shared_memory_per_block": "shared, bytes", "gpu_tensor_active": "tensor cores, %",
    "gpu_memory_throughput": "memory, %",
}


def read_runs(folder):
    return [Run(path) for path in sorted(folder.glob("*.jsonl"), key=lambda path: (path.name.split(".")[1], path.name))]


# --- measuring ------------------------------------------------------------------------------------


def measure(run, program, options):
    """Measures the best kernel: status, time, both ratios."""
    flags = ["--target", run.strategy, "--no-serve"] + (["--devices", options.devices] if options.devices else [])
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(program, options.home, pathlib.Path(folder))
        found = judge.evaluate(run, run.best, flags=flags)
    return {"task": run.task, "target": run.strategy, "node": run.best["node"],
            **{key: found.get(key) for key in ("status", "reason", "speedup", "timing", "environment", "lower_bound_ms")}}


def measure_all(runs, options, program):
    known = {(row["task"], row["target"]) for row in benchlib.read_rows(options.measure)}
    left = [run for run in runs if (run.task, run.strategy) not in known and run.best]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda run: measure(run, program, options), left):
            with options.measure.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
            benchlib.say(f"{row['task']} ({row['target']}): {row['status']}, {ratio((row['speedup'] or {}).get('eager'))}")


# --- the page -------------------------------------------------------------------------------------


def found_table(rows, target):
    rng = random.Random(1)
    table: list[list[str]] = []
    ratios: dict[str, list[float]] = {"eager": [], "compile": []}
    for row in (row for row in rows if row["target"] == target):
        pairs = {name: (row["speedup"] or {}).get(name) for name in ratios}
        for name, pair in pairs.items():
            ratios[name] += [pair["median"]] if pair else []
        median = (row["timing"] or {}).get("median_ms")
        table.append([row["task"], row["status"], f"{median:.4f}" if median else "", ratio(pairs["eager"]), ratio(pairs["compile"])])
    table.append(["geometric mean", "", "", *(benchlib.geomean_in_words(values, rng) for values in ratios.values())])
    return benchlib.table(["task", "verdict", "ms", "over eager (95 %)", "over torch.compile (95 %)"], table)


def step(trial):
    judged, profile, advice = trial["evaluation"], trial["profile"] or {}, trial["advice"] or {}
    values = {one["tag"]: one.get("value") for one in profile.get("metrics", [])}
    causes = ", ".join(cause["class"] for cause in profile.get("diagnosis", [])[:3])
    return [trial["node"], (advice.get("change") or "first version").split("\n")[0][:160], judged["status"],
            ratio((judged.get("speedup") or {}).get("eager")),
            *(f"{values[tag]:.4g}" if values.get(tag) is not None else "" for tag in METRICS), causes]


def steps_of(run):
    rows = [step(trial) for trial in run.trials]
    return benchlib.table(["attempt", "change asked for", "verdict", "over eager, as recorded", *METRICS.values(), "causes named"], rows)


def page(runs, rows):
    device = next(row["environment"] for row in rows if row.get("environment"))
    parts = ["Runs of the strategy `pragma` with a real language model that saw nothing but the prompts (`handoff`), which carry what Nsight "
             f"Compute counted. {device['device']}, Torch {device['torch']}, {device['cpu']}; precision {device['precision']}, TF32 off. "
             "Speedups above 1: the kernel is faster. Small tasks are mostly launches: eager pays 12 to 20 us of host's work for "
             "each operator, a CUDA candidate 2 to 5, a Triton candidate 20 to 25."]
    for target in sorted({row["target"] for row in rows}):
        parts += [f"## Found, {target}: measured once more", found_table(rows, target)]
    parts.append("## Step by step\n\nRatios here are as the run recorded them, while builds of other runs disturbed the host's launches.")
    for run in runs:
        parts += [f"### {run.task}, {run.strategy}", steps_of(run)]
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "gpu-search.md")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--home", default=".pragma")
    parser.add_argument("--program", type=pathlib.Path, help="pragma, where it is not in --build")
    parser.add_argument("--measure", type=pathlib.Path, metavar="ROWS")
    parser.add_argument("--jobs", type=int, default=1, help="with --measure: kernels at once; timing still takes turns")
    parser.add_argument("--devices", default="", help="with --measure: GPUs to use, 0,1")
    parser.add_argument("--rows", type=pathlib.Path)
    options = parser.parse_args()
    runs = read_runs(options.folder)
    if not runs:
        benchlib.fail(f"{options.folder} has no recordings")
    if options.measure:
        measure_all(runs, options, options.program or benchlib.program(options.build, "pragma"))
    elif options.rows:
        benchlib.write_result(options.out, "Searching on a GPU with a language model", benchlib.command_line(), page(runs, benchlib.read_rows(options.rows)))
    else:
        parser.error("--measure or --rows is needed")


if __name__ == "__main__":
    main()
