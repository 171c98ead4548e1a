#!/usr/bin/env python3
"""Builds the same C++ source in two ways: with `pragma evaluate`, and with torch's load_inline.

A kernel wrapped as a PyTorch extension needs load_inline, which compiles the source together with torch's headers and
imports the result. Both builds start without a cache of this source.
"""

import argparse
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile

import benchlib

WRAPPER = """
#include <vector>
at::Tensor pragma_run(std::vector<at::Tensor> tensors) {{
  pragma_kernel({arguments}, nullptr);
  return tensors.back();
}}
"""

# Runs in the virtual environment: writes kernel.h as bench/suite_check.py does, then calls load_inline.
LOAD = """
import json, pathlib, sys, time
sys.path.insert(0, "bench")
task, source, folder = map(pathlib.Path, sys.argv[1:4])
import suite_check, suite_tasks, torch
from torch.utils.cpp_extension import load_inline
instance = suite_tasks.draw(suite_tasks.load(task), 42)
outputs = suite_tasks.forward(instance.model, instance.call)
(folder / "kernel.h").write_text(suite_check.header(instance, outputs))
types = suite_tasks.CPP_TYPES
tensors = list(instance.arguments.values()) + list(outputs)
arguments = ", ".join(f"tensors[{i}].data_ptr<{types[t.dtype]}>()" for i, t in enumerate(tensors))
text = source.read_text()
flags = suite_check.flags_of(text)
start = time.monotonic()
module = load_inline(name="inline_" + sys.argv[4], cpp_sources=[text + WRAPPER.format(arguments=arguments)],
                     functions=["pragma_run"], extra_cflags=["-std=c++20", *flags],
                     extra_ldflags=["-fopenmp"] if "-fopenmp" in flags else [],
                     extra_include_paths=[str(folder)], build_directory=str(folder))
print(json.dumps({"seconds": time.monotonic() - start}))
"""


def with_token(kernel, folder):
    copy = folder / "kernel.cpp"
    text = kernel.read_text(encoding="utf-8")
    copy.write_text(f"{text}\n// {secrets.token_hex(8)}\n", encoding="utf-8")
    return copy


def inline_seconds(task, kernel, folder):
    source = with_token(kernel, folder)
    path = os.environ.get("PATH", "")
    environment = {**os.environ, "PATH": f"{benchlib.ROOT / '.venv/bin'}:{path}",
                   "MAX_JOBS": str(os.cpu_count() or 1)}
    done = subprocess.run([str(benchlib.ROOT / ".venv/bin/python"), "-c",
                           f"WRAPPER = {WRAPPER!r}\n{LOAD}", str(task), str(source), str(folder),
                           secrets.token_hex(4)],
                          cwd=benchlib.ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        benchlib.fail(f"load_inline of {kernel.name}: {done.stderr.strip()[-800:]}")
    return benchlib.last_json(done.stdout, "load_inline")["seconds"]


def pragma_seconds(pragma, task, kernel, folder):
    """Returns the seconds for build and load of one uncached evaluation, from its phases."""
    source = with_token(kernel, folder)
    done = subprocess.run([str(pragma), "evaluate", str(task), str(source), "--json", "--no-timing",
                           "--home", str(folder / "home")], capture_output=True, text=True, check=False)
    try:
        phases = benchlib.last_json(done.stdout, "pragma evaluate")["phases_ms"]
    except (ValueError, KeyError):
        benchlib.fail(f"pragma evaluate of {kernel.name}: {done.stderr.strip()[-800:]}")
    return (phases.get("build", 0) + phases.get("load", 0)) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", metavar="STEM", help="suite tasks (default: three)")
    parser.add_argument("--repeat", type=int, default=3, help="builds of each, median taken (3)")
    benchlib.add_common(parser, "load-inline.md")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    files = {task.stem: task for task in sorted((benchlib.ROOT / "tasks").glob("*/*.py"))}
    stems = options.tasks or list(files)[:: max(1, len(files) // 3)][:3]
    rows, ratios = [], []
    for stem in stems:
        kernel = benchlib.ROOT / "bench" / "suite_kernels" / f"{stem}.cpp"
        if stem not in files or not kernel.exists():
            benchlib.fail(f"no task {stem} with a kernel in bench/suite_kernels/")
        inline, ours = [], []
        for i in range(options.repeat):
            with tempfile.TemporaryDirectory() as name:
                ours.append(pragma_seconds(pragma, files[stem], kernel, pathlib.Path(name)))
            with tempfile.TemporaryDirectory() as name:
                inline.append(inline_seconds(files[stem], kernel, pathlib.Path(name)))
            benchlib.say(f"{stem} {i + 1}/{options.repeat}: load_inline {inline[-1]:.1f} s, "
                         f"pragma {ours[-1]:.2f} s")
        ratios.append(benchlib.median(inline) / benchlib.median(ours))
        rows.append([stem, f"{benchlib.median(inline):.1f} s", f"{benchlib.median(ours):.2f} s",
                     f"{ratios[-1]:.0f}x"])
    middle = benchlib.median(ratios)
    verdict = (f"Median ratio {middle:.0f}. Aim: ten times faster: "
               f"{'reached' if middle >= 10 else 'NOT reached'}.")
    benchlib.write_result(options.out, "Building one kernel: load_inline and pragma",
                          benchlib.command_line(),
                          [benchlib.table(["kernel", "load_inline", "pragma: build and load", "ratio"],
                                          rows), verdict])
    return 0 if middle >= 10 else 1


if __name__ == "__main__":
    sys.exit(main())
