#!/usr/bin/env python3
"""Runs the built-in expert over a folder of tasks. Each task is one row, so that a long run can be resumed.

  expert_suite.py --dir DIR --rows FILE                 every *.py in DIR (and its folders)
  expert_suite.py --dir DIR --rows FILE --ids 19,23-40  those whose names begin with these numbers
  expert_suite.py --dir DIR --rows FILE --target triton --once --compile --devices 0,1 --jobs 10 --stop-after 500
                                                        on GPUs: ten tasks at once, none started after 500 s
  expert_suite.py --summary FILE                        a summary of the rows
  expert_suite.py --summary FILE --out FILE.md          the same as a page, with every task

A row holds the task, status, speedup over the faster eager with its interval, speedup over torch.compile, attempts,
seconds, and the reason if there is no kernel. Tasks that have a row are skipped. Delete a row to measure its task
again.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import math
import random
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import benchlib

ROOT = Path(__file__).resolve().parent.parent


def number_of(stem: str) -> int:
    match = re.match(r"\d+", stem)
    return int(match.group()) if match else 0


def wanted(text: str) -> set[int]:
    """Parses "19,23-25" into {19, 23, 24, 25}."""
    ids: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        ids.update(range(int(first), int(last or first) + 1))
    return ids


def of(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def optimize(task: Path, args: argparse.Namespace) -> dict[str, Any]:
    command = [args.pragma, "optimize", str(task), "--model", "expert", "--json", "--no-call"]
    command += ["--attempts", str(args.attempts), "--time", f"{args.seconds}s", "--home", args.home]
    if args.strategy:
        command += ["--strategy", str(args.strategy)]
    if not args.compile:
        command.append("--no-compile-baseline")
    if args.compile_mode:
        command += ["--compile-mode", args.compile_mode]
    if args.target != "cpu":  # the lint computes on processors, and takes longer than everything else
        command += ["--target", args.target, "--no-lint"]
    if args.devices:
        command += ["--devices", args.devices]
    if args.threads:
        command += ["--threads", str(args.threads)]
    started = time.monotonic()
    reply, done = benchlib.search(command, args.task_limit)
    row: dict[str, Any] = {"task": task.stem, "seconds": round(time.monotonic() - started, 1)}
    if args.set:
        row["set"] = args.set
    cut = done.returncode == benchlib.CUT
    if cut and not of(reply, "best"):
        return row | {"status": "cut", "reason": f"not done after {args.task_limit:.0f} s: {last_reason(done, [])}"}
    if reply is None:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return row | {"status": "task_error", "reason": reason}
    best = reply.get("best") or {}
    trials = reply.get("trials") or []
    row |= {"attempts": reply.get("attempts"), "stopped": "cut" if cut else reply.get("stopped")}
    if not best:
        return row | {"status": "none", "run": reply.get("run"), "reason": last_reason(done, trials)}
    return row | figures_of(best) | {"jobs": args.jobs}


def figures_of(best: dict[str, Any]) -> dict[str, Any]:
    """Returns the figures of an evaluation."""
    return {
        "status": best.get("status"),
        "speedup": of(best, "speedup", "eager", "median"),
        "ci95": of(best, "speedup", "eager", "ci95"),
        "over_compile": of(best, "speedup", "compile", "median"),
        "median_ms": of(best, "timing", "median_ms"),
        "lower_bound_ms": best.get("lower_bound_ms"),
        "category": of(best, "task", "category"),
        "compile_ci95": of(best, "speedup", "compile", "ci95"),
        "cpu": of(best, "environment", "cpu"),
        "device": of(best, "environment", "device"),
        "threads": of(best, "environment", "threads"),
        "cache": of(best, "environment", "cache"),
        "compile_mode": of(best, "environment", "compile_mode") or "default",
        "phases_s": {name: round(ms / 1000, 1) for name, ms in (best.get("phases_ms") or {}).items()},
    }


def cut_rows(args: argparse.Namespace, known: set[str]) -> list[dict[str, Any]]:
    """Returns rows of tasks that have none, but whose only attempt was judged and stored before the script was cut off.
    If a search has only one attempt, its measurement is the final one."""
    rows = []
    for run in said_by(args, "runs", "--limit", "1000")["runs"]:
        shown = said_by(args, "show", run["run"])
        if shown["task"] in known or not shown.get("trials"):
            continue
        judged = shown["trials"][-1]["evaluation"]
        if "out of memory" in judged["reason"]:  # caused by the other tasks on the GPU
            continue
        task = {"task": {"category": category_of(args, run["run"])}}
        row = {"task": shown["task"], "set": args.set, "attempts": 1, "stopped": "cut"} | figures_of(task | judged)
        rows.append(row if judged["status"] == "passed" else row | {"reason": judged["reason"]})
        known.add(shown["task"])
    return rows


def category_of(args: argparse.Namespace, run: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.jsonl"
        said_by(args, "export", run, "--recording", str(file))
        lines = map(json.loads, file.read_text().splitlines())
        return next(line for line in lines if line["kind"] == "run")["task"]["category"]


def said_by(args: argparse.Namespace, *words: str) -> Any:
    done = subprocess.run([args.pragma, *words, "--home", args.home, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def without_profile(folder: Path) -> Path:
    """Writes the expert's strategy without profiles."""
    text = (ROOT / "strategies" / "expert.toml").read_text()
    made = folder / "expert.toml"
    made.write_text(re.sub(r"^profile = true", "profile = false", text, flags=re.M))
    return made


