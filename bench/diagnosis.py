#!/usr/bin/env python3
"""Does `pragma profile` name the known cause?

bench/diagnosis/ holds slow kernels (--folder names another set, such as bench/diagnosis/unseen). Each has its cause in the head of its source, and a twin (NAME.fixed.cpp) in which
only that cause is removed. For each slow kernel this reports the classes that `pragma profile` names, and the rank of
the true one. For each twin it reports the measured speedup over the slow kernel (`pragma evaluate --against`) next to
the predicted one. The wall time of each `pragma profile` is kept too: nothing but the machine's figures is stored when
it starts. It writes docs/results/diagnosis.md, or for another set docs/results/diagnosis-SET.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import benchlib

FOLDER = benchlib.ROOT / "bench" / "diagnosis"
DESIGN = benchlib.ROOT / "docs" / "design.md"
SHOWN = 3  # a profile names at most this many causes
FIXED = ".fixed.cpp"


@dataclasses.dataclass(frozen=True)
class Case:
    """A slow kernel, the cause that makes it slow, and the twin without that cause."""

    name: str
    kernel: pathlib.Path
    twin: pathlib.Path
    task: pathlib.Path
    cause: str
    also: frozenset[str]  # further answers that are equally right
    why: str

    @property
    def answers(self):
        return {self.cause} | self.also

    @property
    def digest(self):
        text = b"".join(path.read_bytes() for path in (self.kernel, self.twin, self.task))
        return hashlib.sha256(text).hexdigest()[:16]


def known_classes(design=DESIGN):
    """Returns the class ids for processors from docs/design.md 11."""
    text = design.read_text(encoding="utf-8")
    listed = re.search(r"^Diagnosis classes .*?CPU: (.*?)^GPU:", text, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`(\w+)`", listed.group(1))) if listed else set()


def head_of(kernel):
    """Returns the `// key: value` lines before the first line that does not have this form."""
    head = {}
    for line in kernel.read_text(encoding="utf-8").splitlines():
        match = re.fullmatch(r"// ([a-z-]+): (.+)", line)
        if not match:
            break
        head[match.group(1)] = match.group(2)
    return head


def read_case(kernel, folder=FOLDER):
    head = head_of(kernel)
    missing = [key for key in ("task", "cause", "why", "pragma-flags") if key not in head]
    if missing:
        raise ValueError(f"{kernel.name}: its head lacks {', '.join(missing)}")
    return Case(name=kernel.stem, kernel=kernel, twin=kernel.with_name(kernel.stem + FIXED),
                task=folder / "tasks" / (head["task"] + ".py"), cause=head["cause"],
                also=frozenset(head.get("also", "").replace(",", " ").split()), why=head["why"])


def read_cases(folder=FOLDER):
    if not (folder / "kernels").is_dir():
        benchlib.fail(f"{folder} has no folder kernels")
    kernels = sorted((folder / "kernels").glob("*.cpp"))
    return [read_case(kernel, folder) for kernel in kernels if not kernel.name.endswith(FIXED)]


# --- asking the program ---------------------------------------------------------------------------


def ask(command, limit):
    """Returns the object that a --json command prints, or {"failure": why}."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        return benchlib.last_json(done.stdout, command[1])
    except subprocess.TimeoutExpired:
        return {"failure": f"not done within {limit} s"}
    except (ValueError, json.JSONDecodeError):
        lines = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
        return {"failure": lines[-1]}


def failure_of(answer):
    failure = answer.get("failure")
    return str(failure.get("message", failure)) if isinstance(failure, dict) else failure


def profile(program, case, options):
    command = [program, "profile", case.task, case.kernel, "--json", "--home", options.home]
    started = time.monotonic()
    answer = ask(list(map(str, command)), options.limit)
    wall = time.monotonic() - started
    body = answer if "diagnosis" in answer else answer.get("profile") or {}
    found = [{"class": d["class"], "score": d.get("score"), "predicted": d.get("predicted_speedup"),
              "evidence": d.get("evidence", [])} for d in body.get("diagnosis") or []]
    failure = failure_of(answer)
    if "diagnosis" not in body:
        status = (answer.get("evaluate") or answer).get("status", "no diagnosis")
        failure = failure or f"{status}: {(answer.get('evaluate') or answer).get('reason', '')}"
    return {"found": found, "failure": failure, "metrics": body.get("metrics") or [], "wall": wall,
            "seconds": sum(note["seconds"] for note in body.get("providers") or [])}


