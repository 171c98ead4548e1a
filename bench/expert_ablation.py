#!/usr/bin/env python3
"""What the expert's diagnosis and the tuner are worth, at equal attempts.

    bench/expert_ablation.py --rows ROWS [--count 18] [--attempts 6]    runs what has no row yet
    bench/expert_ablation.py --summary ROWS                             writes docs/results/expert-ablation.md

Tasks are drawn from tasks/, from every category in turn, by --seed. Each is searched three times from scratch, in a
random order: with the unchanged expert; without profiles, so that its Conductor knows only the roofline; and with the
tuner after each attempt's checks. The final measurements of the best, in fresh processes, are compared. If two searches
end with the same kernel, their ratio is 1 by definition, whatever was measured.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import tempfile
import time
from typing import Any

import benchlib
from expert_suite import of, without_profile

VARIANTS = ("plain", "no diagnosis", "tuner")
# Each comparison is the variant with the part over the variant without it.
QUESTIONS = (("diagnosis on against off", "plain", "no diagnosis"), ("tuner on against off", "tuner", "plain"))


def draw(count: int, rng: random.Random) -> list[pathlib.Path]:
    """Draws tasks from each category in turn."""
    folders = [sorted(folder.glob("*.py")) for folder in sorted((benchlib.ROOT / "tasks").iterdir()) if folder.is_dir()]
    for tasks in folders:
        rng.shuffle(tasks)
    turns = [tasks[i] for i in range(max(map(len, folders))) for tasks in folders if i < len(tasks)]
    return turns[:count]


def search(task: pathlib.Path, variant: str, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(benchlib.program(options.build, "pragma")), "optimize", str(task), "--json", "--no-seeds", "--no-call",
                   "--no-compile-baseline", "--attempts", str(options.attempts), "--home", f"{options.home}/{variant}"]
        if variant == "no diagnosis":
            command += ["--strategy", str(without_profile(pathlib.Path(scratch)))]
        if variant == "tuner":
            command += ["--tune", options.tune]
        started = time.monotonic()
        reply, done = benchlib.search(command)
    row: dict[str, Any] = {"task": task.stem, "variant": variant, "seconds": round(time.monotonic() - started, 1)}
    if reply is None:
        return row | {"status": "error", "reason": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    best = reply.get("best") or {}
    return row | {
        "status": best.get("status", "none"), "attempts": reply.get("attempts"), "kernel": of(best, "candidate", "id"),
        "speedup": of(best, "speedup", "eager", "median"), "ci95": of(best, "speedup", "eager", "ci95"),
    }


def run(options: argparse.Namespace) -> None:
    rng = random.Random(options.seed)
    known = {(row["task"], row["variant"]) for row in benchlib.read_rows(options.rows)}
    for task in draw(options.count, rng):
        for variant in rng.sample(VARIANTS, len(VARIANTS)):
            if (task.stem, variant) in known:
                continue
            row = search(task, variant, options)
            with options.rows.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
            benchlib.say(f"{row['task']}, {variant}: {row['status']}, {row.get('speedup') or 0:.2f}, {row['seconds']:.0f} s")


def ratio(rows: dict[tuple[str, str], dict[str, Any]], task: str, upper: str, lower: str) -> float | None:
    a, b = rows.get((task, upper)), rows.get((task, lower))
    if not a or not b or not a.get("speedup") or not b.get("speedup"):
        return None
    return 1.0 if a["kernel"] == b["kernel"] else a["speedup"] / b["speedup"]


def page(options: argparse.Namespace) -> None:
    found = benchlib.read_rows(options.summary)
    rows = {(row["task"], row["variant"]): row for row in found}
    tasks = sorted({row["task"] for row in found})
    rng = random.Random(1)
    answers = []
    for question, upper, lower in QUESTIONS:
        ratios = [r for task in tasks if (r := ratio(rows, task, upper, lower)) is not None]
        same = sum(r == 1.0 for r in ratios)
        faster = sum(r > 1.03 for r in ratios)
        slower = sum(r < 0.97 for r in ratios)
        answers.append([question, len(ratios), benchlib.geomean_in_words(ratios, rng), same, faster, slower])
    header = ["", "tasks", "geometric mean of the ratio (95 %)", "same kernel", "faster by 3 %", "slower by 3 %"]
    details = [[task, *(cell(rows.get((task, variant))) for variant in VARIANTS)] for task in tasks]
    benchlib.write_result(
        options.out, "What diagnosis and tuner are worth to the expert", benchlib.command_line(),
        ["Searches of equal attempts from nothing; the ratio is of the final measurements over eager. Interval: bootstrap over tasks.",
         benchlib.table(header, answers), "## Tasks",
         "Speedup over the faster eager (95 %), attempts, seconds of the whole search.",
         benchlib.table(["task", *VARIANTS], details)])


def cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    if not row.get("speedup"):
        return row["status"]
    low, high = row["ci95"]
    return f"{row['speedup']:.2f} ({low:.2f} to {high:.2f}), {row['attempts']}, {row['seconds']:.0f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "expert-ablation.md")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--summary", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=18, help="tasks")
    parser.add_argument("--attempts", type=int, default=6)
    parser.add_argument("--tune", default="15s", help="for each attempt's tuner")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--home", default=".pragma-ablation")
    options = parser.parse_args()
    if options.summary:
        return page(options)
    if not options.rows:
        parser.error("--rows or --summary is needed")
    return run(options)


if __name__ == "__main__":
    main()
