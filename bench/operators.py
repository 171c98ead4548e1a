#!/usr/bin/env python3
"""Which of Torch's operators does the built-in expert write, and is any of its kernels wrong?

    bench/operators.py [--samples 8] [--only NAME] [--rows ROWS] [--jobs 2]

Takes the sample inputs of torch's own operator tests (op_db in torch.testing) as modules of one operator each. The
expert writes a kernel for each (pragma-expert-source), which is built, called once and compared with the operator in
float64. A sample is solved, refused with a reason, wrong, or has no task: forward fails, draws random numbers, or
returns no tensor. Core ATen's operators are those that torch tags as such; the samples that count for one are those of
its own name and those whose exported graph holds it. Where such a sample is refused because of another operator of its
graph, which the reason names, it says nothing about this one and does not count; the page also says how many operators
are solved if it does. The script continues where --rows stopped, and writes docs/results/coverage.md.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import time
from typing import Any

import benchlib

SAMPLES = benchlib.ROOT / "bench" / "operator_samples.py"
OPERATOR_SECONDS = 900
ORDER = ["wrong", "solved", "partly solved", "left to Torch", "only beside others", "no task", "no samples"]
Row = dict[str, Any]

CORE = """import torch
for name in sorted(dir(torch.ops.aten)):
    packet = getattr(torch.ops.aten, name)
    overloads = getattr(packet, "overloads", None)
    if overloads and any(torch.Tag.core in getattr(packet, o).tags for o in overloads()):
        print(name)
"""


def run_python(options: argparse.Namespace, *arguments: str) -> list[str]:
    done = subprocess.run([options.python, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def judge(name: str, aten: str, options: argparse.Namespace) -> Row:
    """Runs all samples of one operator in a process of its own, which a kernel or Torch may end."""
    started = time.monotonic()
    command = [options.python, str(SAMPLES), name, "--pragma-python", str(benchlib.ROOT / "python"),
               "--writer", str(benchlib.program(options.build, "pragma-expert-source")), "--samples", str(options.samples)]
    ended = ""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=OPERATOR_SECONDS,
                              env={**os.environ, "OMP_NUM_THREADS": "2"})
        said = done.stdout
        if done.returncode != 0:
            ended = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
    except subprocess.TimeoutExpired as error:
        said = (error.stdout or b"").decode()
        ended = f"not done in {OPERATOR_SECONDS} s"
    samples = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    return {"operator": name, "aten": aten, "samples": samples, "ended": ended, "seconds": round(time.monotonic() - started, 1)}


def run(options: argparse.Namespace) -> None:
    known = {row["operator"] for row in benchlib.read_rows(options.rows)}
    listed = [line.split(" ") for line in run_python(options, str(SAMPLES))]
    core = set(run_python(options, "-c", CORE))
    left = [(name, aten) for name, aten in listed if name not in known and (not options.only or options.only in name)]
    left.sort(key=lambda pair: pair[1] not in core)  # what Core ATen has comes first
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda pair: judge(pair[0], pair[1], options) if not late(options, started) else None, left):
            if row is None:
                continue
            with options.rows.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
            benchlib.say(f"{row['operator']}: {verdict(row['samples'])} {row['ended']}")


def late(options: argparse.Namespace, started: float) -> bool:
    return 0 < options.seconds < time.monotonic() - started


def verdict(samples: list[Row]) -> str:
    outcomes = collections.Counter(sample["outcome"] for sample in samples)
    if outcomes["wrong"]:
        return "wrong"
    tasks = len(samples) - outcomes["no task"]
    if tasks == 0:
        return "no task" if samples else "no samples"
    if outcomes["solved"] == tasks:
        return "solved"
    return "partly solved" if outcomes["solved"] else "left to Torch"


def why(samples: list[Row]) -> str:
    """Returns the most frequent reason of those that count most."""
    for outcome in ("wrong", "refused", "no graph", "not checked", "no task"):
        reasons = collections.Counter(s["why"] for s in samples if s["outcome"] == outcome)
        if reasons:
            return reasons.most_common(1)[0][0]
    return ""


def counted(samples: list[Row]) -> str:
    solved = sum(sample["outcome"] == "solved" for sample in samples)
    return f"{solved} of {sum(sample['outcome'] != 'no task' for sample in samples)}"


def core_samples(core: list[str], rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {name: [] for name in core}
    for row in rows:
        for sample in row["samples"]:
            names = {row["aten"], *(op.split(".")[1] for op in sample["graph"] if op.count(".") >= 1)}
            for name in names & found.keys():
                found[name].append(sample)
    return found


def names_another(sample: Row, name: str) -> bool:
    """Returns whether a sample is refused because of operators of which this is none."""
    named = re.findall(r"\b\w+\.(\w+)\.\w+", sample["why"])  # "aten.mm.default"
    return sample["outcome"] == "refused" and bool(named) and name not in named


def own_verdict(name: str, samples: list[Row]) -> str:
    own = [sample for sample in samples if not names_another(sample, name)]
    return "only beside others" if samples and not own else verdict(own)


def core_line(name: str, samples: list[Row]) -> list[Any]:
    own = [sample for sample in samples if not names_another(sample, name)]
    return [name, own_verdict(name, samples), counted(own), len(samples) - len(own), why(own)]


def totals(verdicts: list[str]) -> str:
    counts = collections.Counter(verdicts)
    return ", ".join(f"{counts[kind]} {kind}" for kind in ORDER if counts[kind])


def page(options: argparse.Namespace) -> None:
    rows = sorted(benchlib.read_rows(options.rows), key=lambda row: row["operator"])
    core = core_samples(run_python(options, "-c", CORE), rows)
    samples = [sample for row in rows for sample in row["samples"]]
    benchlib.write_result(
        options.out, "Torch's operators and the built-in expert", benchlib.command_line(),
        [f"At most {options.samples} samples of an operator, evenly from all that differ." if options.samples else "All samples.",
         f"- Core ATen: {len(core)} operators: {totals([own_verdict(name, found) for name, found in core.items()])}.",
         f"- Core ATen, if samples count that another operator holds up: {totals([verdict(found) for found in core.values()])}.",
         f"- op_db: {len(rows)} operators: {totals([verdict(row['samples']) for row in rows])}.",
         f"- {len(samples)} samples: " + ", ".join(f"{n} {kind}" for kind, n in collections.Counter(s["outcome"] for s in samples).most_common()) + ".",
         "## Core ATen\n",
         benchlib.table(["operator", "verdict", "samples solved", "held up by others", "reason"],
                        [core_line(name, found) for name, found in core.items()]),
         "\n## op_db\n",
         benchlib.table(["operator", "verdict", "samples solved", "reason"],
                        [[row["operator"], verdict(row["samples"]), counted(row["samples"]), row["ended"] or why(row["samples"])] for row in rows])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "coverage.md")
    parser.add_argument("--samples", type=int, default=8, help="at most so many of an operator (0: all)")
    parser.add_argument("--only", default="", help="only operators whose name contains this")
    parser.add_argument("--rows", type=pathlib.Path, default=pathlib.Path("operators.jsonl"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0, help="begin no operator after this time (0: no limit)")
    parser.add_argument("--python", default=str(benchlib.ROOT / ".venv" / "bin" / "python"))
    parser.add_argument("--summary", action="store_true", help="only write the page")
    options = parser.parse_args()
    if not options.summary:
        run(options)
    page(options)


if __name__ == "__main__":
    main()
