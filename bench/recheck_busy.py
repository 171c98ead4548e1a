#!/usr/bin/env python3
"""What does `pragma recheck` say of honest figures while another program uses a processor?

    bench/recheck_busy.py --home DIR [--count 20] [--busy 0.2-0.3] [--rows FILE]

DIR holds finished runs that were made on a quiet machine, as bench/call_agreement.py --home DIR leaves them. Their
newest passed bundles, one a task, are judged again while a program computes for about ON seconds and sleeps for about
OFF seconds, again and again. Noise must refute nothing: every answer must be confirmed (0) or inconclusive (4).
It writes docs/results/recheck-busy.md and exits with 1 if a result was refuted.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import time

import aa_busy
import benchlib

ANSWERS = {0: "confirmed", 1: "refuted", 4: "inconclusive"}


def passed_runs(program: pathlib.Path, home: pathlib.Path, count: int) -> list[tuple[str, str]]:
    """Returns (task, run) of passed runs, the newest of each task."""
    command = [str(program), "runs", "--json", "--home", str(home)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    newest: dict[str, str] = {}
    for run in json.loads(listed.stdout)["runs"]:
        if (run.get("final") or {}).get("status") == "passed":
            newest.setdefault(run["task"], run["run"])
    return sorted(newest.items())[:count]


def recheck(program: pathlib.Path, home: pathlib.Path, run: str) -> dict:
    started = time.monotonic()
    command = [str(program), "recheck", run, "--json", "--home", str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    row = {"run": run, "answer": ANSWERS.get(done.returncode, f"exit {done.returncode}"),
           "seconds": time.monotonic() - started}  # fmt: skip
    try:
        said = json.loads(done.stdout)
        return row | {"differences": said["differences"]}
    except (json.JSONDecodeError, KeyError):
        return row | {"differences": [{"what": done.stderr.strip()[-300:]}]}


def measure(options: argparse.Namespace, program: pathlib.Path) -> list[dict]:
    rows = benchlib.read_rows(options.rows)
    known = {row["run"] for row in rows}
    for number, (task, run) in enumerate(passed_runs(program, options.home, options.count), 1):
        if run in known:
            continue
        with aa_busy.Disturbance(aa_busy.parse_busy(options.busy), number):
            rows.append({"task": task, "busy": options.busy} | recheck(program, options.home, run))
        with options.rows.open("a", encoding="utf-8") as out:
            out.write(json.dumps(rows[-1]) + "\n")
        benchlib.say(f"{task}: {rows[-1]['answer']}, {rows[-1]['seconds']:.0f} s")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "recheck-busy.md")
    parser.add_argument("--home", type=pathlib.Path, required=True, help="store with the runs")
    parser.add_argument("--count", type=int, default=20, help="results to judge again (default: 20)")
    parser.add_argument("--busy", default="0.2-0.3", metavar="ON-OFF", help="seconds (default: 0.2-0.3)")
    parser.add_argument("--rows", type=pathlib.Path, default=pathlib.Path("build/recheck_busy.jsonl"),
                        help="results so far: kept and appended to")  # fmt: skip
    options = parser.parse_args()
    rows = measure(options, benchlib.program(options.build, "pragma"))
    counts = {answer: sum(row["answer"] == answer for row in rows) for answer in sorted({row["answer"] for row in rows})}
    total = ", ".join(f"{number} {answer}" for answer, number in counts.items())
    benchlib.say(total)
    reason = ["; ".join(" ".join(map(str, item.values())) for item in row["differences"]).replace("|", "/")[:240]
              for row in rows]  # fmt: skip
    table = benchlib.table(["task", "answer", "seconds", "differences"],
                           [[row["task"], row["answer"], f"{row['seconds']:.0f}", why]
                            for row, why in zip(rows, reason, strict=True)])  # fmt: skip
    text = f"A program uses a processor for {options.busy} s (on-off) during every recheck. Of {len(rows)}: **{total}**."
    benchlib.write_result(options.out, "Rechecks on a busy machine", benchlib.command_line(), [text, table])
    return 1 if counts.get("refuted") else 0


if __name__ == "__main__":
    sys.exit(main())
