#!/usr/bin/env python3
"""How near the expert's kernels for memory-bound operators come to the machine's bandwidth.

Each operator of bench/expert_memory_tasks.py is lowered from its graph, generated, built and timed
alone on the machine under its lock (best of many calls, all threads), in turn with the probe that
`pragma doctor` uses (best of as many measurements). Two shares: of the bound by the bytes that no
kernel can avoid (inputs once, outputs once), and of the bandwidth for the bytes that the kernel
moves by its plan: what does not fit into a cache between two passes counts once for each.
`--only pool` times only the operators with that word in their name.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import benchlib
import expert_memory_tasks

GOAL = 0.85


def rows_of(program, compiler, folder, word):
    tasks = expert_memory_tasks.write(folder, word)
    if not tasks:
        benchlib.fail(f"no operator has {word!r} in its name")
    with subprocess.Popen([str(program), sys.executable, compiler, folder, *map(str, tasks)],
                          stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            row = json.loads(line)
            benchlib.say(f"{row['name']}: {row['ms']:.2f} ms, {100 * row['bound_share']:.0f} % of the "
                         f"bound, {100 * row['bandwidth_share']:.0f} % of the bandwidth "
                         f"(read {row['read_gbs']:.0f}, copy {row['copy_gbs']:.0f})")
            yield row
    if process.returncode != 0:
        benchlib.fail("the measurement did not finish; its own message stands above")


def cells(row):
    def megabytes(key):
        return f"{row[key] / 1e6:.0f}"
    return [row["name"], f"{row['ms']:.2f} ms", megabytes("unavoidable_bytes"),
            f"{100 * row['bound_share']:.0f} %", megabytes("moved_bytes"),
            f"{100 * row['bandwidth_share']:.0f} %",
            f"{row['read_gbs']:.0f}, {row['copy_gbs']:.0f}, {row['write_gbs']:.0f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "expert-memory.md")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="where tasks and sources stay")
    options = parser.parse_args()
    program = benchlib.program(options.build, "pragma-expert-memory")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows = list(rows_of(program, options.compiler, str(folder), options.only))
    reached = sum(row["bandwidth_share"] >= GOAL for row in rows)
    bound = sum(row["bound_share"] >= GOAL for row in rows)
    benchlib.write_result(
        options.out, "Memory-bound operators of the expert", benchlib.command_line(),
        [f"{reached} of {len(rows)} operators reach {100 * GOAL:.0f} % of the measured bandwidth for "
         f"the bytes that they move, {bound} reach {100 * GOAL:.0f} % of the bound; geometric means "
         f"{100 * benchlib.geomean([row['bandwidth_share'] for row in rows]):.0f} % and "
         f"{100 * benchlib.geomean([row['bound_share'] for row in rows]):.0f} %.",
         benchlib.table(["operator", "time", "unavoidable MB", "of the bound", "moved MB",
                         "of the bandwidth", "GB/s measured: read, copy, write"], map(cells, rows)),
         "Unavoidable: inputs once, outputs once. Moved: by the kernel's plan, each pass over what "
         "no cache keeps until then. The bandwidth is that of `pragma-probe` beyond the caches, "
         "mixed as for `pragma`'s hard bound (the best of reading, copying and writing where both "
         "occur), measured in turn with the kernel; both are the best of their measurements. "
         "Defaults of the tunables, not tuned."])


if __name__ == "__main__":
    main()
