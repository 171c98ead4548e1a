#!/usr/bin/env python3
"""Optimises odd modules (modules.py) with the real program, and says of each how it ended.

    tests/odd/run.py --seed 7 --count 1000 --jobs 2 [--seconds 170] [--out FOLDER] [--rows FILE] [--table]
    tests/odd/run.py --files FILE... --rows FILE    # modules of your own: ends with a table of them
    PRAGMA_PYTHON=FILE tests/odd/run.py --kept      # the modules that once failed, with another interpreter's Torch

Rows are appended to FOLDER/rows.jsonl or FILE, and modules that have a row are not tried again: the same command goes on where
it was stopped. The exit status is 1 if a module ended badly: a crash, a hang, a traceback, a kernel that is wrong.

    solved   a kernel passed, and ModelNew computes what Model does in a plain process (compare.py)
    judged   an author was asked, and its candidate did not pass or no ModelNew could be written
    refused  the program said in one line why it does not take the module
    failed   anything else
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
from typing import Any

import oddities  # noqa: F401  (fills the table of oddities)
from modules import ODDITIES, make

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("PRAGMA_PYTHON", str(ROOT / ".venv/bin/python"))
BUDGET = 60  # seconds; what does not fit is left out (docs/measuring.md, "When time is short")
KEPT = {file.stem: file for file in sorted((ROOT / "tests/odd/kept").glob("*.py"))}
LIMIT = 4  # of its budget, after which a module hangs


def optimise(file: pathlib.Path, folder: pathlib.Path, home: pathlib.Path, budget: int = BUDGET) -> tuple[int, str, str, float]:
    """Returns the exit status (negative: a signal; None is said as 1000: it did not end), stderr, stdout, seconds."""
    build = pathlib.Path(os.environ.get("PRAGMA_BUILD", ROOT / "build"))
    command = [str(build / "pragma"), "optimize", str(file), "--attempts", "1", "--time", f"{budget}s"]
    command += ["--no-call", "--no-compile-baseline", "--no-lint", "--home", str(home), "--out", str(folder / "out")]
    settings = {"PRAGMA_SETTINGS": str(ROOT / "tests/odd/quick.toml")}
    started = time.monotonic()
    try:
        ran = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=LIMIT * budget, env=os.environ | settings, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as late:
        return 1000, str(late.stderr or ""), "", time.monotonic() - started
    return ran.returncode, ran.stderr, ran.stdout, time.monotonic() - started


def compared(file: pathlib.Path, new: pathlib.Path, folder: pathlib.Path) -> str:
    environment = os.environ | {"TORCH_EXTENSIONS_DIR": str(folder / "extensions")}
    try:
        ran = subprocess.run(
            [PYTHON, str(ROOT / "tests/odd/compare.py"), str(file), str(new)],
            capture_output=True, text=True, errors="replace", timeout=LIMIT * BUDGET, env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"comparing took more than {LIMIT * BUDGET} s"
    last = (ran.stdout.strip().splitlines() or [""])[-1]
    if ran.returncode == 0:
        return ""
    return last if ran.returncode == 1 and last.startswith("seed") else "comparing fails: " + ran.stderr.strip()[-300:]


def verdict(status: int, err: str, out: str, file: pathlib.Path, folder: pathlib.Path) -> tuple[str, str]:
    lines = [line for line in err.splitlines() if line.startswith("pragma:")]
    last = lines[-1].removeprefix("pragma: ") if lines else ""
    if status == 1000:
        return "failed", "hang"
    if status < 0 or status in (128 + 6, 128 + 8, 128 + 9, 128 + 11):
        return "failed", f"crash: status {status}"
    if "Traceback (most recent call last)" in err + out:
        return "failed", "traceback: " + (err.strip().splitlines() or [""])[-1]
    if status == 2:
        return ("refused", last) if last.startswith("error:") else ("failed", "status 2 without an error: " + err[-300:])
    if status == 1:
        said = next((line for line in reversed(lines) if "attempt" in line), last)
        return ("judged" if "attempt" in said else "refused"), said.removeprefix("pragma: ")
    if status != 0:
        return "failed", f"status {status}: {err.strip()[-300:]}"
    new = next(iter(sorted((folder / "out").glob("*_new.py"))), None)
    if new is None:
        return "judged", "passed, no ModelNew: " + last
    said = compared(file, new, folder)
    return ("failed", "wrong kernel: " + said) if said else ("solved", "")


def written(seed: str, folder: pathlib.Path, files: dict[str, pathlib.Path]) -> tuple[pathlib.Path, list[str]]:
    """Returns the file of a module, a given one by its name or one made from the seed, and its oddities."""
    folder.mkdir(parents=True, exist_ok=True)
    if seed in files:
        return pathlib.Path(shutil.copy(files[seed], folder)), []
    text, names = make(seed)
    file = folder / f"odd_{seed.replace(':', '_')}.py"
    file.write_text(text, encoding="utf-8")
    return file, names


def one(seed: str, folder: pathlib.Path, files: dict[str, pathlib.Path]) -> dict[str, Any]:
    file, names = written(seed, folder, files)
    status, err, out, seconds = optimise(file, folder, folder.parent / "home")
    kind, why = verdict(status, err, out, file, folder)
    row = {"seed": seed, "oddities": names, "outcome": kind, "why": why[:400], "seconds": round(seconds, 1), "status": status}
    if kind != "failed":
        shutil.rmtree(folder)
    else:
        (folder / "stderr").write_text(err, encoding="utf-8")
    return row


def rows_in(path: pathlib.Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(rows: list[dict[str, Any]]) -> str:
    """Returns the summary as Markdown."""
    counts = collections.Counter(row["outcome"] for row in rows)
    parts = [f"{counts[kind]} {kind} ({100 * counts[kind] / max(len(rows), 1):.0f} %)" for kind in ("solved", "judged", "refused", "failed")]
    slowest = sorted(rows, key=lambda row: -row["seconds"])[:3]
    lines = [f"{len(rows)} modules: {', '.join(parts)}. Slowest: " + ", ".join(f"{r['seconds']} s ({r['seed']})" for r in slowest) + ".", ""]
    lines += ["| oddity | modules | solved | judged | refused | failed |", "|---|---|---|---|---|---|"]
    for name in ODDITIES:
        own = collections.Counter(row["outcome"] for row in rows if name in row["oddities"])
        if own:
            lines.append(f"| {name} | {own.total()} | " + " | ".join(str(own[k]) for k in ("solved", "judged", "refused", "failed")) + " |")
    return "\n".join(lines)


def table_of_files(rows: list[dict[str, Any]]) -> str:
    """Returns how each file ended as Markdown."""
    lines = ["| module | ended | seconds | what was said |", "|---|---|---|---|"]
    for row in rows:
        said = row["why"].replace("|", "\\|")
        lines.append(f"| {row['seed']} | {row['outcome']} | {row['seconds']} | {said} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0, help="begin no module after this time (0: no limit)")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("/tmp/odd"))
    parser.add_argument("--rows", type=pathlib.Path, help="the file of the rows (default: rows.jsonl in the folder)")
    parser.add_argument("--kept", action="store_true", help="the modules in tests/odd/kept instead")
    parser.add_argument("--files", type=pathlib.Path, nargs="+", default=[], help="modules of your own instead")
    parser.add_argument("--only", help="one module, by its number")
    parser.add_argument("--show", action="store_true", help="print the modules and run nothing")
    parser.add_argument("--table", action="store_true", help="print the summary of the rows and run nothing")
    given = parser.parse_args()
    wanted = [f"{given.seed}:{i}" for i in ([int(given.only)] if given.only else range(given.count))]
    files = KEPT if given.kept else {file.stem: file for file in given.files}
    wanted = list(files) or wanted
    if given.show:
        texts = ((seed, files[seed].read_text(encoding="utf-8"), []) if seed in files else (seed, *make(seed)) for seed in wanted)
        print("\n\n".join(f"# {seed}: {', '.join(names)}\n{text}" for seed, text, names in texts))
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.rows or given.out / "rows.jsonl"
    rows = rows_in(path)
    done = set() if given.only else {row["seed"] for row in rows}
    started = time.monotonic()

    def run(seed: str) -> dict[str, Any] | None:
        if given.seconds and time.monotonic() - started > given.seconds:
            return None
        return one(seed, given.out / seed.replace(":", "_"), files)

    todo = [] if given.table else [seed for seed in wanted if seed not in done]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for row in pool.map(run, todo):
            if row is None:
                continue
            rows.append(row)
            print(f"{row['seed']:8} {row['outcome']:8} {row['seconds']:6} s  {', '.join(row['oddities'])}: {row['why']}", flush=True)
            with path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
    print((table_of_files if files else table)([row for row in rows if row["seed"] in set(wanted)]))
    return int(any(row["outcome"] == "failed" for row in rows if row["seed"] in set(wanted)))


if __name__ == "__main__":
    sys.exit(main())
