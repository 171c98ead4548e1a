#!/usr/bin/env python3
"""How soon an evaluation starts with `pragma serve`, and how long the whole evaluation takes.

Each task is first evaluated with `pragma evaluate --no-serve` (cold: process, torch, the task's description). Then the
server evaluates the same candidates. Each time the kernel gets a comment of its own, so no build is cached. The start
is the time from sending the request to the message that the build begins (aim: below 50 ms for every evaluation of a
task but the first).
"""

import argparse
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time

import benchlib

AIM_MS = 50
TASKS = ["09_matmul_tiny", "17_layernorm", "23_softmax_rows"]
ANSWERS = ("result", "failure", "lost")


class Client:
    """A connection that notes when each message arrived."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        folder = os.open(path.parent, os.O_PATH)  # a socket address cannot hold a long path
        self.socket.connect(f"/proc/self/fd/{folder}/{path.name}")
        os.close(folder)
        self.lines = self.socket.makefile("r", encoding="utf-8")
        self.lines.readline()

    def evaluate(self, task, kernel, measure):
        """Returns the seconds until the build begins, the seconds in total, and the status."""
        request = {"task": {"path": str(task)}, "candidate": {"path": str(kernel)}, "measure": measure}
        start = time.monotonic()
        self.socket.sendall(json.dumps({"schema": 1, "evaluate": request}).encode() + b"\n")
        begun = None
        while True:
            message = json.loads(self.lines.readline())
            if message["message"] in ANSWERS:
                status = message.get("object", {}).get("status", message["message"])
                return begun, time.monotonic() - start, status
            if begun is None and message["text"] == "build":
                begun = time.monotonic() - start


def fresh(kernel, folder):
    copy = folder / "kernel.cpp"
    copy.write_text(f"{kernel.read_text(encoding='utf-8')}\n// {secrets.token_hex(8)}\n", encoding="utf-8")
    return copy


def by_command(pragma, task, kernel, home, measure, *more):
    start = time.monotonic()
    flag = {"nothing": ["--no-timing"], "eager": ["--no-compile-baseline"]}[measure]
    done = subprocess.run([str(pragma), "evaluate", str(task), str(kernel), "--home", str(home), "--json",
                           *flag, *more], capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    return wall, benchlib.last_json(done.stdout, "pragma evaluate").get("status", done.stderr)


def chosen(pattern):
    kernels = benchlib.ROOT / "bench" / "suite_kernels"
    for task in sorted((benchlib.ROOT / "tasks").glob("**/*.py")):
        kernel = kernels / f"{task.stem}.cpp"
        if kernel.exists() and (pattern in str(task) if pattern else task.stem in TASKS):
            yield task, kernel


def measure_task(pragma, client, home, folder, task, kernel, measure, repeat):
    cold = [by_command(pragma, task, fresh(kernel, folder), home, measure, "--no-serve") for _ in range(repeat)]
    client.evaluate(task, fresh(kernel, folder), measure)  # makes the reference
    warm = [client.evaluate(task, fresh(kernel, folder), measure) for _ in range(repeat)]
    command = [by_command(pragma, task, fresh(kernel, folder), home, measure) for _ in range(repeat)]
    statuses = {status for _, status in cold + command} | {status for _, _, status in warm}
    starts = [begun * 1e3 for begun, _, _ in warm]
    return {"task": task.stem, "measure": measure, "statuses": statuses,
            "cold": benchlib.median([wall for wall, _ in cold]),
            "command": benchlib.median([wall for wall, _ in command]),
            "start": benchlib.median(starts), "slowest": max(starts)}


def start_server(pragma, home):
    server = subprocess.Popen([str(pragma), "serve", "--home", str(home)], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    line = server.stderr.readline()
    if "serving on" not in line:
        benchlib.fail(f"no server: {line.strip()}")
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help=f"tasks whose path contains this (default: {', '.join(TASKS)})")
    parser.add_argument("--repeat", type=int, default=5, help="evaluations of each kind (5)")
    benchlib.add_common(parser, "serve-latency.md")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    pairs = list(chosen(options.only))
    if not pairs or options.repeat < 1:
        benchlib.fail("nothing to measure: no such task with a kernel, or --repeat below 1")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        home = folder / "home"
        by_command(pragma, pairs[0][0], pairs[0][1], home, "nothing", "--no-serve")  # measures the machine's figures
        server = start_server(pragma, home)
        try:
            for task, kernel in pairs:
                for measure in ("nothing", "eager"):
                    client = Client(home / "serve.sock")
                    rows.append(measure_task(pragma, client, home, folder, task, kernel, measure, options.repeat))
                    benchlib.say(f"{task.stem}, {measure}: starts after {rows[-1]['start']:.1f} ms; "
                                 f"{rows[-1]['command']:.2f} s, cold {rows[-1]['cold']:.2f} s")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()
    good = all(row["slowest"] < AIM_MS and row["statuses"] == {"passed"} for row in rows)
    table = benchlib.table(
        ["task", "measured", "start, median", "start, slowest", "evaluate with the server", "without", "verdicts"],
        [[r["task"], r["measure"], f"{r['start']:.1f} ms", f"{r['slowest']:.1f} ms", f"{r['command']:.2f} s",
          f"{r['cold']:.2f} s", ", ".join(sorted(r["statuses"]))] for r in rows])
    verdict = (f"Aim: every evaluation of a task but the first starts (request sent to build begun) within {AIM_MS} ms: "
               f"{'reached' if good else 'NOT reached'}.")
    note = ("`evaluate` columns are medians of whole commands, each with a kernel that was never built before; "
            f"{options.repeat} evaluations of each kind.")
    benchlib.write_result(options.out, "Evaluations with a warm server", benchlib.command_line(), [verdict, table, note])
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
