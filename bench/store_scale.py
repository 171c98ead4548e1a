#!/usr/bin/env python3
"""Measures a store with a million trials: appends, opening a run, size.

    bench/store_scale.py --folder FOLDER        on a disk with 25 GB free; writes docs/results/store-scale.md

Fills a store with runs of 1,000 trials. They are as large as those of runs with a language model and profiles: some 5
KB of JSON, 11 KB of profile, and a source of 6 KB that no other trial has. Prompts and replies are left out, because
nothing here reads them. A million trials take some 24 GB of disk and some 3 minutes of processor time. FOLDER keeps
what was filled, and an interrupted filling is continued. Without --folder a temporary folder is created and removed.

Then the store's own functions are measured (pragma-store-scale). Aims: an append takes less than 1 ms, and a run of
1,000 trials is opened in less than 50 ms, as `pragma show` opens it. A trial that comes a second or more after the
last, as in real runs, waits for the disk (docs/store.md). That append and the disk's part of it are reported
separately.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import benchlib

AIM_APPEND_MS, AIM_OPEN_MS = 1.0, 50.0
BYTES_OF_RUN = 25 << 20


def medians(table):
    """Returns the milliseconds by the row's name."""
    rows = re.findall(r"^\| ([^|]+) \| \d+ \| ([0-9.]+) ms", table, re.MULTILINE)
    return {name.strip(): float(value) for name, value in rows}


def verdict(name, milliseconds, aim):
    return f"- {name}: {milliseconds:.2f} ms at the median, asked {aim:g} ms: {'reached' if milliseconds < aim else 'NOT reached'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="runs of 1,000 trials (1000)")
    parser.add_argument("--appends", type=int, default=2000, help="measured appends (2000)")
    parser.add_argument("--openings", type=int, default=20, help="measured openings (20)")
    parser.add_argument("--waiting", type=int, default=20, help="measured appends that wait for the disk, one in a second (20)")
    parser.add_argument("--folder", type=pathlib.Path, help="where the store is made and kept; an existing one is reused")
    benchlib.add_common(parser, "store-scale.md")
    options = parser.parse_args()
    program = benchlib.program(options.build, "pragma-store-scale")
    folder = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="pragma-store-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "home" / "pragma.db"
    missing = options.runs * BYTES_OF_RUN - (store.stat().st_size if store.exists() else 0)
    if shutil.disk_usage(folder).free < missing:
        benchlib.fail(f"{folder} has not the {missing >> 30} GiB of free disk that this takes; give another --folder")
    try:
        done = subprocess.run([str(program), str(folder / "home"), str(options.runs), str(options.appends),
                               str(options.openings), str(options.waiting)], stdout=subprocess.PIPE, text=True, check=False)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    if done.returncode != 0:
        benchlib.fail("pragma-store-scale failed (see above)")
    figures = medians(done.stdout)
    append = figures["append a trial, in quick succession"]
    waiting = figures["append a trial a second after the last, which waits for the disk"]
    own = figures["of that, the store's own part too"]
    opening = figures["open the store and a run of 1,000 trials, as pragma show does"]
    verdicts = "\n".join([verdict("append, in quick succession", append, AIM_APPEND_MS),
                          verdict("append that waits for the disk", waiting, AIM_APPEND_MS),
                          verdict("the same without the disk's sync", own, AIM_APPEND_MS),
                          verdict("opening a run", opening, AIM_OPEN_MS)])
    benchlib.write_result(options.out, f"The store with {options.runs * 1000:,} trials", benchlib.command_line(),
                          [verdicts, done.stdout.strip()])
    return 0 if append < AIM_APPEND_MS and opening < AIM_OPEN_MS else 1


if __name__ == "__main__":
    sys.exit(main())
