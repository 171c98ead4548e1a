#!/usr/bin/env python3
"""Modules that the expert was not written for: is any of its kernels wrong?

    bench/expert_generality.py [--count 60] [--seed 1] [--rows ROWS]

Draws modules (tests/expert/random_modules.py: chains of operators over odd, prime and size-1 shapes), and a few with
reductions over nothing. The expert writes a kernel for each (pragma-expert-source). Every check of the strict mode
judges it on secret inputs, without timing. A module passes, is refused with the operator named, or is a defect. The
script continues where --rows stopped, and writes docs/results/expert-generality.md. Give a seed that was never used, so
that the modules are new.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from typing import Any

import benchlib

sys.path.insert(0, str(benchlib.ROOT / "tests" / "expert"))
import random_modules  # noqa: E402

EMPTY = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return {result}


def get_inputs():
    return [torch.randn({shape})]


def get_init_inputs():
    return []
"""
EMPTY_REDUCTIONS = {
    "empty_sum": ("x.sum(dim=1)", "4, 0"), "empty_mean": ("x.narrow(1, 0, 0).mean(dim=1) + 1", "4, 5"),
    "empty_maximum": ("x.amax(dim=1)", "4, 0"), "empty_product": ("torch.matmul(x, x.t())", "4, 0"),
}


def write_modules(folder: pathlib.Path, options: argparse.Namespace) -> list[pathlib.Path]:
    texts = {f"{i + 1}_random": random_modules.draw(options.seed * 100_000 + i) for i in range(options.count)}
    texts |= {name: EMPTY.format(result=result, shape=shape) for name, (result, shape) in EMPTY_REDUCTIONS.items()}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return [folder / f"{name}.py" for name in texts]


def operators(task: pathlib.Path) -> str:
    body = task.read_text(encoding="utf-8").split("def forward")[1].split("return x")[0]
    found = re.findall(r"(?:torch|F|nn)\.(\w+)\(|x\.(\w+)\(", body + task.read_text(encoding="utf-8").split("def forward")[0])
    names = [a or b for a, b in found if (a or b) not in ("Module", "randn")]
    return ", ".join(dict.fromkeys(names))


def judge(task: pathlib.Path, folder: pathlib.Path, options: argparse.Namespace) -> dict[str, Any]:
    started = time.monotonic()
    row: dict[str, Any] = {"task": task.stem, "operators": operators(task)}
    source = benchlib.program(options.build, "pragma-expert-source")
    wrote = subprocess.run([str(source), options.python, str(folder), str(task)], capture_output=True, text=True, check=False)
    kernel = folder / task.stem / "kernel.cpp"
    if not kernel.exists():
        said = (wrote.stdout + wrote.stderr).strip().splitlines()[-1:]
        return row | {"status": "refused", "reason": (said or ["no output"])[0].removeprefix(task.stem + ": ")}
    program = benchlib.program(options.build, "pragma")
    done = subprocess.run([str(program), "evaluate", str(task), str(kernel), "--no-timing", "--no-serve", "--json", "--home", options.home],
                          capture_output=True, text=True, check=False)
    try:
        found = benchlib.last_json(done.stdout, "pragma evaluate")
    except ValueError:
        return row | {"status": "error", "reason": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return row | {"status": found["status"], "reason": found.get("reason") or "", "lint": found["task"].get("lint"),
                  "error": (found.get("error") or {}).get("rel_l2"), "seconds": round(time.monotonic() - started, 1)}


def run(options: argparse.Namespace, folder: pathlib.Path) -> None:
    known = {row["task"] for row in benchlib.read_rows(options.rows)}
    left = [task for task in write_modules(folder, options) if task.stem not in known]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda task: judge(task, folder / "kernels", options), left):
            with options.rows.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
            benchlib.say(f"{row['task']}: {row['status']} {row.get('reason') or ''}")


def page(options: argparse.Namespace) -> None:
    rows = benchlib.read_rows(options.rows)
    counts = collections.Counter(row["status"] for row in rows)
    benchlib.write_result(
        options.out, f"The built-in expert on {len(rows)} modules that it was not written for", benchlib.command_line(),
        ["; ".join(f"{count} {status}" for status, count in counts.most_common()) + ". Strict mode, checks only.",
         benchlib.table(["module", "operators", "verdict", "rel. L2 error", "reason"],
                        [[row["task"], row["operators"], row["status"], f"{row['error']:.1e}" if row.get("error") else "",
                          row.get("reason") or ""] for row in rows])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "expert-generality.md")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=pathlib.Path, default=pathlib.Path("expert_generality.jsonl"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--python", default=str(benchlib.ROOT / ".venv" / "bin" / "python"))
    parser.add_argument("--home", default=".pragma")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(options, pathlib.Path(folder))
    page(options)


if __name__ == "__main__":
    main()