def diagnose_again(program, known, options):
    """Returns what the current rules say about recorded metrics, to tune rules without measuring anew."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"schema": 1, "metrics": known["profile"]["metrics"]}, file)
        file.flush()
        answer = ask([str(program), "diagnose", file.name, "--json"], options.limit)
    found = [{"class": d["class"], "score": d.get("score"), "predicted": d.get("predicted_speedup"),
              "evidence": d.get("evidence", [])} for d in answer.get("diagnosis") or []]
    return known | {"profile": known["profile"] | {"found": found, "failure": failure_of(answer)}}


def compare(program, case, options):
    """Returns the twin's speedup over the slow kernel: {"median", "ci95"}, or a failure."""
    command = [program, "evaluate", case.task, case.twin, "--against", case.kernel, "--json",
               "--no-compile-baseline", "--home", options.home]
    answer = ask(list(map(str, command)), options.limit)
    ratio = (answer.get("speedup") or {}).get("best")
    if ratio:
        return {"median": ratio["median"], "ci95": ratio["ci95"]}
    return {"failure": failure_of(answer) or f"{answer.get('status', 'no verdict')}: {answer.get('reason', '')}"}


def measure(program, case, options, known):
    """Measures one case. `known` comes from an interrupted run. Parts that failed there are tried again."""
    failed = [part for part in ("profile", "twin") if (known.get(part) or {}).get("failure")]
    result = {key: value for key, value in known.items() if key not in failed}
    result |= {"kernel": case.name, "digest": case.digest}
    if "profile" not in result:
        result["profile"] = profile(program, case, options)
    if not options.no_twin and "twin" not in result:
        result["twin"] = compare(program, case, options)
    return result


# --- judging the results --------------------------------------------------------------------------


def classes_of(result):
    return [d["class"] for d in result["profile"]["found"]][:SHOWN]


def rank_of(case, result):
    """Returns the rank of the true class: 1 for the first, 0 if no true answer is among those shown."""
    for number, name in enumerate(classes_of(result), 1):
        if name in case.answers:
            return number
    return 0


def predicted_of(case, result):
    """Returns the gain predicted for the true class, or None if it was not found or nothing was predicted."""
    rank = rank_of(case, result)
    return result["profile"]["found"][rank - 1]["predicted"] if rank else None


def twin_is_faster(result):
    twin = result.get("twin") or {}
    return "ci95" in twin and twin["ci95"][0] > 1


def direction_is_right(case, result):
    """Returns whether a gain was predicted exactly if one was measured, or None if either figure is missing."""
    predicted = predicted_of(case, result)
    if predicted is None or "ci95" not in (result.get("twin") or {}):
        return None
    return (predicted > 1) == twin_is_faster(result)


def figure(value):
    return "-" if value is None else f"{value:.2f}"


def twin_text(result):
    twin = result.get("twin")
    if not twin:
        return "-"
    if "ci95" not in twin:
        return one_line(twin["failure"])
    return f"{twin['median']:.2f} ({twin['ci95'][0]:.2f} to {twin['ci95'][1]:.2f})"


def one_line(text):
    return " ".join(str(text).replace("|", "/").split())[:160]


def row_of(case, result):
    cause = case.cause + "".join(f" or {name}" for name in sorted(case.also))
    found = ", ".join(classes_of(result)) or one_line(result["profile"]["failure"] or "nothing")
    direction = {None: "-", True: "yes", False: "no"}[direction_is_right(case, result)]
    return [case.name, cause, found, rank_of(case, result) or "-", figure(predicted_of(case, result)),
            twin_text(result), direction]


def totals(cases, results):
    """Returns sentences with the figures that are compared between versions."""
    ranks = [rank_of(case, result) for case, result in zip(cases, results)]
    lines = [f"True cause first in {ranks.count(1)} of {len(cases)} kernels, "
             f"among the first three in {sum(r > 0 for r in ranks)} of {len(cases)}."]
    causes = {case.cause for case in cases}
    first = {case.cause for case, rank in zip(cases, ranks) if rank == 1}
    lines.append(f"Causes of which at least one kernel was named first: {len(first)} of {len(causes)}.")
    seconds = [r["profile"]["seconds"] for r in results if r["profile"].get("seconds")]
    if seconds:
        lines.append(f"A profile takes {benchlib.median(seconds):.1f} s at the median, {max(seconds):.1f} s at most "
                     "(all its sources, without the evaluation before it).")
    walls = [r["profile"]["wall"] for r in results if r["profile"].get("wall")]
    if walls:
        lines.append(f"`pragma profile` of a task and kernel that it has not seen takes {benchlib.median(walls):.1f} s at the "
                     f"median, {max(walls):.1f} s at most (the whole command: build, check, time, profile).")
    timed = [(c, r) for c, r in zip(cases, results) if "ci95" in (r.get("twin") or {})]
    if timed:
        faster = sum(twin_is_faster(r) for _, r in timed)
        lines.append(f"Twin faster than the slow kernel (whole interval above 1) in {faster} of {len(timed)}.")
        judged = [d for d in (direction_is_right(c, r) for c, r in timed) if d is not None]
        lines.append(f"Direction of the predicted gain right in {sum(judged)} of {len(judged)}.")
    return lines


