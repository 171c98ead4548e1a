#!/usr/bin/env python3
"""Does profile feedback help? Recorded runs of the strategies `pragma` and `n-pragma`, which differ in nothing else.

Reads recordings/feedback/TASK.STRATEGY.N.jsonl (written by `pragma export RUN --recording`), counts what their attempts
came to, and times the best kernel of each `pragma` run against that of the `n-pragma` run of the same task and number on
this machine: `pragma evaluate --against`, in pairs. Speedups over eager are measured anew too; what the runs recorded was
measured while other runs waited for their models. Writes docs/results/feedback.md.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import tempfile

import benchlib

FOLDER = benchlib.ROOT / "recordings" / "feedback"
STRATEGIES = ("pragma", "n-pragma")


class Run:
    """One recorded run."""

    def __init__(self, path):
        self.task, self.strategy, self.number = path.name.removesuffix(".jsonl").rsplit(".", 2)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        self.trials = [line["trial"] for line in lines if line["kind"] == "trial"]
        self.calls = [line for line in lines if line["kind"] == "call"]
        self.source = next(line for line in lines if line["kind"] == "run")["task"]["source"]
        self.path = path

    @property
    def best(self):
        found = [trial for trial in self.trials if trial["best"]]
        return found[-1] if found else None

    @property
    def statuses(self):
        return collections.Counter(trial["evaluation"]["status"] for trial in self.trials)

    def eager_after(self, attempts):
        """Speedup over eager, as recorded, of the best of the first attempts; 0: none passed."""
        found = [trial for trial in self.trials[:attempts] if trial["best"]]
        return found[-1]["evaluation"]["speedup"]["eager"]["median"] if found else 0

    @property
    def prompt_bytes(self):
        """Median size of the Conductor's prompts."""
        sizes = [sum(len(message["text"]) for message in call["messages"]) for call in self.calls
                 if call["role"] == "conductor"]
        return benchlib.median(sizes) if sizes else 0


def read_runs(folder):
    runs = collections.defaultdict(dict)
    for path in sorted(folder.glob("*.jsonl")):
        run = Run(path)
        runs[(run.task, run.number)][run.strategy] = run
    return {key: pair for key, pair in runs.items() if set(pair) == set(STRATEGIES)}


def evaluate(program, home, folder, run, other):
    """`evaluate --json` of the best of `run`, against the best of `other`."""
    task = folder / f"{run.task}.py"
    task.write_text(run.source, encoding="utf-8")
    files = []
    for one in (run, other):
        file = folder / f"{one.task}.{one.strategy}.cpp"
        candidate = one.best["candidate"]
        head = {"pragma-flags": " ".join(candidate["flags"]), "pragma-compiler": candidate["compiler"]}
        lines = [f"// {key}: {value}" for key, value in head.items()]
        source = [line for line in candidate["files"]["kernel.cpp"].splitlines() if not line.startswith("// pragma-")]
        file.write_text("\n".join(lines + source) + "\n", encoding="utf-8")
        files.append(file)
    command = [program, "evaluate", task, files[0], "--against", files[1], "--json",
               "--no-compile-baseline", "--home", home]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return benchlib.last_json(done.stdout, "evaluate")


def ratio(pair):
    return f"{pair['median']:.2f} ({pair['ci95'][0]:.2f} to {pair['ci95'][1]:.2f})" if pair else "-"


def verdict(pair):
    if not pair:
        return "-"
    low, high = pair["ci95"]
    return "faster" if low > 1 else "slower" if high < 1 else "same"


def rows_of(runs, options):
    attempts, kernels = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for (task, number), pair in runs.items():
            for strategy in STRATEGIES:
                run = pair[strategy]
                statuses = ", ".join(f"{count} {status}" for status, count in run.statuses.most_common())
                curve = " / ".join(f"{run.eager_after(n):.1f}" for n in (1, 2, 4, len(run.trials)))
                attempts.append([task, number, strategy, len(run.trials), statuses, curve,
                                 f"{run.prompt_bytes / 1024:.0f}"])
            ours, theirs = (pair[strategy] for strategy in STRATEGIES)
            if not (ours.best and theirs.best):
                kernels.append([task, number, "-", "-", "-", "one of both has no kernel"])
                continue
            first = evaluate(options.program, options.home, folder, ours, theirs)
            second = evaluate(options.program, options.home, folder, theirs, ours)
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
