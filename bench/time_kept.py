#!/usr/bin/env python3
"""Does `pragma optimize --time` keep to its time? Modules that are slow in different ways, one after the other.

    bench/time_kept.py --times 60 20 --inputs FOLDER [TASK.py ...]

Without tasks, those of bench/time_tasks/ run: many unrolled steps, outputs of a gigabyte, islands, a short one. --inputs
adds the files of another folder. Each runs with each time, and a third way: it is interrupted (SIGINT, twice) as soon
as an attempt has passed, and its kernel must be in --out. The exit status is 1 if a command took more than a fifth
longer than its time, or a kernel was lost.
"""

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import benchlib

OVER = 1.2
TASKS = benchlib.ROOT / "bench" / "time_tasks"


def command(given, task, folder, seconds):
    return [
        str(benchlib.program(given.build, "pragma")), "optimize", str(task), "--time", f"{seconds:g}s",
        "--home", str(folder / "home"), "--out", str(folder / "out"), "--json",
    ]  # fmt: skip


def outcome_of(ran_code, out, err):
    """Returns the outcome and what was left out, as words."""
    try:
        said = json.loads(out)
    except json.JSONDecodeError:
        said = {}
    best = said.get("best") or {}
    words = said.get("left_out", [])
    words += [f"{text} (checks)" for text in best.get("partly_checked", [])]
    words += [c["detail"] for c in best.get("checks", []) if c["verdict"] == "skipped" and "no time" in c["detail"]]
    words += [best["noisy"]] if "there was time for" in (best.get("noisy") or "") else []
    if best.get("status") == "passed":
        ratio = (best.get("speedup") or {}).get("eager") or {}
        figure = f", {ratio['median']:.2f}x [{ratio['ci95'][0]:.2f}, {ratio['ci95'][1]:.2f}] over eager" if ratio else ""
        return f"passed{figure}, {said['attempts']} attempts", words
    last = ([line for line in err.splitlines() if line.startswith("pragma:")] or [f"exit {ran_code}"])[-1]
    return last.removeprefix("pragma: ").replace(f"{TASKS}/", "")[:160], words


def in_time(given, task, seconds):
    with tempfile.TemporaryDirectory(prefix="time-kept-") as name:
        folder = pathlib.Path(name)
        started = time.monotonic()
        ran = subprocess.run(
            command(given, task, folder, seconds), capture_output=True, text=True, errors="replace", check=False
        )
        wall = time.monotonic() - started
        outcome, left_out = outcome_of(ran.returncode, ran.stdout, ran.stderr)
        files = sorted(file.name for file in (folder / "out").glob("*_new.py")) if (folder / "out").exists() else []
        kept = bool(files) or not outcome.startswith("passed")
    return wall, outcome, left_out, kept


def interrupted(given, task, seconds):
    """Interrupts the command twice once an attempt has passed. Returns whether its kernel is in --out."""
    with tempfile.TemporaryDirectory(prefix="time-kept-") as name:
        folder = pathlib.Path(name)
        running = subprocess.Popen(
            command(given, task, folder, seconds), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        out = folder / "out"
        while running.poll() is None and not (out.exists() and any(out.iterdir())):
            time.sleep(0.05)
        if running.poll() is not None:
            return "shows nothing: it ended before an attempt passed", True
        time.sleep(0.5)  # ModelNew is written last
        running.send_signal(signal.SIGINT)
        time.sleep(0.1)
        running.send_signal(signal.SIGINT)
        running.wait()
        found = sorted(file.name for file in out.iterdir())
        return ", ".join(found), any(file.endswith(("_new.py", ".cpp")) for file in found)


class Rows:
    """The rows so far, kept in a file if there is one, so that the command goes on where it stopped. Seconds of 0:
    interrupted."""

    def __init__(self, path):
        self._path = path
        text = path.read_text(encoding="utf-8") if path and path.exists() else ""
        self.rows = [json.loads(line) for line in text.splitlines()]

    def has(self, task, seconds):
        return any(row["task"] == task and row["seconds"] == seconds for row in self.rows)

    def add(self, task, seconds, fine, cells):
        row = {"task": task, "seconds": seconds, "fine": fine, "cells": cells}
        self.rows.append(row)
        benchlib.say(f"{'ok ' if fine else 'BAD'} {task} | {' | '.join(cells)}")
        if self._path:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    benchlib.add_common(parser, "time-kept.md")
    parser.add_argument("--times", type=float, nargs="+", default=[60, 20], help="seconds (default: 60 20)")
    parser.add_argument("--inputs", type=pathlib.Path, help="a folder of further tasks")
    parser.add_argument("--no-interrupt", action="store_true", help="do not interrupt anything")
    parser.add_argument("--rows", type=pathlib.Path, help="file that keeps the rows; those in it are not run again")
    parser.add_argument("tasks", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    tasks = given.tasks or sorted(TASKS.glob("*.py")) + (sorted(given.inputs.glob("*.py")) if given.inputs else [])
    kept = Rows(given.rows)
    for task in tasks:
        for seconds in given.times:
            if kept.has(task.stem, seconds):
                continue
            wall, outcome, left_out, written = in_time(given, task, seconds)
            kept.add(task.stem, seconds, wall <= OVER * seconds and written,
                     [f"{seconds:g} s", f"{wall:.1f} s", f"{100 * wall / seconds:.0f} %", outcome,
                      "; ".join(left_out) or "-"])  # fmt: skip
        if task.parent == TASKS and not given.no_interrupt and not kept.has(task.stem, 0):
            found, written = interrupted(given, task, max(given.times))
            kept.add(task.stem, 0, written, [found])
    rows = [[row["task"], *row["cells"]] for row in kept.rows if row["seconds"]]
    stops = [[row["task"], *row["cells"]] for row in kept.rows if not row["seconds"]]
    bad = sum(not row["fine"] for row in kept.rows)
    parts = [
        "`pragma optimize` with the built-in expert and a fresh home (machine figures are measured too). The time counts "
        "from the start of the command to its end; a fifth more is allowed.",
        benchlib.table(["module", "--time", "wall", "of it", "outcome", "left out for want of time"], rows),
    ]
    if stops:
        parts += ["Interrupted twice as soon as an attempt had passed, what `--out` holds:",
                  benchlib.table(["module", "files"], stops)]  # fmt: skip
    judged = sum("passed" in row[4] for row in rows)
    parts.append(f"Kept in {sum(row['fine'] for row in kept.rows if row['seconds'])} of {len(rows)} runs; a kernel passed in {judged}.")
    benchlib.write_result(given.out, "Is the time kept?", benchlib.command_line(), parts)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
