#!/usr/bin/env python3
"""A/A test on a busy machine: times a kernel against itself while another program uses a processor on and off.

--busy ON-OFF starts that program: one thread that computes for about ON seconds and sleeps for about OFF seconds, again
and again (each length is drawn between half and one and a half times of that). --busy none is the quiet machine.
Without --busy both are measured: none, and 0.2-0.3.

Each comparison is appended to --rows at once, and a run with the same --rows and --seed continues where an earlier one
ended. The table has, for each disturbance and kernel, how often the interval holds 1.0, how often the kernel would have
become the best (it must not), the median width of the interval, and that width over the one on the quiet machine.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import aa
import benchlib
import work

ROUNDS_PER_MS = 4000  # of bench/work.py; nothing is calibrated, since a busy machine would disturb it
NEED = 0.93  # share of intervals that hold 1.0
WIDER = 3  # median width over that of the quiet machine


def occupy(on, off, seed):
    """Uses a processor on and off until the process that started this one ends."""
    rng = random.Random(seed)
    parent = os.getppid()
    while os.getppid() == parent:
        end = time.monotonic() + on * rng.uniform(0.5, 1.5)
        while time.monotonic() < end:
            pass
        time.sleep(off * rng.uniform(0.5, 1.5))


def parse_busy(text):
    """Returns (ON, OFF) in seconds, or None for the quiet machine."""
    if text == "none":
        return None
    try:
        on, off = (float(part) for part in text.split("-"))
    except ValueError:
        benchlib.fail(f"--busy {text}: must be ON-OFF in seconds, as 0.2-0.3, or none")
    return on, off


class Disturbance:
    """The busy program, from its start to its end."""

    def __init__(self, busy, seed):
        self.command = None
        if busy is not None:
            self.command = [sys.executable, __file__, "--occupy", str(busy[0]), str(busy[1]), str(seed)]

    def __enter__(self):
        self.child = subprocess.Popen(self.command) if self.command else None
        return self

    def __exit__(self, *_):
        if self.child:
            self.child.kill()
            self.child.wait()


def measure(options, program, folder, busy, milliseconds):
    """Adds the comparisons that are missing for a disturbance and a kernel."""
    known = [row for row in benchlib.read_rows(options.rows) if key_of(row) == (options.seed, busy, milliseconds)]
    missing = options.count - len(known)
    if missing <= 0:
        return
    benchlib.say(f"busy {busy}, {milliseconds} ms: {missing} comparisons")
    kernel = work.write_kernel(folder / f"work-{milliseconds}.cpp", max(1, round(milliseconds * ROUNDS_PER_MS)))
    seed = options.seed * 1_000_000 + len(known)

    def keep(done, result):
        row = {"seed": options.seed, "busy": busy, "milliseconds": milliseconds, **result}
        with options.rows.open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")
        if done % max(1, missing // 10) == 0:
            benchlib.say(f"  {done}/{missing}")

    with Disturbance(parse_busy(busy), seed):
        work.compare(program, work.TASK, kernel, kernel, missing, options.budget, keep, seed)


def key_of(row):
    return row["seed"], row["busy"], row["milliseconds"]


def width_of(rows):
    return benchlib.median([row["high"] / row["low"] - 1 for row in rows])


def table_of(groups):
    """Returns the lines of the table and, of the disturbed groups, what was not reached."""
    lines, failed = [], []
    for (_, busy, milliseconds), rows in sorted(groups.items(), key=lambda item: (item[0][2], item[0][1] != "none")):
        holds, _, _ = aa.judge(rows)
        better = sum(row["better"] for row in rows)
        quiet = next((width_of(other) for (_, how, ms), other in groups.items() if how == "none" and ms == milliseconds),
                     None)
        wider = width_of(rows) / quiet if quiet else None
        bursts = sum(row["bursts"] for row in rows)
        name = f"{milliseconds:g} ms, busy {busy}"
        if holds < NEED * len(rows):
            failed.append(f"{name}: {holds} of {len(rows)} intervals hold 1.0")
        if better:
            failed.append(f"{name}: {better} called better")
        if wider and wider > WIDER:
            failed.append(f"{name}: {wider:.1f} times as wide as on the quiet machine")
        lines.append([f"{milliseconds:g} ms", busy, len(rows), f"{holds} ({100 * holds / len(rows):.1f} %)", better,
                      f"{100 * width_of(rows):.2f} %", f"{wider:.2f}" if wider else "",
                      f"{100 * sum(row['disturbed'] for row in rows) / bursts:.0f} %",
                      sum(row["noisy"] for row in rows), f"{benchlib.median([row['rounds'] for row in rows]):g}",
                      f"{benchlib.median([row['seconds'] for row in rows]):.2f} s"])
    return lines, failed


HEADER = ["kernel", "busy (on-off, s)", "comparisons", "hold 1.0", "called better", "median width", "over quiet",
          "disturbed bursts", "called noisy", "process pairs", "per comparison"]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--busy", action="append", default=[], metavar="ON-OFF", help="or none (may be repeated)")
    parser.add_argument("--milliseconds", default="0.05,1,10", help="times of the kernels (0.05,1,10)")
    parser.add_argument("--count", type=int, default=100, help="comparisons of each kernel and disturbance (100)")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of timing per comparison (1)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=pathlib.Path, default=benchlib.ROOT / "build" / "aa_busy.jsonl",
                        help="the comparisons so far (build/aa_busy.jsonl)")
    benchlib.add_common(parser, "aa-busy.md")
    return parser.parse_args()


def main():
    if sys.argv[1:2] == ["--occupy"]:
        occupy(float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
        return 0
    options = parse()
    program = benchlib.program(options.build, "pragma-aa")
    wanted = [(busy, float(ms)) for busy in options.busy or ["none", "0.2-0.3"]
              for ms in options.milliseconds.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for busy, milliseconds in wanted:
            measure(options, program, pathlib.Path(folder), busy, milliseconds)
    groups = collections.defaultdict(list)
    for row in benchlib.read_rows(options.rows):
        if row["seed"] == options.seed:
            groups[key_of(row)].append(row)
    lines, failed = table_of(groups)
    text = benchlib.table(HEADER, lines)
    print(text)
    verdict = (f"Aim: at least {100 * NEED:.0f} % hold 1.0, none called better, at most {WIDER} times as wide as on the "
               "quiet machine: " + ("NOT reached (" + "; ".join(failed) + ")." if failed else "reached."))
    print(verdict)
    benchlib.write_result(options.out, "A kernel against itself on a busy machine", benchlib.command_line(),
                          [text, verdict])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
