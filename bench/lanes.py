#!/usr/bin/env python3
"""Runs measurements in parallel on a machine with many processors.

  lanes.py COMMANDS --log FOLDER [--processors 2] [--spare 0] [--seconds N]

COMMANDS has one shell command per line. A lane is a group of processors (the threads of a core stay together) with a
/tmp of its own. The lock under which pragma measures therefore holds for the lane, not for the machine. Each lane takes
the next command when its last one has ended. FOLDER gets the output of each. When the time is up, the running commands
are interrupted. Those that can be resumed are resumed by the same command. --spare leaves the first processors to other
programs.

What a lane measures is a ratio, taken in pairs on the same two processors, because it shares memory, last-level cache
and clock with the other lanes. Needs root (a mount namespace for each lane).
"""

from __future__ import annotations

import argparse
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

GRACE_S = 45  # seconds in which interrupted commands can save what they have
LOOK_S = 0.5  # seconds between checks whether the time is up
OWN_TMP = 'mount -t tmpfs tmpfs /tmp && exec sh -c "$1"'


def siblings(cpu: int) -> tuple[int, ...]:
    """Returns the processors of the same core, including `cpu`."""
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        text = path.read_text()
    except OSError:
        return (cpu,)
    found: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def lanes_of(processors: int, spare: int) -> list[list[int]]:
    allowed = os.sched_getaffinity(0)
    cores = sorted({tuple(cpu for cpu in siblings(one) if cpu in allowed) for one in allowed})
    order = [cpu for core in cores for cpu in core][spare:]
    whole = len(order) // processors
    return [order[lane * processors : (lane + 1) * processors] for lane in range(whole)]


class Limit:
    """Tells when to stop. Ctrl-C and SIGTERM end the time at once."""

    def __init__(self, seconds: float):
        self.until = time.monotonic() + seconds
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.reach)

    def reach(self, *_: object) -> None:
        self.until = 0.0

    def reached(self) -> bool:
        return time.monotonic() >= self.until


class Lane(threading.Thread):
    def __init__(self, cpus: list[int], commands: queue.SimpleQueue[tuple[int, str]], log: Path, limit: Limit):
        super().__init__(daemon=True)
        self.cpus, self.commands, self.log, self.limit = cpus, commands, log, limit
        self.broken_off = False

    def run(self) -> None:
        while not self.limit.reached():
            try:
                number, command = self.commands.get_nowait()
            except queue.Empty:
                return
            self.one(number, command)

    def one(self, number: int, command: str) -> None:
        started = time.monotonic()
        with (self.log / f"{number:04}.out").open("w") as out, (self.log / f"{number:04}.err").open("w") as err:
            process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", OWN_TMP, "lane", command],
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, self.cpus),
            )
            code = self.wait(process)
        line = f"{time.monotonic() - started:6.1f} s  {self.cpus}  exit {code}  {command}"
        print(line, file=sys.stderr, flush=True)

    def wait(self, process: subprocess.Popen[bytes]) -> int | str:
        while not self.limit.reached():
            try:
                return process.wait(LOOK_S)
            except subprocess.TimeoutExpired:
                pass
        self.broken_off = True
        return self.interrupt(process)

    @staticmethod
    def interrupt(process: subprocess.Popen[bytes]) -> str:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "killed, time is up"
        return "interrupted, time is up"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", type=Path, help="a shell command a line")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--processors", type=int, default=2, help="of a lane")
    parser.add_argument("--spare", type=int, default=0, help="processors that no lane gets")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which commands are interrupted")
    args = parser.parse_args()
    lanes = lanes_of(args.processors, args.spare)
    if not lanes:
        parser.error(f"no {args.processors} processors are left for a lane")
    args.log.mkdir(parents=True, exist_ok=True)
    commands: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
    lines = [line for line in args.commands.read_text().splitlines() if line.strip()]
    for number, line in enumerate(lines):
        commands.put((number, line))
    limit = Limit(args.seconds)
    running = [Lane(cpus, commands, args.log, limit) for cpus in lanes]
    for lane in running:
        lane.start()
    for lane in running:
        lane.join()
    left = commands.qsize() + sum(lane.broken_off for lane in running)
    print(f"{len(lines) - left} of {len(lines)} commands in {len(lanes)} lanes; {left} are left", file=sys.stderr)
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
