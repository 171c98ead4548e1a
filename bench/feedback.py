#!/usr/bin/env python3
"""Does profile feedback help? Compares recorded runs of `pragma` and `n-pragma`, which differ only in that.

Reads recordings/feedback/TASK.STRATEGY.N.jsonl (written by `pragma export RUN --recording`) and counts the outcomes of
their attempts. Then it times the best kernel of each `pragma` run against that of the `n-pragma` run of the same task
and number on this machine: `pragma evaluate --against`, in pairs. Speedups over eager are measured anew too, because
the recorded ones were measured while other runs waited for their models. Writes docs/results/feedback.md.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import tempfile

import benchlib

from recordings import Judge, Run, ratio, verdict

FOLDER = benchlib.ROOT / "recordings" / "feedback"
STRATEGIES = ("pragma", "n-pragma")


def read_runs(folder):
    runs: dict[tuple[str, str], dict[str, Run]] = collections.defaultdict(dict)
    for path in sorted(folder.glob("*.jsonl")):
        run = Run(path)
        runs[(run.task, run.number)][run.strategy] = run
    return {key: pair for key, pair in runs.items() if set(pair) == set(STRATEGIES)}


def rows_of(runs, options):
    attempts, kernels = [], []
    with tempfile.TemporaryDirectory() as temporary:
        judge = Judge(options.program, options.home, pathlib.Path(temporary))
        for (task, number), pair in runs.items():
            for strategy in STRATEGIES:
                run = pair[strategy]
                curve = " / ".join(f"{run.eager_after(n):.1f}" for n in (1, 2, 4, len(run.trials)))
                attempts.append([task, number, strategy, len(run.trials), run.came_to, curve,
                                 f"{run.prompt_bytes / 1024:.0f}"])
            ours, theirs = (pair[strategy] for strategy in STRATEGIES)
            if not (ours.best and theirs.best):
                kernels.append([task, number, "-", "-", "-", "one of both has no kernel"])
                continue
            first = judge.evaluate(ours, ours.best, (theirs, theirs.best))
            second = judge.evaluate(theirs, theirs.best, (ours, ours.best))
            against = (first.get("speedup") or {}).get("best")
            kernels.append([task, number, ratio((first.get("speedup") or {}).get("eager")),
                            ratio((second.get("speedup") or {}).get("eager")), ratio(against),
                            verdict(against)])
            benchlib.say(f"{task} {number}: {kernels[-1][2:]}")
    return attempts, kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    benchlib.add_common(parser, "feedback.md")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--home", default=".pragma")
    options = parser.parse_args()
    options.program = benchlib.program(options.build, "pragma")
    runs = read_runs(options.folder)
    if not runs:
        benchlib.fail(f"{options.folder} has no pair of runs")
    attempts, kernels = rows_of(runs, options)
    came = collections.Counter(row[5] for row in kernels)
    benchlib.write_result(options.out, "Does profile feedback help?", benchlib.command_line(), [
        "Recorded runs with a real language model that saw nothing but the prompts (`handoff`). `pragma` and `n-pragma` "
        "differ in profile, diagnosis and what belongs to them, in nothing else.",
        "- Best kernel of `pragma` against that of `n-pragma`: " +
        ", ".join(f"{came[word]} {word}" for word in ("faster", "same", "slower") if came[word]) + ".",
        "Measured anew, in pairs (median and 95 % interval):",
        benchlib.table(["task", "run", "pragma over eager", "n-pragma over eager", "pragma over n-pragma", "pragma is"],
                       kernels),
        "As recorded. Speedup over eager: of the best after 1 / 2 / 4 / all attempts.",
        benchlib.table(["task", "run", "strategy", "attempts", "what they came to", "speedup over eager",
                        "Conductor's prompt, KiB"], attempts),
    ])


if __name__ == "__main__":
    main()
