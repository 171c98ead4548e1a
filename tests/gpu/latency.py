#!/usr/bin/env python3
"""How long one evaluation takes on a warm reference: python3 tests/gpu/latency.py KERNEL... [--count 10]

Through `pragma serve`, as an author has it: once with a pause between evaluations, in which one thinks,
and once without. Each kernel (its first line names its task) is evaluated once before that, uncounted,
and is another text in each evaluation, so that nothing of it was compiled before.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

from run import ROOT, TARGETS, mark, no_gpu


class Measured:
    def __init__(self, pragma: pathlib.Path, kernel: pathlib.Path, home: pathlib.Path, more: list[str]) -> None:
        self._pragma, self._kernel, self._home, self._more = pragma, kernel, home, more
        self._texts = 0

    def evaluate(self) -> dict[str, Any]:
        self._texts += 1
        comment = "#" if self._kernel.suffix == ".py" else "//"
        text = self._kernel.read_text() + f"\n{comment} {self._texts} of {self._home.name}\n"
        fresh = self._home / f"{self._kernel.stem}{self._kernel.suffix}"
        fresh.write_text(text)
        command = [self._pragma, "evaluate", ROOT / mark(self._kernel, "task"), fresh, "--json"]
        command += ["--target", TARGETS[self._kernel.suffix], "--home", self._home, *self._more]
        start = time.monotonic()
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        seconds = time.monotonic() - start
        try:
            found = json.loads(done.stdout)
        except json.JSONDecodeError:
            found = {}
        served = "judged by the server" in done.stderr and "without the server" not in done.stderr
        status = found.get("status", done.stderr[-300:]) if served else "not judged by the server"
        return {"status": status, "seconds": seconds, "phases_ms": found.get("phases_ms"), "speedup": found.get("speedup"), "timing": found.get("timing")}


def series(measured: Measured, count: int, pause: float) -> list[dict[str, Any]]:
    found = []
    for _ in range(count):
        time.sleep(pause)
        found.append(measured.evaluate())
    return found


def show(name: str, found: list[dict[str, Any]]) -> None:
    seconds = [one["seconds"] for one in found]
    bad = [one["status"] for one in found if one["status"] != "passed"]
    print(f"{name}: median {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f}){'; ' + str(bad) if bad else ''}")
    phases = sorted({phase for one in found for phase in one["phases_ms"] or {}})
    parts = {p: statistics.median([(one["phases_ms"] or {}).get(p, 0) for one in found]) for p in phases}
    print("   " + ", ".join(f"{phase} {ms / 1e3:.2f}" for phase, ms in parts.items()), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels", type=pathlib.Path, nargs="+")
    parser.add_argument("--pragma", type=pathlib.Path, default=ROOT / "build/pragma")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--pause", type=float, default=4.0, help="seconds")
    parser.add_argument("--log", type=pathlib.Path, help="file for all of it as JSON")
    parser.add_argument("--no-compile-baseline", action="store_true")
    arguments = parser.parse_args()
    why = no_gpu(arguments.pragma.resolve())
    if why:
        print(f"skipped: {why}")
        return 0
    more = ["--no-compile-baseline"] if arguments.no_compile_baseline else []
    log: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        server = subprocess.Popen([arguments.pragma, "serve", "--home", home], stderr=subprocess.PIPE, text=True)
        assert server.stderr is not None
        server.stderr.readline()
        for kernel in arguments.kernels:
            measured = Measured(arguments.pragma, kernel, home, more)
            log[kernel.name] = {"first": [measured.evaluate()]}
            show(f"{kernel.name}, first", log[kernel.name]["first"])
            for name, pause in (("with a pause", arguments.pause), ("back to back", 0.0)):
                found = series(measured, arguments.count, pause)
                log[kernel.name][name] = found
                show(f"{kernel.name}, {name}", found)
        server.terminate()
        server.wait()
    if arguments.log:
        arguments.log.write_text(json.dumps(log, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