def misses(cases, results):
    """Lists what was named instead, with the evidence given for it."""
    lines = []
    for case, result in zip(cases, results):
        if rank_of(case, result) == 1:
            continue
        found = result["profile"]["found"][:1]
        said = f"{found[0]['class']} ({one_line('; '.join(found[0]['evidence']))})" if found else "nothing"
        lines.append(f"- {case.name}: {case.cause}, for {case.why}. Said first: {said}.")
    return "\n".join(lines)


def report(path, folder, cases, results):
    header = ["kernel", "true cause", "found", "rank", "predicted", "twin's speedup (95 %)", "direction right"]
    parts = [f"Each kernel of `{folder.relative_to(benchlib.ROOT)}/kernels/` is slow for one known reason; its twin removes just that. "
             "Found: the classes that `pragma profile` names, first the one that explains most. Predicted: what the "
             "profile expects from removing the true cause. Twin's speedup: median and interval over the slow kernel, "
             "measured in pairs.",
             "\n".join(f"- {line}" for line in totals(cases, results)),
             benchlib.table(header, [row_of(c, r) for c, r in zip(cases, results)])]
    missed = misses(cases, results)
    if missed:
        parts += ["## Not named first", missed]
    benchlib.write_result(path, "Known causes against the diagnosis", benchlib.command_line(), parts)


# --- the run --------------------------------------------------------------------------------------


def recorded(path, cases):
    """Returns results of an interrupted run whose sources are unchanged. A kernel's last line counts."""
    digests = {case.name: case.digest for case in cases}
    known = {}
    if path and path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                continue  # the run was interrupted while it wrote this line
            if digests.get(result.get("kernel")) == result.get("digest"):
                known[result["kernel"]] = result
    return known


def run_all(program, cases, options):
    known, results = recorded(options.resume, cases), []
    for number, case in enumerate(cases, 1):
        before = known.get(case.name, {})
        if options.diagnose_again:
            if not before.get("profile", {}).get("metrics"):
                benchlib.fail(f"--diagnose-again: {options.resume} has no metrics of {case.name}")
            before = diagnose_again(program, before, options)
        result = before if options.diagnose_again else measure(program, case, options, before)
        if options.resume and result != before and not options.diagnose_again:
            with options.resume.open("a", encoding="utf-8") as out:
                out.write(json.dumps(result) + "\n")
        results.append(result)
        rank = rank_of(case, result)
        benchlib.say(f"[{number}/{len(cases)}] {case.name}: {case.cause} {'is number ' + str(rank) if rank else 'not found'} "
                     f"in {', '.join(classes_of(result)) or result['profile']['failure'] or 'nothing'}; "
                     f"twin {twin_text(result)}")
    return results


def selected(names, folder):
    cases = read_cases(folder)
    unknown = set(names) - {case.name for case in cases}
    if unknown:
        benchlib.fail(f"no such kernel in {folder / 'kernels'}: {', '.join(sorted(unknown))}")
    return [case for case in cases if not names or case.name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "diagnosis.md")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="the set of kernels (default: bench/diagnosis)")
    parser.add_argument("--only", nargs="+", action="extend", default=[], metavar="NAME", help="these kernels")
    parser.add_argument("--no-twin", action="store_true", help="profiles only, without timing the twins")
    parser.add_argument("--resume", type=pathlib.Path, metavar="FILE", help="JSON lines, one a kernel: kept and appended to")
    parser.add_argument("--diagnose-again", action="store_true",
                        help="ask the present rules about the metrics in --resume FILE; nothing is measured")
    parser.add_argument("--home", type=pathlib.Path, help="the program's state (default: a temporary folder)")
    parser.add_argument("--limit", type=int, default=900, help="seconds that one command may take (default: 900)")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    if options.folder != FOLDER and options.out == parser.get_default("out"):
        options.out = options.out.with_stem(f"diagnosis-{options.folder.name}")
    cases = selected(options.only, options.folder)
    program = benchlib.program(options.build, "pragma")
    with tempfile.TemporaryDirectory() as folder:
        options.home = options.home or pathlib.Path(folder) / "home"
        results = run_all(program, cases, options)
    for line in totals(cases, results):
        benchlib.say(line)
    report(options.out, options.folder, cases, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
