#!/usr/bin/env python3
"""Compares six strategies with one real model: recorded runs whose kernels are timed anew on this machine.

Reads recordings/strategies/TASK.STRATEGY.jsonl (written by `pragma export RUN --recording`). Every kernel that passed
is judged and timed again with `pragma evaluate`. The fastest of each run is then timed against the fastest of the
task's `sampling` run, in pairs. The recorded figures were measured while other runs waited for their models. Writes
docs/results/strategies-model.md.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import tempfile

import benchlib

from recordings import Judge, Run, ratio, verdict

FOLDER = benchlib.ROOT / "recordings" / "strategies"
STRATEGIES = ("sampling", "caesar", "n-pragma", "pragma", "stark", "fusion")


def read_runs(folder):
    runs: dict[str, dict[str, Run]] = collections.defaultdict(dict)
    for path in sorted(folder.glob("*.jsonl")):
        run = Run(path)
        runs[run.task][run.strategy] = run
    return runs


def eager_of(result):
    return (result.get("speedup") or {}).get("eager")


class Remeasured:
    """A run whose kernels were all timed again. `trials` holds (trial, its speedup over eager) of those that pass."""

    def __init__(self, run, judge):
        self.run = run
        self.trials = []
        for trial in run.trials:
            if trial["evaluation"]["status"] != "passed":
                continue
            pair = eager_of(judge.evaluate(run, trial))
            benchlib.say(f"{run.task} {run.strategy} {trial['node']}: {ratio(pair)}")
            if pair:
                self.trials.append((trial, pair))

    @property
    def fastest(self):
        return max(self.trials, key=lambda one: one[1]["median"], default=(None, None))

    @property
    def chosen(self):
        """Returns what the run itself chose as its best."""
        best = self.run.best
        return next((pair for trial, pair in self.trials if best and trial["node"] == best["node"]), None)


def against(judge, ours, theirs):
    """Returns the paired ratio of two (run, trial)."""
    if not (ours[1] and theirs[1]):
        return None
    return (judge.evaluate(*ours, theirs).get("speedup") or {}).get("best")


def edits_of(run):
    edits = [trial["edit"] for trial in run.trials if trial["edit"]]
    return f"{sum(edit['inside'] for edit in edits)} of {len(edits)}" if edits else "-"


def measure(runs, judge):
    kernels, attempts, medians = [], [], collections.defaultdict(list)
    for task, strategies in runs.items():
        measured = {name: Remeasured(strategies[name], judge) for name in STRATEGIES if name in strategies}
        base = measured.get("sampling")
        for name, one in measured.items():
            trial, pair = one.fastest
            paired = None
            if base and name != "sampling":
                paired = against(judge, (one.run, trial), (base.run, base.fastest[0]))
            if pair:
                medians[name].append(pair["median"])
            kernels.append([task, name, ratio(pair), trial["node"] if trial else "-", ratio(one.chosen), ratio(paired),
                            verdict(paired)])
            attempts.append([task, name, one.run.came_to, edits_of(one.run),
                             sum(trial["spent"]["tokens_in"] for trial in one.run.trials),
                             sum(trial["spent"]["tokens_out"] for trial in one.run.trials)])
    return kernels, attempts, medians


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    benchlib.add_common(parser, "strategies-model.md")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--home", default=".pragma")
    options = parser.parse_args()
    runs = read_runs(options.folder)
    if not runs:
        benchlib.fail(f"{options.folder} has no recordings")
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(benchlib.program(options.build, "pragma"), options.home, pathlib.Path(folder))
        kernels, attempts, medians = measure(runs, judge)
    benchlib.write_result(options.out, "Six strategies with a real model", benchlib.command_line(), [
        "Recorded runs with a real language model that saw nothing but the prompts (`handoff`), five attempts each "
        "(recordings/strategies/README.md says how they came about). All kernels were timed anew. With one run for each "
        "task and strategy nothing here tells the strategies apart: a run with the same prompts would differ as much.",
        "Over the tasks, fastest kernel of each run over eager, geometric mean: " +
        ", ".join(f"{name} {benchlib.geomean(medians[name]):.2f} ({len(medians[name])} tasks)" for name in STRATEGIES) + ".",
        benchlib.table(["task", "strategy", "fastest over eager", "attempt", "the run's own choice", "fastest over that of sampling",
                        "it is"], kernels),
        "What the attempts came to, and how many of the improvements stayed inside the block that was marked:",
        benchlib.table(["task", "strategy", "attempts", "inside", "tokens in", "tokens out"], attempts),
    ])


if __name__ == "__main__":
    main()
