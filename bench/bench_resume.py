#!/usr/bin/env python3
"""kill -9 a benchmark with several jobs at random moments: does it end as if nothing had happened?

`pragma bench` on a small suite with a scripted model (real builds, checks and timings) runs once undisturbed. Then the
same command is started in a fresh home, killed at a random moment, started again and killed again, until it ends by
itself. New homes follow until the wanted number of kills has hit a running benchmark. Each finished benchmark must have
the same table as the undisturbed one: task, strategy, state, attempts, why it stopped, lint, category, and the
signature of the search tree (nodes, parents, roles, candidates, statuses, which were best). Times are not compared,
because no two measurements are equal.

The model logs each call before it answers. After a kill, calls that were asked but are not in the store are lost: at
most one for each job. At the end the number of calls asked must equal the number of calls in the store plus the lost
ones. Then no committed call was asked again, and nothing was paid for twice.

The script looks for processes and shared memory left behind by a kill, as kill_resume.py does.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import benchlib
import kill_resume

E2E = benchlib.ROOT / "tests" / "e2e"
KERNELS = {1: "compile_error", 2: "wrong", 3: "good"}  # by attempt
UNTIMED = {1: "compile_error", 2: "wrong", 3: "last_row_missing"}
STRATEGIES = "n-pragma,caesar"
COMPARED = ("task", "strategy", "repeat", "state", "attempts", "stopped", "lint", "category", "signature", "problem")


def make_suite(folder, tasks):
    """Makes the given number of tasks of the same shape, each with its own text, and one without a Model."""
    folder.mkdir()
    source = (E2E / "tasks" / "scale.py").read_text(encoding="utf-8")
    for number in range(1, tasks + 1):
        (folder / f"{number}_scale.py").write_text(f"{source}\n# number {number}\n", encoding="utf-8")
    shutil.copy(E2E / "tasks" / "no_model.py", folder / f"{tasks + 1}_no_model.py")


def make_model(folder, kernels):
    """Writes replies by role and attempt, for tests/e2e/scripted_model.sh."""
    folder.mkdir()
    for node, kernel in kernels.items():
        text = (E2E / "kernels" / f"{kernel}.cpp").read_text(encoding="utf-8")
        (folder / f"coder-{node}.md").write_text(f"```cpp\n{text}```\n", encoding="utf-8")
        decision = {"base": "current", "bottleneck": "memory", "evidence": "scripted", "change": f"attempt {node}",
                    "stop": False}
        (folder / f"conductor-{node}.md").write_text(f"```json\n{json.dumps(decision)}\n```\n", encoding="utf-8")
    (folder / "asked").write_text("")


class Benchmark:
    """The benchmark's command, its home and its model's log."""

    def __init__(self, pragma, folder, options):
        self.folder, self.home, self.model = folder, folder / "home", folder / "model"
        make_suite(folder / "suite", options.tasks)
        make_model(self.model, UNTIMED if options.untimed else KERNELS)
        spec = f"command:sh {E2E / 'scripted_model.sh'} {self.model}"
        self.command = [pragma, "bench", folder / "suite", "--model", spec, "--strategy", STRATEGIES,
                        "--budget", len(KERNELS), "--jobs", options.jobs, "--home", self.home,
                        "--no-compile-baseline", "--no-call", "--json"]
        # Machine figures are measured here once, so that kills do not always hit that measurement.
        self.measured = folder / "measured"
        subprocess.run([str(pragma), "evaluate", str(E2E / "tasks" / "scale.py"), str(E2E / "kernels" / "good.cpp"),
                        "--no-timing", "--home", str(self.measured)], check=True, capture_output=True)

    def fresh(self):
        shutil.rmtree(self.home, ignore_errors=True)
        shutil.copytree(self.measured, self.home)
        (self.model / "asked").write_text("")

    def asked(self):
        return len((self.model / "asked").read_text().split())

    def committed(self):
        rows = kill_resume.committed(self.home)
        return (0, 0) if rows is None else (len(rows["calls"]), rows["trials"])


def table_of(value):
    return [{key: row[key] for key in COMPARED} for row in value["tasks"]]


def finish(bench):
    code, value, last = kill_resume.finish(bench.command)
    if code != 0 or not value:
        benchlib.fail(f"the benchmark failed (exit {code}): {last}")
    return value


def undisturbed(bench):
    bench.fresh()
    begin = time.monotonic()
    value = finish(bench)
    seconds = time.monotonic() - begin
    calls, trials = bench.committed()
    if calls != bench.asked():
        benchlib.fail(f"undisturbed, {bench.asked()} calls were asked and {calls} are in the store")
    return {"table": table_of(value), "calls": calls, "trials": trials, "seconds": seconds}


class Killing:
    """Runs one benchmark at a time, and kills and resumes it until it ends."""

    def __init__(self, bench, expected, options, report):
        self.bench, self.expected, self.options, self.report = bench, expected, options, report
        self.kills, self.benchmarks, self.progress = 0, 0, []

    def run_one(self):
        self.bench.fresh()
        lost = 0
        while self.kills < self.options.kills:
            label = f"kill {self.kills + 1}"
            before = kill_resume.shared_memory()
            if not kill_resume.kill_after(self.bench.command, random.uniform(0, self.expected["seconds"])):
                break
            self.kills += 1
            kill_resume.check_left_behind(self.report, label, before)
            lost = self.check_lost(label, lost)
        self.check_end(lost)

    def check_lost(self, label, lost_before):
        calls, trials = self.bench.committed()
        lost = self.bench.asked() - calls
        if not lost_before <= lost <= lost_before + self.options.jobs:
            self.report.problem(f"{label}: {lost - lost_before} calls were lost with {self.options.jobs} jobs")
        self.progress.append(trials)
        benchlib.say(f"  {self.kills}/{self.options.kills} killed: {trials} of {self.expected['trials']} attempts, "
                     f"{calls} calls on disk")
        return lost

    def check_end(self, lost):
        table = table_of(finish(self.bench))
        self.benchmarks += 1
        label = f"benchmark {self.benchmarks}"
        for row, expected in zip(table, self.expected["table"]):
            if row != expected:
                self.report.problem(f"{label}: {row} instead of {expected}")
        if len(table) != len(self.expected["table"]):
            self.report.problem(f"{label}: {len(table)} rows instead of {len(self.expected['table'])}")
        calls, _ = self.bench.committed()
        if calls != self.expected["calls"]:
            self.report.problem(f"{label}: {calls} calls in the store instead of {self.expected['calls']}")
        if self.bench.asked() != calls + lost:
            self.report.problem(f"{label}: {self.bench.asked()} calls were asked, {calls} are in the store and {lost} "
                                "were lost: a committed one was asked again")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="of a running benchmark (20)")
    parser.add_argument("--jobs", type=int, default=4, help="of the benchmark (4)")
    parser.add_argument("--tasks", type=int, default=3, help="besides one that fails by itself (3)")
    parser.add_argument("--seed", type=int, default=None, help="seed of the moments (default: random, and printed)")
    parser.add_argument("--untimed", action="store_true", help="no kernel passes, so nothing is timed: on a busy machine")
    benchlib.add_common(parser, "bench-resume.md")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    random.seed(seed)
    kill_resume.become_reaper()
    report = kill_resume.Report()
    with tempfile.TemporaryDirectory() as name:
        bench = Benchmark(pragma, pathlib.Path(name), options)
        expected = undisturbed(bench)
        benchlib.say(f"undisturbed: {len(expected['table'])} rows, {expected['trials']} attempts, "
                     f"{expected['calls']} calls, {expected['seconds']:.1f} s")
        killing = Killing(bench, expected, options, report)
        while killing.kills < options.kills:
            killing.run_one()
    parts = [
        f"{options.tasks} tasks and one that fails by itself, strategies {STRATEGIES}, {len(KERNELS)} attempts each, "
        f"{options.jobs} jobs: {len(expected['table'])} rows, {expected['trials']} attempts, {expected['calls']} calls, "
        f"{expected['seconds']:.1f} s undisturbed; {'no kernel passes' if options.untimed else 'the last kernel passes'}. "
        f"{killing.kills} kills of a running benchmark in {killing.benchmarks} "
        f"benchmarks, each begun again until it ended; moments from seed {seed}.",
        "Compared, row by row: " + ", ".join(COMPARED) + ". Not compared: times and what follows from them.",
        benchlib.table(["when it was killed", "attempts on disk, of " + str(expected["trials"])],
                       [(f"kill {i + 1}", trials) for i, trials in enumerate(killing.progress)]),
        f"After a kill every process was gone after at most {max(report.waits) * 1e3:.0f} ms (median "
        f"{benchlib.median(report.waits) * 1e3:.0f} ms).",
        "Problems: none." if not report.problems else "Problems:\n\n" + "\n".join(f"- {text}" for text in report.problems),
    ]
    benchlib.write_result(options.out, "kill -9 and resume of a benchmark", benchlib.command_line(), parts)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
