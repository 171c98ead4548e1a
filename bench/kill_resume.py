#!/usr/bin/env python3
"""kill -9 at random moments, then resume: does the run end as if nothing had happened?

Replayed runs (--kills, 50): an undisturbed `pragma replay RECORDING` gives the tree's signature and the time it takes.
Then the replay is started in a fresh home and killed at a random moment within that time. `pragma resume` must end with
the same signature. The calls that were committed when it was killed must be unchanged at the front, none may be there
twice, and their number must be that of the undisturbed run. A kill before the run was in the store leaves nothing to
resume, and one after the end kills nothing. Both are counted separately and repeated.

Real runs (--real N): `pragma optimize` on the recorded task with real builds, checks and timings. A command returns the
recorded replies and counts how often it is asked. After the kill and the resume every attempt must be there, and no
committed reply may have been asked for again.

Leftovers: this script makes itself the reaper of all orphans below it. Any process of the killed run that lives on
(even a stopped one) therefore becomes a child of the script. It also looks for new entries of /dev/shm and System V
shared memory.
"""

import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import benchlib

PR_SET_CHILD_SUBREAPER = 36
GRACE_SECONDS = 10.0  # a killed process tree needs a moment to end

REPLY = """
import pathlib, shutil, sqlite3, sys, tempfile, json
home, replies, log = map(pathlib.Path, sys.argv[1:4])
sys.stdin.read()
with sqlite3.connect(f"file:{home}/pragma.db?mode=ro", uri=True) as store:
    index = store.execute("SELECT count(*) FROM call").fetchone()[0]
with open(log, "a") as file:
    file.write(f"{index}\\n")
print(json.loads(replies.read_text())[index])
"""


def become_reaper():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        benchlib.fail("cannot become the reaper of orphans (prctl)")


