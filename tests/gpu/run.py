#!/usr/bin/env python3
"""The tests that need a GPU, in one command: python3 tests/gpu/run.py [--pragma FILE] [--log FOLDER]

Every kernel of hostile/ must get the status in its second line, every one of honest/ must pass, timed
against eager on the GPU: Triton modules (.py) and CUDA sources (.cu). Without a GPU: skipped, with the
reason, exit code 0. --jobs 4 judges kernels of four tasks at once, which disturbs the figures printed, not
the verdicts.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RUN_LIMIT = "20s"  # of one call: a kernel that does not end must not take a minute; a context that dies beside others takes seconds
TARGETS = {".py": "triton", ".cu": "cuda"}


def mark(path: pathlib.Path, name: str) -> str:
    for line in path.read_text().splitlines()[:3]:
        if line.startswith((f"# {name}: ", f"// {name}: ")):
            return line.split(": ", 1)[1].strip()
    return ""


def no_gpu(pragma: pathlib.Path) -> str:
    """Why there is none; empty: there is one."""
    for folder in (pragma.parent, pragma.parent.parent / "lib/pragma"):
        if (folder / "pragma-device").exists():
            asked = subprocess.run([folder / "pragma-device"], capture_output=True, text=True)
            return "" if asked.returncode == 0 else asked.stderr.strip()
    return f"no pragma-device beside {pragma}"


def evaluate(pragma: pathlib.Path, task: str, kernels: list[pathlib.Path], more: list[str]) -> list[dict]:
    target = TARGETS[kernels[0].suffix]
    command = [pragma, "evaluate", ROOT / task, *kernels, "--target", target, "--json", "--no-serve"]
    done = subprocess.run([*map(str, command), *more], capture_output=True, text=True)
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError:
        found = {"status": "no answer", "reason": done.stderr[-500:]}
    found = found.get("evaluations", [found])
    return found if len(found) == len(kernels) else [{"status": "no answer", "reason": str(found)[:500]}] * len(kernels)


def line(name: str, wanted: list[str], found: dict) -> str:
    text = f"{'ok    ' if found.get('status') in wanted else 'FAILED'} {name}: {found.get('status')}"
    eager = (found.get("speedup") or {}).get("eager")
    if eager:
        text += f", {eager['median']:.2f}x eager [{eager['ci95'][0]:.2f}, {eager['ci95'][1]:.2f}]"
    reason = found.get("reason") or (found.get("error") or {})
    return text + (f" ({str(reason)[:160]})" if found.get("status") != "passed" else "")


def failures(arguments: argparse.Namespace, group: tuple[str, str, str], kernels: list[pathlib.Path]) -> int:
    """How many kernels of a group did not get their status."""
    kind, task, _ = group
    failed = 0
    start = time.monotonic()
    untimed = kind == "hostile" or arguments.no_timing
    more = ["--no-timing", "--run-limit", RUN_LIMIT] if untimed else ["--no-compile-baseline"]
    for path, found in zip(kernels, evaluate(arguments.pragma, task, kernels, more), strict=True):
        wanted = (mark(path, "expect") or "passed").split(",")
        failed += found.get("status") not in wanted
        print(line(f"{kind}/{path.name}", wanted, found), flush=True)
        if arguments.log:
            (arguments.log / f"{path.name}.json").write_text(json.dumps(found, indent=1))
    print(f"       {task}: {time.monotonic() - start:.0f} s", flush=True)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pragma", type=pathlib.Path, default=ROOT / "build/pragma")
    parser.add_argument("--only", default="", help="parts of files' names, with commas between them")
    parser.add_argument("--no-timing", action="store_true", help="checks only, for honest kernels too")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at once")
    parser.add_argument("--log", type=pathlib.Path, help="folder for the evaluations as JSON")
    arguments = parser.parse_args()
    why = no_gpu(arguments.pragma.resolve())
    if why:
        print(f"skipped: {why}")
        return 0
    groups: dict[tuple[str, str, str], list[pathlib.Path]] = defaultdict(list)
    for kind in ("hostile", "honest"):
        for path in sorted((HERE / kind).iterdir()):
            if path.suffix in TARGETS and any(part in f"{kind}/{path.name}" for part in arguments.only.split(",")):
                groups[kind, mark(path, "task"), path.suffix].append(path)
    if arguments.log:
        arguments.log.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        failed = sum(pool.map(lambda group: failures(arguments, *group), groups.items()))
    total = sum(map(len, groups.values()))
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
