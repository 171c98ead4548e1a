#!/usr/bin/env python3
"""Runs pragma lint over the suite in tasks/ or folders of KernelBench tasks; writes docs/results/lint-NAME.md.

  lint_suite.py --name suite                       the tasks of this repository
  lint_suite.py --name kernelbench-1 --dir DIR     every DIR/*.py

Each task has a process of its own, one after the other. A task that takes longer than --limit seconds, or needs more
memory than there is, gets a line that says so. Existing verdicts (--resume FILE, JSON lines) are kept.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import time

import benchlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lint(program, task, budget, limit):
    """Returns the object that `pragma lint --json` prints, or one with a failure."""
    command = [program, "lint", task, "--json", "--budget", f"{budget}s", "--task-limit", f"{limit}s"]
    started = time.monotonic()
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        answer = json.loads(ran.stdout)
    except subprocess.TimeoutExpired:
        answer = {"failure": f"not done within {limit} s"}
    except json.JSONDecodeError:
        answer = {"failure": (ran.stderr.strip().splitlines() or ["no answer"])[-1]}
    if isinstance(answer.get("failure"), dict):
        answer["failure"] = answer["failure"].get("message", "")
    answer["task"] = task.stem
    answer["seconds_in_all"] = time.monotonic() - started
    return answer


def decoys(answer):
    """Formats the accepted decoys: 'zeros (official and strict; rejected by signed)', ..."""
    parts = []
    for decoy in answer.get("accepted_decoys", []):
        rules = " and ".join(decoy["rules"])
        parts.append(f"{decoy['decoy']} ({rules}; {decoy['rejected_by'] or 'nothing'} rejects it)")
    notes = [n for n in answer.get("notes", []) if not n.startswith("no time")]
    late = sum(1 for n in answer.get("notes", []) if n.startswith("no time"))
    if late:
        notes.append(f"no time for {late} looks")
    return "; ".join(parts + notes)


def table(answers):
    lines = ["| task | verdict | strict mode tells | wrong kernels that its own inputs let pass |", "|---|---|---|---|"]
    for answer in answers:
        if answer.get("verdict") is None:
            lines.append(f"| {answer['task']} | - | - | {benchlib_line(answer.get('failure', ''))} |")
            continue
        tells = "yes" if answer["strict_mode_tells"] else "no"
        lines.append(f"| {answer['task']} | {answer['verdict']} | {tells} | {benchlib_line(decoys(answer))} |")
    return lines


def benchlib_line(text):
    return " ".join(text.replace("|", "/").split())[:400]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True)
    parser.add_argument("--dir", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/pragma")
    parser.add_argument("--budget", type=int, default=40)
    parser.add_argument("--limit", type=int, default=150)
    parser.add_argument("--resume", type=pathlib.Path, help="JSON lines, one an answer; appended to")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    folders = options.dir or sorted(p for p in (ROOT / "tasks").iterdir() if p.is_dir())
    tasks = sorted((t for f in folders for t in f.glob("*.py")), key=lambda t: (len(t.stem.split("_")[0]), t.stem))
    known = {}
    if options.resume and options.resume.exists():
        for line in options.resume.read_text().splitlines():
            answer = json.loads(line)
            known[answer["task"]] = answer
    answers = []
    for i, task in enumerate(tasks):
        answer = known.get(task.stem) or lint(options.program, task, options.budget, options.limit)
        answers.append(answer)
        if options.resume and task.stem not in known:
            with options.resume.open("a") as out:
                out.write(json.dumps(answer) + "\n")
        print(f"{i + 1}/{len(tasks)} {task.stem}: {answer.get('verdict') or answer.get('failure')} "
              f"({answer['seconds_in_all']:.0f} s)", file=sys.stderr)
    verdicts = [a.get("verdict") or "not judged" for a in answers]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in ("sound", "weak", "degenerate", "not judged"))
    blind = [a["task"] for a in answers if a.get("verdict") and not a["strict_mode_tells"]]
    text = [f"# Lint: {options.name}", "", f"`bench/lint_suite.py`, sources {benchlib.commit()}. {benchlib.machine_line()}.", "",
            f"{len(answers)} tasks: {counts}. Strict mode cannot reject every decoy of {len(blind)}"
            + (f": {', '.join(blind)}." if blind else "."), "", *table(answers), ""]
    out = options.out or ROOT / "docs/results" / f"lint-{options.name}.md"
    out.write_text("\n".join(text))
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
