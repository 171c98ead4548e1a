#!/usr/bin/env python3
"""How near the expert's kernels for memory-bound operators come to the machine's bandwidth.

Each operator of bench/expert_memory_tasks.py is lowered from its graph, generated and built. It is timed alone on the
machine, under its lock, with all threads, in nine rounds. Each round also measures the bandwidth with the loops that
`pragma doctor` uses, because the bandwidth of a shared machine changes within minutes.

A share is the time that these loops need to move the bytes over the time of the kernel's best call. Bytes that are read
and written move at the rate of copying, the rest at that of reading or writing. One share uses the bytes that no kernel
can avoid (inputs once, outputs once). Another uses the bytes that the kernel moves by its plan, where data that no
cache keeps between two passes counts once for each pass. `--only pool` times only the operators with that word in their
name.
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
        assert process.stdout is not None
        for line in process.stdout:
            row = json.loads(line)
            benchlib.say(f"{row['name']}: {milliseconds(row):.2f} ms, "
                         f"{share(row, 'unavoidable')} of what is unavoidable, "
                         f"{share(row, 'moved')} of what is moved")
            yield row
    if process.returncode != 0:
        benchlib.fail("the measurement did not finish; its own message is above")


def milliseconds(row):
    return benchlib.median([one["ms"] for one in row["rounds"]])


def reached(row, which):
    return benchlib.median(row[f"{which}_shares"])


def share(row, which):
    shares = row[f"{which}_shares"]
    return f"{100 * reached(row, which):.0f} % ({100 * min(shares):.0f} to {100 * max(shares):.0f})"


def cells(row):
    def rate(key):
        return f"{benchlib.median([one[key] for one in row['rounds']]):.0f}"
    return [row["name"], f"{milliseconds(row):.2f} ms",
            f"{row['unavoidable_bytes'] / 1e6:.0f}", share(row, "unavoidable"),
            f"{row['moved_bytes'] / 1e6:.0f}", share(row, "moved"),
            ", ".join(map(rate, ["read_gbs", "copy_gbs", "write_gbs"]))]


def summary(rows, which):
    shares = [reached(row, which) for row in rows]
    return (f"{sum(value >= GOAL for value in shares)} of {len(rows)} operators reach "
            f"{100 * GOAL:.0f} % of the measured bandwidth for the bytes that are {which}, "
            f"geometric mean {100 * benchlib.geomean(shares):.0f} %.")


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
    benchlib.write_result(
        options.out, "Memory-bound operators of the expert", benchlib.command_line(),
        [summary(rows, "unavoidable") + " " + summary(rows, "moved"),
         benchlib.table(["operator", "time", "unavoidable MB", "of the bandwidth", "moved MB",
                         "of the bandwidth", "GB/s measured: read, copy, write"], map(cells, rows)),
         "Unavoidable: inputs once, outputs once. Moved: by the kernel's plan, each pass over what "
         "no cache keeps until then. Shares are medians of nine rounds (lowest to highest), each "
         "with its own measurement of the bandwidth beyond the caches: copying and writing are the "
         "faster of plain stores and stores past the caches. Defaults of the tunables, not tuned."])


if __name__ == "__main__":
    main()
