#!/usr/bin/env python3
"""Checks the suite in tasks/ and its plain kernels in bench/suite_kernels/.

Every kernel exists in two versions: unchanged, and with one seeded bug (-DPRAGMA_BUG). The plain version must pass, the
other must not.

  suite_check.py            with the real `pragma evaluate`; writes docs/results/suite.md
  suite_check.py --direct   without it: g++, ctypes and torch's fp64 reference in this process
  suite_check.py --limits   each task's time, memory, determinism and soundness
  suite_check.py --readme   writes tasks/README.md
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "bench" / "suite_kernels"
BUG_FLAG = "-DPRAGMA_BUG=1"
BUG_KINDS = ("off-by-one bound", "missing last tile", "wrong stride", "swapped operand")
# Statuses that a wrong kernel may get. A compile or source error would say nothing about the bug.
CAUGHT = {"wrong_values", "nondeterministic", "crashed", "implausible"}
TOLERANCE = 1e-4  # --direct: largest error over the rms of the output
SECONDS_LIMIT = 2.0
MEMORY_LIMIT_MIB = 4096


def kernel_of(task: Path) -> Path:
    return KERNELS / (task.stem + ".cpp")


def bug_kind(source: str) -> str:
    kinds = re.findall(r"// bug: ([^:]+):", source)
    if len(kinds) != 1 or kinds[0] not in BUG_KINDS:
        raise SystemExit(f"a kernel names {kinds} as its bug; it must name one of {BUG_KINDS}")
    return str(kinds[0])


def flags_of(source: str) -> list[str]:
    match = re.match(r"// pragma-flags: (.*)", source)
    return match.group(1).split() if match else ["-O2"]


def with_bug(source: str) -> str:
    """Returns the source with a flags line that enables the seeded bug."""
    return re.sub(r"^// pragma-flags: (.*)", rf"// pragma-flags: \1 {BUG_FLAG}", source, count=1)


# --- direct ---------------------------------------------------------------------------------------


def header(instance: Any, outputs: list[Any]) -> str:
    """Returns the parts of kernel.h that the suite's kernels use."""
    import suite_tasks

    lines = ["#pragma once", "#include <cstddef>", "#include <cstdint>", "namespace task {"]
    for name, tensor in instance.arguments.items():
        if tensor.dim() > 0:
            dims = ", ".join(map(str, tensor.shape))
            lines.append(f"inline constexpr std::int64_t {name}_dims[] = {{{dims}}};")
    names = ["out"] if len(outputs) == 1 else [f"out_{i}" for i in range(len(outputs))]
    types = suite_tasks.CPP_TYPES
    arguments = [f"const {types[t.dtype]}* {n}" for n, t in instance.arguments.items()]
    arguments += [f"{types[t.dtype]}* {n}" for n, t in zip(names, outputs)]
    lines.append("}  // namespace task")
    lines.append(f'extern "C" void pragma_kernel({", ".join(arguments)}, void* scratch);')
    return "\n".join(lines) + "\n"