def last_reason(done: subprocess.CompletedProcess[str], trials: list[Any]) -> str:
    reasons = [str(of(trial, "evaluation", "reason") or "") for trial in trials]
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return next(filter(None, reversed(reasons)), lines[-1] if lines else "")


def grouped(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Returns the rows by category, and all of them."""
    groups: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for row in rows:
        groups[row.get("category") or "?"].append(row)
    return dict(sorted(groups.items())) | {"all": rows}


def ratios_in_words(values: list[float], rng: random.Random) -> list[str]:
    """Returns the geometric mean with its interval over tasks, the mean, and how many values are above 1."""
    if not values:
        return ["", "", ""]
    above = sum(value > 1 for value in values)
    return [benchlib.geomean_in_words(values, rng), f"{sum(values) / len(values):.2f}", f"{above} of {len(values)}"]


def group_row(name: str, rows: list[dict[str, Any]], rng: random.Random) -> list[Any]:
    return [name, len(rows),
            *ratios_in_words([row["speedup"] for row in rows if row.get("speedup")], rng),
            *ratios_in_words([row["over_compile"] for row in rows if row.get("over_compile")], rng)]


def measured(median: float | None, interval: list[float] | None) -> str:
    if median is None:
        return ""
    return f"{median:.2f} ({interval[0]:.2f} to {interval[1]:.2f})" if interval else f"{median:.2f}"


def task_row(row: dict[str, Any]) -> list[str]:
    time_ms = f"{row['median_ms']:.4g}" if row.get("median_ms") else ""
    return [row["task"], row.get("category") or "", row["status"], measured(row.get("speedup"), row.get("ci95")),
            measured(row.get("over_compile"), row.get("compile_ci95")), time_ms, str(row.get("attempts") or ""),
            f"{row['seconds']:.0f}" if "seconds" in row else "cut", row.get("reason") or ""]


def runs_on(row: dict[str, Any]) -> str:
    machine = row.get("device") or f"{row.get('cpu')}, {row.get('threads')} threads"
    return f"{row['set']} shapes, {machine}" if row.get("set") else machine


def write_page(rows: list[dict[str, Any]], out: Path) -> None:
    """Writes the page. Rows from several processors would be several experiments, so each gets its own table."""
    rng = random.Random(1)
    rows = sorted(rows, key=lambda row: (row.get("set", ""), number_of(row["task"]), row["task"]))
    passed = [row for row in rows if row["status"] == "passed"]
    parts = [f"{len(passed)} of {len(rows)} tasks passed. Speedups are over the faster eager of Torch's two allocator "
             "settings, and over torch.compile with the same choice; of the final measurement in fresh processes, "
             "which no win selected (where there was one attempt, of that one). Intervals of groups: bootstrap over tasks."]
    header = ["category", "passed", "over eager: geometric mean (95 %)", "mean", "faster",
              "over torch.compile: geometric mean (95 %)", "mean", "faster"]
    for processor in sorted(set(map(runs_on, passed))):
        group = [row for row in passed if runs_on(row) == processor]
        parts.append(f"## {processor}")
        parts.append(benchlib.table(header, [group_row(name, found, rng) for name, found in grouped(group).items()]))
    header = ["task", "category", "status", "over eager (95 %)", "over torch.compile (95 %)", "ms", "attempts", "seconds", "reason"]
    for name in sorted({row.get("set", "") for row in rows}):
        parts += [f"## Tasks{', ' + name + ' shapes' if name else ''}",
                  benchlib.table(header, [task_row(row) for row in rows if row.get("set", "") == name])]
    benchlib.write_result(out, f"The built-in expert over {len(rows)} tasks", benchlib.command_line(), parts)


def summary(rows: list[dict[str, Any]]) -> str:
    passed = [row for row in rows if row["status"] == "passed"]
    lines = [f"{len(passed)} of {len(rows)} passed"]
    for name, group in grouped([row for row in passed if row.get("speedup")]).items():
        values = [row["speedup"] for row in group]
        faster = sum(value > 1 for value in values)
        if values:
            lines.append(
                f"{name}: geometric mean {benchlib.geomean(values):.2f}, mean {sum(values) / len(values):.2f}, "
                f"faster than eager on {faster} of {len(values)}"
            )
    for row in rows:
        if row["status"] != "passed":
            lines.append(f"{row['task']}: {row['status']}: {row.get('reason', '')}")
    return "\n".join(lines)


def run_all(tasks: list[Path], args: argparse.Namespace, jobs: int) -> list[Path]:
    """Runs the tasks and writes their rows. Returns those for which other tasks left too little memory on their GPU."""
    crowded = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        begun = {pool.submit(lambda task: optimize(task, args) if time.monotonic() < args.last_start else None, task): task
                 for task in tasks}
        for one in concurrent.futures.as_completed(begun):
            row = one.result()
            if row and jobs > 1 and "out of memory" in row.get("reason", ""):
                crowded.append(begun[one])
            elif row:
                with args.rows.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(json.dumps(row), file=sys.stderr, flush=True)
    return crowded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path)
    parser.add_argument("--ids", default="", help="numbers and ranges: 19,23-40")
    parser.add_argument("--rows", type=Path, default=Path("expert_rows.jsonl"))
    parser.add_argument("--attempts", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=120, help="at most, for each task")
    parser.add_argument("--once", action="store_true", help="one attempt each, without a profile, since no second attempt would use it")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile as well")
    parser.add_argument("--compile-mode", default="", help="mode of torch.compile, such as max-autotune")
    parser.add_argument("--target", default="cpu", choices=["cpu", "triton"])
    parser.add_argument("--mixed", action="store_true", help="in a mixed order, so that several large tasks seldom meet on one GPU")
    parser.add_argument("--threads", type=int, default=0, help="of each task's reference; 0: all processors")
    parser.add_argument("--devices", default="", help="GPUs to use: 0,1")
    parser.add_argument("--set", default="", help="of which tasks are the same: small, large; written into the rows")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at once")
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS", help="begin no task later")
    parser.add_argument("--task-limit", type=float, metavar="SECONDS",
                        help="of one task, with describing it and its final measurement; longer: its row says cut")
    parser.add_argument("--pragma", default=str(ROOT / "build" / "pragma"))
    parser.add_argument("--home", default=".pragma")
    parser.add_argument("--cut", action="store_true", help="run nothing: write the rows of a run with --once that was cut off, from --home")
    parser.add_argument("--summary", type=Path, help="only print what these rows say")
    parser.add_argument("--out", type=Path, help="with --summary: write it to this Markdown file")
    args = parser.parse_args()
    if args.summary and args.out:
        write_page(benchlib.read_rows(args.summary), args.out)
        return
    if args.summary:
        print(summary(benchlib.read_rows(args.summary)))
        return
    if args.cut:
        known = {row["task"] for row in benchlib.read_rows(args.rows) if row.get("set", "") == args.set}
        with args.rows.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in cut_rows(args, known))
        return
    if not args.dir:
        parser.error("--dir is needed: a folder of tasks")
    args.strategy = None
    if args.once:
        args.attempts, args.strategy = 1, without_profile(Path(tempfile.mkdtemp()))
    args.last_start = time.monotonic() + args.stop_after
    known = {row["task"] for row in benchlib.read_rows(args.rows) if row.get("set", "") == args.set}
    ids = wanted(args.ids)
    tasks = [task for task in sorted(args.dir.rglob("*.py"), key=lambda path: (number_of(path.stem), path.stem))
             if task.stem not in known and (not ids or number_of(task.stem) in ids)]
    if args.mixed:
        random.Random(2).shuffle(tasks)
    crowded = run_all(tasks, args, args.jobs)
    run_all(crowded, args, 1)
    print(summary(benchlib.read_rows(args.rows)))


if __name__ == "__main__":
    main()