def descendants():
    """Returns {pid: (state, command line)} of every living process below this one."""
    parents, facts = {}, {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (OSError, IndexError):
            continue
        parents[int(entry.name)] = int(stat[1])
        facts[int(entry.name)] = (stat[0], command.strip() or "?")
    found, grew = {os.getpid()}, True
    while grew:
        below = {pid for pid, parent in parents.items() if parent in found} - found
        grew = bool(below)
        found |= below
    found.discard(os.getpid())
    return {pid: facts[pid] for pid in found}


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def survivors():
    """Waits until no descendant is alive. Returns those that still are, and the seconds it took."""
    start = time.monotonic()
    while True:
        reap()
        living = descendants()
        waited = time.monotonic() - start
        if not living or waited > GRACE_SECONDS:
            for pid in living:
                os.kill(pid, signal.SIGKILL)
            return [f"{pid} {state} {command[:80]}" for pid, (state, command) in living.items()], waited
        time.sleep(0.01)


def shared_memory():
    names = {f"/dev/shm/{path.name}" for path in pathlib.Path("/dev/shm").iterdir()}
    try:
        lines = pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
        names |= {"sysv " + line.split()[1] for line in lines}
    except OSError:
        pass
    return names


def mapped_by_others(name):
    """Tells whether a process has the memory mapped. Then another program of this machine made it."""
    for maps in pathlib.Path("/proc").glob("[0-9]*/maps"):
        try:
            if name in maps.read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


def left_memory(before):
    """Returns new shared memory that no living process holds, after waiting for what is removed by itself."""
    start = time.monotonic()
    while True:
        names = {name for name in shared_memory() - before if not mapped_by_others(name)}
        if not names or time.monotonic() - start > GRACE_SECONDS:
            return names
        time.sleep(0.2)


def committed(home):
    """Returns the rows of the call and trial tables on disk. Reads a copy, so that nothing changes."""
    if not (home / "pragma.db").exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        for file in home.glob("pragma.db*"):
            shutil.copy(file, folder)
        with sqlite3.connect(pathlib.Path(folder) / "pragma.db") as store:
            try:
                if store.execute("SELECT count(*) FROM run").fetchone()[0] == 0:
                    return None
                calls = store.execute("SELECT node, role, ordinal, prompt_json, completion_json "
                                      "FROM call ORDER BY number").fetchall()
                trials = store.execute("SELECT count(*) FROM trial").fetchone()[0]
            except sqlite3.OperationalError:  # killed before the tables were created
                return None
        store.close()
    digests = [hashlib.sha256(json.dumps(row).encode()).hexdigest() for row in calls]
    return {"calls": digests, "trials": trials}


def start(command):
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(command):
    """Runs a command to its end. Returns exit code, the JSON object or None, and the last line of stderr."""
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    try:
        value = benchlib.last_json(done.stdout, str(command[1]))
    except ValueError:
        value = None
    lines = done.stderr.strip().splitlines()
    return done.returncode, value, lines[-1] if lines else ""


def kill_after(command, seconds):
    """Starts a command, waits, and kills it with -9. Returns True if it was still running."""
    process = start(command)
    try:
        process.wait(timeout=seconds)
        return False
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        return True


class Report:
    def __init__(self):
        self.problems, self.waits, self.rows = [], [], {}

    def count(self, name):
        self.rows[name] = self.rows.get(name, 0) + 1

    def problem(self, text):
        self.problems.append(text)
        benchlib.say(f"  PROBLEM: {text}")


def check_left_behind(report, label, before):
    living, waited = survivors()
    report.waits.append(waited)
    for process in living:
        report.problem(f"{label}: left behind: {process}")
    for name in sorted(left_memory(before)):
        report.problem(f"{label}: shared memory left behind: {name}")


def undisturbed(pragma, recording, folder):
    times = []
    for i in range(3):
        home = folder / f"undisturbed-{i}"
        begin = time.monotonic()
        code, value, last = finish([pragma, "replay", recording, "--home", home, "--json"])
        times.append(time.monotonic() - begin)
        if code != 0 or not value or not value.get("same_tree", True):
            benchlib.fail(f"the undisturbed replay failed (exit {code}): {last}")
    rows = committed(home)
    return {"signature": value["signature"], "calls": rows["calls"], "seconds": benchlib.median(times),
            "trials": rows["trials"]}


def one_replayed(pragma, recording, folder, label, expected, report):
    """Kills and resumes one replay. Returns "early", "late" or "counted"."""
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)
    before = shared_memory()
    moment = random.uniform(0, expected["seconds"])
    killed = kill_after([pragma, "replay", recording, "--home", home, "--json"], moment)
    if not killed:
        expected["seconds"] = min(expected["seconds"], moment)
        return "late"
    check_left_behind(report, label, before)
    rows = committed(home)
    if rows is None:
        return "early"
    code, value, last = finish([pragma, "resume", "last", "--home", home, "--json"])
    code_show, shown, _ = finish([pragma, "show", "last", "--home", home, "--json"])
    check_left_behind(report, f"{label}, resume", before)
    after = committed(home)
    if code != 0 or code_show != 0 or not shown:
        report.problem(f"{label}: resume failed (exit {code}): {last}")
        return "counted"
    if shown["signature"] != expected["signature"]:
        report.problem(f"{label}: another tree after the resume")
    if after["calls"][:len(rows["calls"])] != rows["calls"]:
        report.problem(f"{label}: a committed call was changed")
    if after["calls"] != expected["calls"]:
        report.problem(f"{label}: the calls are not the undisturbed run's")
    report.count(f"replayed, {rows['trials']} of {expected['trials']} attempts on disk")
    return "counted"


def replayed(pragma, recording, kills, report):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        expected = undisturbed(pragma, recording, folder)
        benchlib.say(f"undisturbed: {expected['trials']} attempts, {len(expected['calls'])} calls, "
                     f"{expected['seconds']:.2f} s")
        seconds = expected["seconds"]
        counts = repeat(kills, lambda label: one_replayed(pragma, recording, folder, label, expected, report))
        return {**expected, "seconds": seconds}, counts


def repeat(kills, one):
    """Repeats until the given number of kills was counted. Returns {"counted", "early", "late"}."""
    counts = {"counted": 0, "early": 0, "late": 0}
    while counts["counted"] < kills:
        counts[one(f"kill {counts['counted'] + 1}")] += 1
        total = sum(counts.values())
        if total % 10 == 0 or counts["counted"] == kills:
            benchlib.say(f"  {counts['counted']}/{kills} killed and resumed ({counts['early']} too early, "
                         f"{counts['late']} too late)")
        if total > 20 * kills + 20:
            benchlib.fail(f"too few kills hit a running run: {counts}")
    return counts