def compile_kernel(kernel: Path, header_text: str, bug: bool, folder: Path) -> Path:
    (folder / "kernel.h").write_text(header_text)
    library = folder / f"{kernel.stem}{'_bug' if bug else ''}.so"
    flags = flags_of(kernel.read_text()) + ([BUG_FLAG] if bug else [])
    base = ["g++", "-std=c++20", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    subprocess.run(base + flags + [str(kernel), "-o", str(library)], check=True)
    return library


def run_kernel(library: Path, instance: Any, outputs: list[Any]) -> list[Any]:
    """Calls the kernel with poisoned outputs and scratch."""
    import torch

    loaded = ctypes.CDLL(str(library))
    try:
        size = ctypes.c_size_t.in_dll(loaded, "pragma_scratch_bytes").value
    except ValueError:
        size = 0
    arguments = [t.contiguous().clone() for t in instance.arguments.values()]
    results = [torch.full_like(t, True if t.dtype == torch.bool else 77) for t in outputs]
    scratch = torch.full((size + 64,), 0x5A, dtype=torch.uint8)
    tensors = arguments + results + [scratch]
    loaded.pragma_kernel(*[ctypes.c_void_p(t.data_ptr()) for t in tensors])
    return results


def direct_errors(task: Path, folder: Path) -> tuple[list[float], list[float]]:
    """Returns the largest relative errors of the plain kernel and of the one with the bug, per seed."""
    import suite_tasks

    module = suite_tasks.load(task)
    errors: dict[bool, list[float]] = {False: [], True: []}
    libraries: dict[bool, Path] = {}
    for seed in (42, 7):
        instance = suite_tasks.draw(module, seed)
        native = suite_tasks.forward(instance.model, instance.call)
        truth = suite_tasks.reference(instance)
        for bug in (False, True):
            if bug not in libraries:
                text = header(instance, native)
                libraries[bug] = compile_kernel(kernel_of(task), text, bug, folder)
            results = run_kernel(libraries[bug], instance, native)
            errors[bug].append(max(map(suite_tasks.mismatch, results, truth)))
    return errors[False], errors[True]


def check_direct(tasks: list[Path]) -> int:
    failures = 0
    for number, task in enumerate(tasks, 1):
        with tempfile.TemporaryDirectory() as folder:
            plain, bug = direct_errors(task, Path(folder))
        good = max(plain) <= TOLERANCE < min(bug)
        failures += not good
        verdict = "ok  " if good else "FAIL"
        kind = bug_kind(kernel_of(task).read_text())
        print(
            f"[{number}/{len(tasks)}] {verdict} {task.stem}: plain {max(plain):.1e},"
            f" bug {min(bug):.1e} ({kind})",
            flush=True,
        )
    print(f"{len(tasks) - failures} of {len(tasks)} as expected")
    return 1 if failures else 0


# --- limits ---------------------------------------------------------------------------------------


def complaints(figures: dict[str, Any]) -> list[str]:
    found = []
    if figures["seconds"] > SECONDS_LIMIT:
        found.append(f"takes {figures['seconds']:.1f} s")
    if figures["peak_mib"] > MEMORY_LIMIT_MIB:
        found.append(f"needs {figures['peak_mib']:.0f} MiB")
    if not figures["deterministic"]:
        found.append("differs under the same seed")
    # Batch norm in training mode does not read its running statistics.
    decoys = [d for d in figures["accepted_decoys"] if "running_" not in d]
    return found + ["accepts decoy: " + d for d in decoys]


def check_limits(tasks: list[Path]) -> int:
    failures = 0
    for number, task in enumerate(tasks, 1):
        command = [sys.executable, __file__, "--measure", str(task)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        figures = json.loads(done.stdout)
        found = complaints(figures)
        failures += bool(found)
        print(
            f"[{number}/{len(tasks)}] {'FAIL' if found else 'ok  '} {task.stem}:"
            f" {figures['seconds']:.2f} s in all, forward {figures['forward_ms']:.3f} ms,"
            f" peak {figures['peak_mib']:.0f} MiB {'; '.join(found)}",
            flush=True,
        )
    print(f"{len(tasks) - failures} of {len(tasks)} within the limits")
    return 1 if failures else 0


def print_measure(task: Path) -> int:
    import suite_tasks

    print(json.dumps(suite_tasks.measure(task)))
    return 0


# --- README ---------------------------------------------------------------------------------------

README = """# Tasks

Our own suite in KernelBench's format: each file has `Model`, `get_inputs` and `get_init_inputs`. All
of them are written for this project. Inputs are signed and parameters non-trivial, so that a wrong
kernel is told from a right one. Each has a plain C++ kernel with one seeded bug in
`bench/suite_kernels/`. The table is written by `bench/suite_check.py --readme`; MiB counts every
argument (parameters and buffers too) and output of one call once.

| task | category | shapes | MiB |
|---|---|---|---:|
"""


def write_readme(tasks: list[Path]) -> int:
    import suite_tasks

    rows = []
    for task in tasks:
        instance = suite_tasks.draw(suite_tasks.load(task), 42)
        size = suite_tasks.mebibytes(instance)
        shapes = suite_tasks.shapes(instance)
        rows.append(f"| {task.stem} | {task.parent.name} | {shapes} | {size:.2f} |\n")
    (ROOT / "tasks" / "README.md").write_text(README + "".join(rows))
    return 0


# --- pragma evaluate ------------------------------------------------------------------------------


@dataclass
class Row:
    """What the program reported about one task's two kernels."""

    task: Path
    kind: str
    mib: float
    plain: dict[str, Any] = field(default_factory=dict)
    bug: dict[str, Any] = field(default_factory=dict)

    def good(self) -> bool:
        return self.plain.get("status") == "passed" and self.bug.get("status") in CAUGHT


def evaluate(options: argparse.Namespace, task: Path, kernel: Path, extra: list[str]) -> dict[str, Any]:
    """Returns the evaluate object, or an object with a status of this script if the program printed none."""
    command = [str(options.pragma), "evaluate", str(task), str(kernel), "--json", "--no-compile-baseline"]
    command += ["--home", str(options.home)] + extra
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        result: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        result = {}
    if "status" not in result:
        message = done.stderr.strip().splitlines() or ["no message"]
        result = {"status": f"no verdict (exit {done.returncode})", "reason": message[-1]}
    return result


def evaluate_both(options: argparse.Namespace, task: Path, mib: float) -> Row:
    kernel = kernel_of(task)
    source = kernel.read_text()
    row = Row(task, bug_kind(source), mib)
    row.plain = evaluate(options, task, kernel, [])
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / kernel.name
        copy.write_text(with_bug(source))
        row.bug = evaluate(options, task, copy, ["--no-timing"] if options.bug_no_timing else [])
    return row


def speedup_text(result: dict[str, Any]) -> str:
    figure = result.get("speedup", {}).get("eager")
    if not figure:
        return "-"
    low, high = figure["ci95"]
    return f"{figure['median']:.3g} ({low:.3g} to {high:.3g})"


def phases_text(result: dict[str, Any]) -> str:
    phases = result.get("phases_ms", {})
    return ", ".join(f"{name} {value:.0f}" for name, value in phases.items() if value) or "-"


def progress_text(row: Row) -> str:
    text = f"plain {row.plain['status']}, bug {row.bug['status']} ({row.kind})"
    text += f", speedup {speedup_text(row.plain)}"
    if row.plain["status"] != "passed":
        text += f"\n    plain: {row.plain.get('reason', '')}"
    if row.bug["status"] not in CAUGHT:
        text += f"\n    bug: {row.bug.get('reason', '')}"
    return text


def report(rows: list[Row]) -> str:
    environment: dict[str, Any] = next((r.plain["environment"] for r in rows if "environment" in r.plain), {})
    passed = sum(r.plain["status"] == "passed" for r in rows)
    caught = sum(r.bug["status"] in CAUGHT for r in rows)
    machine = ", ".join(
        f"{name} {environment[name]}"
        for name in ("cpu", "threads", "compiler", "torch", "cache")
        if name in environment
    )
    text = "# The suite: plain kernels and seeded bugs\n\n"
    text += "Written by `bench/suite_check.py`. Each task of `tasks/` is evaluated twice: with the\n"
    text += "plain kernel of `bench/suite_kernels/`, and with the same kernel and one seeded bug.\n\n"
    text += f"- Plain kernels passed: {passed} of {len(rows)}. Seeded bugs caught: {caught} of {len(rows)}.\n"
    for kind in BUG_KINDS:
        of_kind = [r for r in rows if r.kind == kind]
        text += f"  - {kind}: {sum(r.bug['status'] in CAUGHT for r in of_kind)} of {len(of_kind)}\n"
    text += f"- Machine: {machine or 'not told'}.\n"
    text += "- Speedup: eager time over the plain kernel's, median and 95 % interval; the kernels are\n"
    text += "  simple loops that are meant to be right, not fast. Phases in ms, reference started anew.\n\n"
    text += "| task | category | MiB | plain | seeded bug | verdict on it | speedup (95 %) | phases |\n"
    text += "|---|---|---:|---|---|---|---|---|\n"
    for row in rows:
        category = row.plain.get("task", {}).get("category") or row.task.parent.name
        cells = [row.task.stem, category, f"{row.mib:.2f}", row.plain["status"], row.kind]
        cells += [row.bug["status"], speedup_text(row.plain), phases_text(row.plain)]
        text += "| " + " | ".join(cells) + " |\n"
    return text


def sizes(tasks: list[Path]) -> dict[Path, float]:
    import suite_tasks

    return {t: suite_tasks.mebibytes(suite_tasks.draw(suite_tasks.load(t), 42)) for t in tasks}


def check_program(options: argparse.Namespace, tasks: list[Path]) -> int:
    if not os.access(options.pragma, os.X_OK):
        raise SystemExit(f"{options.pragma} is not there: build it (make), or use --direct")
    mib = sizes(tasks)
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda task: evaluate_both(options, task, mib[task]), tasks)
        for number, row in enumerate(results, 1):
            rows.append(row)
            verdict = "ok  " if row.good() else "FAIL"
            text = f"[{number}/{len(tasks)}] {verdict} {row.task.stem}: {progress_text(row)}"
            print(text, flush=True)
    if options.output != Path("-"):
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(report(rows))
        print(f"written: {options.output}")
    failures = sum(not row.good() for row in rows)
    print(f"{len(rows) - failures} of {len(rows)} as expected")
    return 1 if failures else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--direct", action="store_true", help="without the program")
    mode.add_argument("--limits", action="store_true", help="time, memory, determinism, decoys")
    mode.add_argument("--readme", action="store_true", help="write tasks/README.md")
    mode.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="*", metavar="GLOB", help="task stems, as '1*' or '*conv*'")
    parser.add_argument("--jobs", type=int, default=1, help="evaluations at once (default: 1)")
    parser.add_argument("--pragma", type=Path, default=ROOT / "build" / "pragma", help="the program")
    parser.add_argument("--home", type=Path, default=ROOT / ".pragma", help="its state (--home)")
    parser.add_argument("--output", type=Path, help="report; '-' for none (default with all tasks:"
                        " docs/results/suite.md, with --only: none)")
    parser.add_argument("--bug-no-timing", action="store_true", help="only check the seeded bugs' values")
    options = parser.parse_args()
    if options.output is None:
        whole = options.only == "*"
        options.output = ROOT / "docs" / "results" / "suite.md" if whole else Path("-")
    return options


def main() -> int:
    sys.path.insert(0, str(ROOT / "bench"))
    options = arguments()
    if options.measure:
        return print_measure(options.measure)
    import suite_tasks

    tasks = suite_tasks.task_files(options.only)
    if not tasks:
        raise SystemExit(f"no task's name matches {options.only}")
    if options.direct:
        return check_direct(tasks)
    if options.limits:
        return check_limits(tasks)
    return write_readme(tasks) if options.readme else check_program(options, tasks)


if __name__ == "__main__":
    sys.exit(main())
