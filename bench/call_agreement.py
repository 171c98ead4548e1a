#!/usr/bin/env python3
"""Is the printed speedup of a call what a plain script then sees?

    bench/call_agreement.py [--tasks 40] [--seed 1] [--rows FILE]   measures what the rows do not hold yet
    bench/call_agreement.py --summary --rows FILE                   writes docs/results/call-agreement.md
    bench/call_agreement.py --target triton --tasks 10 …            the same on a GPU, with the expert in Triton

For each task: `pragma optimize` with the built-in expert and one attempt, which prints the call's speedup over eager
with its interval. Then five fresh processes of bench/plain_call.py with the exported ModelNew. Their interval is that
of Student's t over the logarithms of their five ratios. The two agree if the intervals overlap. The tasks are drawn
from tasks/ with the seed, before anything is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import benchlib

KEEP = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184:glibc.malloc.top_pad=268435456"
PROCESSES = 5
T_95 = 2.776  # Student's t, 97.5 %, four degrees of freedom


def chosen(count: int, seed: int) -> list[pathlib.Path]:
    tasks = sorted((benchlib.ROOT / "tasks").glob("*/*.py"))
    random.Random(seed).shuffle(tasks)
    return sorted(tasks[:count])


def run_pragma(options: argparse.Namespace, task: pathlib.Path, folder: str) -> dict:
    command = [str(options.pragma), "optimize", str(task), "--attempts", "1", "--time", "120s", "--no-compile-baseline",
               "--no-lint", "--json", "--out", folder, "--target", options.target, *(["--home", options.home] if options.home else [])]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {"failed": (done.stderr.strip() or f"exit {done.returncode}")[-300:]}
    best = json.loads(done.stdout).get("best") or {}
    evaluation = best.get("evaluation", best)
    if not evaluation.get("call"):
        notes = [check["detail"] for check in evaluation.get("checks", []) if check["name"] == "call"]
        return {"failed": "; ".join(notes) or "no call was timed"}
    return {"call": evaluation["call"], "kernel": (evaluation["speedup"]["eager"] or {}).get("median")}


def run_plain(task: pathlib.Path, folder: str, seed: int, keep: bool, device: str) -> dict:
    environment = {**os.environ, "GLIBC_TUNABLES": KEEP} if keep else dict(os.environ)
    command = [sys.executable, str(benchlib.ROOT / "bench" / "plain_call.py"), str(task),
               str(pathlib.Path(folder) / f"{task.stem}_new.py"), "--seed", str(seed), "--device", device]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return {"failed": done.stderr.strip()[-300:]}
    return json.loads(done.stdout)


def measure(options: argparse.Namespace, task: pathlib.Path) -> dict:
    row: dict = {"task": task.stem, "machine": benchlib.processor(), "target": options.target, "commit": benchlib.commit()}
    with tempfile.TemporaryDirectory() as folder:
        row |= run_pragma(options, task, folder)
        if "failed" in row:
            return row
        device = "cpu" if options.target == "cpu" else "cuda"
        row["plain"] = [run_plain(task, folder, seed, True, device) for seed in range(PROCESSES)]
        if row["call"].get("defaults"):
            row["plain_defaults"] = run_plain(task, folder, 0, False, device)
    return row


def interval(ratios: list[float]) -> tuple[float, float, float]:
    logs = [math.log(ratio) for ratio in ratios]
    half = T_95 * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.mean(logs)
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def read(rows: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()] if rows.exists() else []


def compared(row: dict) -> dict | None:
    """The two figures of one row side by side, or None where one of them is missing."""
    if "failed" in row or any("failed" in plain for plain in row["plain"]):
        return None
    printed = row["call"]["kept"]["speedup"]
    low, high = printed["ci95"]
    plain, plain_low, plain_high = interval([plain["ratio"] for plain in row["plain"]])
    return {"printed": printed["median"], "low": low, "high": high, "plain": plain, "plain_low": plain_low,
            "plain_high": plain_high, "overlap": low <= plain_high and plain_low <= high,
            "difference": abs(math.log(printed["median"] / plain))}  # fmt: skip


def summarize(rows: list[dict], out: pathlib.Path) -> None:
    lines, found = [], []
    for row in rows:
        figures = compared(row)
        if figures is None:
            why = row.get("failed") or next(plain["failed"] for plain in row["plain"] if "failed" in plain)
            lines.append([row["task"], "-", "-", "-", "-", " ".join(why[-120:].split()).replace("|", "/")])
            continue
        found.append(figures)
        defaults = row["call"].get("defaults")
        beside = f"{defaults['speedup']['median']:.2f} / {row['plain_defaults'].get('ratio', 0):.2f}" if defaults else ""
        kernel = f"{row['kernel']:.2f}" if row["kernel"] else "-"
        lines.append([row["task"], kernel, "{printed:.2f} [{low:.2f}, {high:.2f}]".format(**figures),
                      "{plain:.2f} [{plain_low:.2f}, {plain_high:.2f}]".format(**figures),
                      "yes" if figures["overlap"] else "**no**", beside])  # fmt: skip
    overlapping = sum(figures["overlap"] for figures in found)
    median = statistics.median(figures["difference"] for figures in found) if found else 0
    text = (f"Of {len(rows)} tasks, {len(found)} have both figures. The intervals overlap in **{overlapping}**. "
            f"The median difference is **{(math.exp(median) - 1) * 100:.1f} %**.")  # fmt: skip
    header = ["task", "kernel alone", "call, printed", "call, plain script", "overlap", "malloc's defaults: printed / plain"]
    benchlib.write_result(out, "The printed call and a plain script", benchlib.command_line(), [text, benchlib.table(header, lines)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    benchlib.add_common(parser, "call-agreement.md")
    parser.add_argument("--tasks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", default="cpu", choices=["cpu", "triton"])
    parser.add_argument("--pragma", type=pathlib.Path, help="program (default: that of --build)")
    parser.add_argument("--home", help="store (default: .pragma here)")
    parser.add_argument("--only", help="only tasks whose name contains this")
    parser.add_argument("--rows", type=pathlib.Path, default=benchlib.RESULTS / "call-agreement.jsonl")
    parser.add_argument("--summary", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.summary:
        options.pragma = options.pragma or benchlib.program(options.build, "pragma")
        known = {row["task"] for row in read(options.rows)}
        for task in chosen(options.tasks, options.seed):
            if task.stem in known or (options.only and options.only not in task.stem):
                continue
            start = time.monotonic()
            row = measure(options, task)
            with open(options.rows, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
            figures = compared(row)
            benchlib.say(f"{task.stem}: {row.get('failed') or figures}, {time.monotonic() - start:.0f} s")
    summarize(read(options.rows), options.out)


if __name__ == "__main__":
    main()
