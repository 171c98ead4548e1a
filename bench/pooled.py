#!/usr/bin/env python3
"""Combines several results of `pragma bench --json` over different tasks: all strategies in one table, paired.

  pooled.py FILE.json... [--over n-pragma] [--out FILE]

A task without a kernel counts as 1 where the table says so, because its user then runs eager. Intervals are
bootstrapped over tasks.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import pathlib
import random

import benchlib


def speedups(files):
    """Returns [task][strategy] -> speedup over eager, or None if no kernel passed."""
    found: dict[str, dict[str, float | None]] = collections.defaultdict(dict)
    for file in files:
        for row in json.loads(file.read_text(encoding="utf-8"))["tasks"]:
            if row["strategy"] in found[row["task"]]:
                benchlib.fail(f"{file}: {row['task']}, {row['strategy']} is in two rows")
            eager = ((row["best"] or {}).get("speedup") or {}).get("eager")
            found[row["task"]][row["strategy"]] = eager["median"] if row["passed"] and eager else None
    return found


def row_of(strategy, tasks, over, rng):
    values = [task[strategy] for task in tasks]
    solved = list(filter(None, values))
    logs = [math.log((task[strategy] or 1) / (task[over] or 1)) for task in tasks]
    low, high = benchlib.bootstrap(logs, rng)
    paired = "1" if strategy == over else f"{math.exp(sum(logs) / len(logs)):.2f} ({low:.2f} to {high:.2f})"
    return [strategy, len(solved), sum(value > 1 for value in solved), f"{benchlib.geomean(solved):.2f}",
            f"{benchlib.geomean([value or 1 for value in values]):.2f}", paired]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "strategies/expert.md")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--over", default="n-pragma")
    options = parser.parse_args()
    found = speedups(options.files)
    strategies = list(next(iter(found.values())))
    short = [task for task, row in found.items() if set(row) != set(strategies)]
    if short or options.over not in strategies:
        benchlib.fail(f"{', '.join(short) or options.over}: not every strategy has a row")
    rng = random.Random(1)
    rows = [row_of(strategy, list(found.values()), options.over, rng) for strategy in strategies]
    benchlib.write_result(options.out, "Strategies over several lists of tasks", benchlib.command_line(), [
        f"{len(found)} tasks of {', '.join(file.name for file in options.files)}.",
        benchlib.table(["strategy", "solved", "faster than eager", "geometric mean, solved", "failures as 1",
                        f"over {options.over}, paired, failures as 1"], rows)])


if __name__ == "__main__":
    main()
