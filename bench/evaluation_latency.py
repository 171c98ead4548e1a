#!/usr/bin/env python3
"""How long one evaluation takes with a warm reference, for tasks of the suite and large tasks.

It covers every task of the suite that has a plain kernel in bench/suite_kernels/, and the tasks of usual sizes in
bench/large_tasks/. `pragma evaluate --repeat N` keeps the reference between repetitions. The time of one evaluation is
the build of the first repetition (the kernel gets a comment of its own, so nothing is cached) plus the median of the
other phases over the later repetitions. It is timed against eager, as is every attempt of a run. torch.compile is
measured only with the first kernel that passes and with the final best.

There are three classes of tasks: one input set below 16 MiB and eager below 5 ms (aim: median at most 2.5 s in strict
mode), below 64 MiB and 50 ms (aim: 6.4 s), and the rest (no aim). If a verdict left something out for lack of time,
that is named.
"""

import argparse
import json
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

import benchlib

CLASSES = [("below 16 MiB and 5 ms", 16, 5, 2.5), ("below 64 MiB and 50 ms", 64, 50, 6.4),
           ("larger", float("inf"), float("inf"), None)]

SIZES = """
import json, pathlib, sys
sys.path.insert(0, "bench")
import suite_tasks
for name in sys.argv[1:]:
    size = suite_tasks.mebibytes(suite_tasks.draw(suite_tasks.load(pathlib.Path(name)), 42))
    print(json.dumps([name, size]), flush=True)
"""


def pairs(pattern):
    kernels = benchlib.ROOT / "bench" / "suite_kernels"
    large = sorted((benchlib.ROOT / "bench" / "large_tasks").glob("*.py"))
    for task in [*sorted((benchlib.ROOT / "tasks").glob("**/*.py")), *large]:
        kernel = task.with_suffix(".cpp") if task in large else kernels / f"{task.stem}.cpp"
        if kernel.exists() and pattern in str(task.relative_to(benchlib.ROOT)):
            yield task, kernel


def sizes(tasks):
    """Returns the MiB of one input set of each task (inputs, parameters, outputs), drawn with torch."""
    done = subprocess.run([str(benchlib.ROOT / ".venv/bin/python"), "-c", SIZES, *map(str, tasks)],
                          cwd=benchlib.ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        benchlib.fail(f"cannot draw the tasks: {done.stderr.strip()}")
    return dict(json.loads(line) for line in done.stdout.splitlines())


def evaluate(pragma, task, kernel, folder, repeat):
    """Returns the evaluate object and the wall seconds. Returns None and the reason if pragma printed none."""
    copy = folder / "kernel.cpp"
    text = kernel.read_text(encoding="utf-8")
    copy.write_text(f"{text}\n// {secrets.token_hex(8)}\n", encoding="utf-8")
    start = time.monotonic()
    done = subprocess.run([str(pragma), "evaluate", str(task), str(copy), "--json", "--home",
                           str(folder / "home"), "--repeat", str(repeat), "--no-compile-baseline"],
                          capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    try:
        value = benchlib.last_json(done.stdout, "pragma evaluate")
    except ValueError:
        value = {"status": f"exit {done.returncode}", "reason": done.stderr.strip()[-300:]}
    return value, wall


def row(task, value, mebibytes):
    """Returns the figures of one task, or None if it did not pass in every repetition."""
    runs = value.get("runs", [])
    if len(runs) < 2 or any(run["status"] != "passed" for run in runs):
        return None
    build = runs[0]["phases_ms"].get("build", 0.0)
    rest = [sum(ms for name, ms in run["phases_ms"].items() if name != "build") for run in runs[1:]]
    last = runs[-1]["phases_ms"]
    eager = benchlib.median([run["baseline"]["eager"]["median_ms"] for run in runs])
    left_out = sorted({name for run in runs for name in run.get("partly_checked", [])})
    return {"task": f"{task.parent.name}/{task.name}", "left_out": left_out, "mib": mebibytes, "eager": eager,
            "build": build, "total": (build + benchlib.median(rest)) / 1e3,
            "phases": {name: last[name] for name in last if name != "build"}}


def class_of(figures):
    for name, mib, ms, _ in CLASSES:
        if figures["mib"] < mib and figures["eager"] < ms:
            return name
    return CLASSES[-1][0]


def summary(rows):
    lines, good = [], True
    for name, _, _, aim in CLASSES:
        totals = [r["total"] for r in rows if class_of(r) == name]
        if not totals:
            continue
        middle = benchlib.median(totals)
        reached = aim is None or middle <= aim
        good = good and reached
        verdict = "-" if aim is None else f"{aim:g} s: {'reached' if reached else 'NOT reached'}"
        lines.append([name, len(totals), f"{middle:.2f} s", f"{max(totals):.2f} s", verdict])
    return benchlib.table(["class", "tasks", "median", "slowest", "aim for the median"], lines), good


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="tasks whose path contains this")
    parser.add_argument("--repeat", type=int, default=3, help="evaluations of each, at least 2 (3)")
    benchlib.add_common(parser, "evaluation-latency.md")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    chosen = list(pairs(options.only))
    if not chosen or options.repeat < 2:
        benchlib.fail("nothing to measure: no such task with a kernel, or --repeat below 2")
    benchlib.say(f"{len(chosen)} tasks; drawing each once for its size")
    mebibytes = sizes([task for task, _ in chosen])
    rows, failed = [], []
    with tempfile.TemporaryDirectory() as name:
        for i, (task, kernel) in enumerate(chosen, 1):
            value, wall = evaluate(pragma, task, kernel, pathlib.Path(name), options.repeat)
            figures = row(task, value, mebibytes[str(task)])
            if figures is None:
                failed.append([task.stem, value.get("status"), str(value.get("reason", ""))[:120]])
                benchlib.say(f"[{i}/{len(chosen)}] {task.stem}: {value.get('status')}")
                continue
            rows.append(figures)
            benchlib.say(f"[{i}/{len(chosen)}] {task.stem}: {figures['total']:.2f} s "
                         f"({wall:.1f} s for {options.repeat} with the start)")
    if not rows:
        benchlib.fail(f"no task passed: {failed[:3]}")
    table, good = summary(rows)
    names = sorted({name for r in rows for name in r["phases"]})
    detail = benchlib.table(
        ["task", "one set", "eager", "build", *names, "one evaluation"],
        [[r["task"], f"{r['mib']:.2f} MiB", f"{r['eager']:.3g} ms", f"{r['build']:.0f} ms",
          *(f"{r['phases'].get(name, 0):.0f} ms" for name in names), f"{r['total']:.2f} s"]
         for r in sorted(rows, key=lambda r: r["total"])])
    partly = [f"{r['task']} ({', '.join(r['left_out'])})" for r in rows if r["left_out"]]
    parts = [table, "Batteries left out for want of time: " + ("; ".join(partly) or "none") + ".", detail]
    if failed:
        parts.append("Not measured:\n\n" + benchlib.table(["task", "status", "reason"], failed))
    benchlib.write_result(options.out, "One evaluation with a warm reference",
                          benchlib.command_line(), parts)
    return 0 if good and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