class RealRun:
    """The recorded task and replies as files, and the command that returns the replies."""

    def __init__(self, recording, folder):
        lines = [json.loads(line) for line in recording.read_text(encoding="utf-8").splitlines() if line]
        head = next(line for line in lines if line["kind"] == "run")
        replies = [line["completion"]["text"] for line in lines if line["kind"] == "call"]
        self.attempts = sum(1 for line in lines if line["kind"] == "trial")
        self.strategy = head["settings"].get("preset", {}).get("name", "n-pragma")
        self.task = folder / f"{head['task']['name']}.py"
        self.task.write_text(head["task"]["source"], encoding="utf-8")
        (folder / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
        (folder / "reply.py").write_text(REPLY, encoding="utf-8")
        self.seconds = 0.0  # the time of a run that nothing kills
        self.folder, self.home, self.log = folder, folder / "home", folder / "asked"
        self.model = f"command:{sys.executable} {folder}/reply.py {self.home} {folder}/replies.json {self.log}"

    def command(self, pragma):
        return [pragma, "optimize", self.task, "--model", self.model, "--strategy", self.strategy,
                "--attempts", self.attempts, "--home", self.home, "--no-compile-baseline", "--no-call", "--json"]

    def fresh(self):
        shutil.rmtree(self.home, ignore_errors=True)
        self.log.unlink(missing_ok=True)

    def asked(self):
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def one_real(pragma, run, label, report):
    run.fresh()
    before = shared_memory()
    moment = random.uniform(0, run.seconds)
    if not kill_after(run.command(pragma), moment):
        run.seconds = min(run.seconds, moment)
        return "late"
    check_left_behind(report, label, before)
    rows = committed(run.home)
    if rows is None:
        return "early"
    lost = run.asked() - len(rows["calls"])
    code, _, last = finish([pragma, "resume", "last", "--home", run.home, "--no-compile-baseline", "--no-call", "--json"])
    check_left_behind(report, f"{label}, resume", before)
    after = committed(run.home)
    if code not in (0, 1):
        report.problem(f"{label}: resume failed (exit {code}): {last}")
    if after["trials"] != run.attempts:
        report.problem(f"{label}: {after['trials']} attempts after the resume, not {run.attempts}")
    if lost not in (0, 1):
        report.problem(f"{label}: {lost} replies were asked and not committed")
    if run.asked() - len(after["calls"]) != lost:
        report.problem(f"{label}: a committed reply was asked again")
    report.count(f"real, {rows['trials']} of {run.attempts} attempts on disk")
    return "counted"


def real(pragma, recording, kills, report):
    with tempfile.TemporaryDirectory() as name:
        run = RealRun(recording, pathlib.Path(name))
        run.fresh()
        begin = time.monotonic()
        code, _, last = finish(run.command(pragma))
        seconds = run.seconds = time.monotonic() - begin
        if code not in (0, 1):
            benchlib.fail(f"the undisturbed real run failed (exit {code}): {last}")
        benchlib.say(f"real run undisturbed: {run.attempts} attempts, {seconds:.1f} s")
        return seconds, repeat(kills, lambda label: one_real(pragma, run, "real " + label, report))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=pathlib.Path, nargs="?", help="default: the first of recordings/")
    parser.add_argument("--kills", type=int, default=50, help="of replayed runs (50)")
    parser.add_argument("--real", type=int, default=0, help="of real runs (0)")
    parser.add_argument("--seed", type=int, default=None, help="seed of the moments (default: random, and printed)")
    benchlib.add_common(parser, "kill-resume.md")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    recording = options.recording or next(iter(sorted((benchlib.ROOT / "recordings").glob("*.jsonl"))), None)
    if recording is None or not recording.exists():
        benchlib.fail("no recording: name a file, or put one into recordings/")
    seed = options.seed if options.seed is not None else random.randrange(2**32)
    random.seed(seed)
    become_reaper()
    report = Report()
    parts = []
    if options.kills:
        expected, counts = replayed(pragma, recording, options.kills, report)
        parts.append(f"Replayed: {recording.name}, {expected['trials']} attempts, {len(expected['calls'])} "
                     f"calls, {expected['seconds']:.2f} s undisturbed; {options.kills} kills of a running run "
                     f"that was in the store, {counts['early']} before it was (nothing to resume), "
                     f"{counts['late']} after its end; moments from seed {seed}.")
    if options.real:
        seconds, counts = real(pragma, recording, options.real, report)
        parts.append(f"Real: the same task and replies with real builds, checks and timings, {seconds:.1f} s "
                     f"undisturbed; {options.real} kills of a running run, {counts['early']} before it was in "
                     f"the store, {counts['late']} after its end.")
    parts.append(benchlib.table(["what was killed", "times"], sorted(report.rows.items())))
    parts.append(f"After the kill every process was gone after at most {max(report.waits) * 1e3:.0f} ms "
                 f"(median {benchlib.median(report.waits) * 1e3:.0f} ms).")
    parts.append("Problems: none." if not report.problems
                 else "Problems:\n\n" + "\n".join(f"- {text}" for text in report.problems))
    benchlib.write_result(options.out, "kill -9 and resume", benchlib.command_line(), parts)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
