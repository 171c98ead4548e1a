#!/usr/bin/env python3
"""STARK's first hop: the planner marks the PyTorch module, or an empty kernel. Times the first kernels in pairs.

Reads recordings/first-hop/TASK.{module,skeleton}.jsonl, which hold one attempt each with a real model. The two kernels
of a task are judged and timed against each other with `pragma evaluate --against`. Writes docs/results/first-hop.md.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import benchlib

from recordings import Judge, Run, ratio, verdict

FOLDER = benchlib.ROOT / "recordings" / "first-hop"
WAYS = ("module", "skeleton")


def read_pairs(folder):
    runs = {run.path.name.removesuffix(".jsonl"): run for run in map(Run, sorted(folder.glob("*.jsonl")))}
    tasks = sorted({run.task for run in runs.values()})
    return {task: [runs.get(f"{task}.{way}") for way in WAYS] for task in tasks}


def status(run):
    return run.trials[0]["evaluation"]["status"] if run else "-"


def compare(judge, module, skeleton):
    """Returns the time of the module's first kernel over that of the skeleton's, or None if one did not pass."""
    if not (module and skeleton and module.first and skeleton.first):
        return None
    result = judge.evaluate(skeleton, skeleton.first, (module, module.first))
    return (result.get("speedup") or {}).get("best")


def summary(pairs):
    both = [pair for pair in pairs if pair]
    if not both:
        return "No pair of kernels that both passed."
    verdicts = list(map(verdict, both))
    mean = benchlib.geomean([pair["median"] for pair in both])
    return (f"Over {len(both)} tasks, geometric mean: {mean:.2f} (above 1 the skeleton's kernel is "
            f"faster); faster {verdicts.count('faster')}, same {verdicts.count('same')}, slower {verdicts.count('slower')}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    benchlib.add_common(parser, "first-hop.md")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--home", default=".pragma")
    options = parser.parse_args()
    found = read_pairs(options.folder)
    if not found:
        benchlib.fail(f"{options.folder} has no recordings")
    rows, pairs = [], []
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(benchlib.program(options.build, "pragma"), options.home, pathlib.Path(folder))
        for task, (module, skeleton) in found.items():
            pairs.append(compare(judge, module, skeleton))
            benchlib.say(f"{task}: {ratio(pairs[-1])}")
            rows.append([task, status(module), status(skeleton), ratio(pairs[-1]), verdict(pairs[-1])])
    benchlib.write_result(options.out, "STARK's first hop", benchlib.command_line(), [
        "The planner marks a block of the PyTorch module (`first_hop = \"module\"`, the paper's letter) or of an empty kernel "
        "(`\"skeleton\"`); the coder writes the first kernel. Same preset, prompts and model otherwise; a real language model "
        "that saw nothing but the prompts, one attempt for each task and way (recordings/first-hop/README.md).",
        benchlib.table(["task", "module", "skeleton", "skeleton over module", "it is"], rows),
        summary(pairs)])


if __name__ == "__main__":
    main()
