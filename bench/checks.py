#!/usr/bin/env python3
"""Runs `make asan`, `make tsan` and `make fuzz` and writes the result of each.

Each command sets up and builds what it needs. The table shows the last lines of its own output.
"""

import argparse
import re
import subprocess
import sys
import time

import benchlib

WHAT = {"asan": "C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer",
        "tsan": "C++ tests under ThreadSanitizer",
        "fuzz": "each fuzz target: its corpus, then fuzzing"}


def run(target, options):
    command = ["make", "--no-print-directory", target, f"FUZZ_SECONDS={options.fuzz_seconds}"]
    benchlib.say(f"{' '.join(command)} …")
    start = time.monotonic()
    done = subprocess.run(command, cwd=benchlib.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    seconds = time.monotonic() - start
    totals = re.findall(r"^\d+ passed, \d+ failed$", done.stdout, re.M)
    last = totals[-1] if totals else (done.stdout.strip().splitlines() or ["no output"])[-1]
    if done.returncode != 0:
        benchlib.say("\n".join(done.stdout.splitlines()[-40:]))
    return done.returncode, last, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=list(WHAT), nargs="+", default=list(WHAT))
    parser.add_argument("--fuzz-seconds", type=int, default=60, help="for each target (60)")
    benchlib.add_common(parser, "checks.md")
    options = parser.parse_args()
    rows, good = [], True
    for target in options.only:
        code, last, seconds = run(target, options)
        good = good and code == 0
        rows.append([f"`make {target}`", WHAT[target], last, "ok" if code == 0 else f"FAILED (exit {code})",
                     f"{seconds:.0f} s with its build"])
        benchlib.say(f"{target}: exit {code}, {last}")
    benchlib.write_result(options.out, "Sanitizers and fuzzing", benchlib.command_line(),
                          [benchlib.table(["command", "what", "its total", "result", "took"], rows)])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
