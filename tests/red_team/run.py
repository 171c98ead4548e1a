#!/usr/bin/env python3
"""Judges the red team, or the honest suite, and writes a table with counts."""

from __future__ import annotations

import argparse
import collections
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from judge import HERE, Case, Judge, Verdict, read_cases  # noqa: E402

FOLDERS = {"red-team": HERE, "red-team-python": HERE.parent / "red_team_python", "honest": HERE.parent / "honest"}


def counted(statuses: list[str]) -> str:
    return ", ".join(f"{status} {count}" for status, count in collections.Counter(statuses).most_common())


def good(case: Case, verdict: Verdict) -> bool:
    return all(status in case.expect for status in verdict.statuses)


def error_of(verdict: Verdict) -> tuple[float, float]:
    """The largest relative L2 error of all repetitions, and Torch's own."""
    errors = [run["error"] for run in verdict.runs if run.get("error")]
    if not errors:
        return 0.0, 0.0
    return max(e["rel_l2"] or 0.0 for e in errors), max(e["honest_rel_l2"] or 0.0 for e in errors)


def red_team_table(results: dict[Case, Verdict]) -> list[str]:
    lines = ["| exploit | catalogue | must get | got |", "|---|---|---|---|"]
    for case, verdict in results.items():
        mark = "" if good(case, verdict) else " **(!)**"
        own = ", own" if "own" in case.words else ""
        lines.append(f"| `{case.name}` | {case.catalogue}{own} | {', '.join(sorted(case.expect))} | {counted(verdict.statuses)}{mark} |")
    return lines


def honest_table(results: dict[Case, Verdict]) -> list[str]:
    lines = ["| kernel | task | verdicts | relative L2 error | Torch's own |", "|---|---|---|---|---|"]
    for case, verdict in results.items():
        mark = "" if good(case, verdict) else " **(!)**"
        error, own = error_of(verdict)
        lines.append(f"| `{case.name}` | {case.task} | {counted(verdict.statuses)}{mark} | {error:.1e} | {own:.1e} |")
    return lines


def summary(suite: str, results: dict[Case, Verdict], repeat: int) -> str:
    every = [(case, status) for case, verdict in results.items() for status in verdict.statuses]
    accepted = sum(status == "passed" for _, status in every)
    if suite == "honest":
        return f"{len(results)} kernels, {repeat} evaluations of each: {accepted} of {len(every)} passed."
    stated = sum(status in case.expect for case, status in every)
    return f"{len(results)} exploits, {repeat} evaluations of each: {accepted} of {len(every)} accepted, {stated} got the verdict that they must get."


def report(suite: str, results: dict[Case, Verdict], repeat: int, more: str) -> str:
    title = {"red-team": "The red team", "red-team-python": "The red team in Python", "honest": "Honest kernels"}[suite]
    table = honest_table(results) if suite == "honest" else red_team_table(results)
    lines = [f"# {title}", "", f"`tests/red_team/run.py --suite {suite} --repeat {repeat}{more}`.", summary(suite, results, repeat), "", *table]
    odd = [(case, verdict) for case, verdict in results.items() if not good(case, verdict)]
    if odd:
        lines += ["", "## Not as it must be", ""]
        lines += [f"- `{case.name}`: {counted(verdict.statuses)}. {' '.join(verdict.reason.split())[:300]}" for case, verdict in odd]
    return "\n".join(lines) + "\n"


def show_progress(total: int):
    state = {"done": 0, "start": time.monotonic()}

    def show(case: Case, verdict: Verdict) -> None:
        state["done"] += 1
        mark = "ok" if good(case, verdict) else "NOT AS EXPECTED"
        print(f"{state['done']}/{total} {time.monotonic() - state['start']:.0f} s  {case.name}: {counted(verdict.statuses)}  {mark}", file=sys.stderr, flush=True)

    return show


def chosen(options: argparse.Namespace) -> list[Case]:
    mark = "red-team" if options.suite == "red-team-python" else options.suite
    cases = read_cases(FOLDERS[options.suite], mark)
    if not options.only:
        return cases
    known = {case.name: case for case in cases}
    unknown = [name for name in options.only if name not in known]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}")
    return [known[name] for name in options.only]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=sorted(FOLDERS), default="red-team")
    parser.add_argument("--only", metavar="NAME", action="append", help="may be given several times")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--no-timing", action="store_true", help="checks only")
    parser.add_argument("--jail", choices=["full", "reduced"], default="", help="the only kind of jail to use")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="default: stdout")
    options = parser.parse_args()
    cases = chosen(options)
    with tempfile.TemporaryDirectory(prefix="pragma-suite-") as folder:
        judge = Judge(pathlib.Path(folder), options.repeat, show_progress(len(cases)), timing=not options.no_timing, jail=options.jail)
        judge.measure_machine()
        judge.start(cases)
        results = {case: judge.verdict(case) for case in cases}
    more = (" --no-timing" if options.no_timing else "") + (f" --jail {options.jail}" if options.jail else "")
    text = report(options.suite, results, options.repeat, more)
    if options.out:
        options.out.write_text(text)
    else:
        print(text, end="")
    return 0 if all(good(case, verdict) for case, verdict in results.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
