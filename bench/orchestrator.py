#!/usr/bin/env python3
"""Measures the orchestrator's own time in a run of 15 attempts: everything but model, build and run.

The replies of a recorded conversation, repeated in order, drive one real run (real builds, checks and timings; the
model is a script that takes no time). The run's recording is then replayed. A replay does everything that the
orchestrator does (prompts, windows, strategy, store) and nothing else. The result is therefore the replay's wall time
over the real run's. Aim: below 1 %.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import benchlib
import kill_resume


def completions(recording):
    """Returns the texts of the recorded replies by role, without decisions to stop."""
    texts: dict[str, list[str]] = {"coder": [], "conductor": []}
    for line in recording.read_text(encoding="utf-8").splitlines():
        value = json.loads(line)
        if value["kind"] == "call" and '"stop": true' not in value["completion"]["text"]:
            texts[value["role"]].append(value["completion"]["text"])
    return texts


def replies_of(recording, attempts):
    texts = completions(recording)
    replies = [texts["coder"][0]]
    for i in range(1, attempts):
        replies += [texts["conductor"][i % len(texts["conductor"])], texts["coder"][i % len(texts["coder"])]]
    return replies


def timed(command):
    """Returns the exit code, the wall seconds, and the processor seconds of the command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 1):
        benchlib.fail(f"{command[1]}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return done, wall, spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=pathlib.Path, nargs="?", help="default: the last of recordings/")
    parser.add_argument("--attempts", type=int, default=15)
    parser.add_argument("--replays", type=int, default=5, help="median taken (5)")
    benchlib.add_common(parser, "orchestrator.md")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    recording = options.recording or sorted((benchlib.ROOT / "recordings").glob("*.jsonl"))[-1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = kill_resume.RealRun(recording, folder)
        run.attempts = options.attempts
        (folder / "replies.json").write_text(json.dumps(replies_of(recording, options.attempts)))
        benchlib.say(f"a real run of {options.attempts} attempts")
        _, real, _ = timed(run.command(pragma))
        long = folder / "long.jsonl"
        timed([pragma, "export", "last", "--recording", long, "--home", run.home])
        trials = sum(1 for line in long.read_text().splitlines() if json.loads(line)["kind"] == "trial")
        if trials != options.attempts:
            benchlib.fail(f"the run ended after {trials} attempts, not {options.attempts}")
        walls, spents = [], []
        for i in range(options.replays):
            done, wall, spent = timed([pragma, "replay", long, "--home", folder / f"replay-{i}", "--json"])
            if not benchlib.last_json(done.stdout, "pragma replay")["same_tree"]:
                benchlib.fail("the replay grew another tree")
            walls.append(wall)
            spents.append(spent)
    own, processor = benchlib.median(walls), benchlib.median(spents)
    share = own / real
    rows = [["real run: model, build, run and orchestrator", f"{real:.2f} s", "100 %"],
            ["replay of it: orchestrator only, wall", f"{own:.3f} s", f"{100 * share:.2f} %"],
            ["replay of it: processor time", f"{processor:.3f} s", f"{100 * processor / real:.2f} %"]]
    verdict = f"Aim: below 1 %: {'reached' if share < 0.01 else 'NOT reached'}."
    note = ("The model takes no time here (a script hands out recorded replies), so the share is an upper "
            "bound: with a model's minutes it is smaller still.")
    benchlib.write_result(options.out, "The orchestrator's own time", benchlib.command_line(),
                          [f"{recording.name}, {options.attempts} attempts.",
                           benchlib.table(["what", "time", "share"], rows), verdict, note])
    return 0 if share < 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())
