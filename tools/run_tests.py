#!/usr/bin/env python3
"""Runs the project's tests, several processes at a time, and adds up what they counted.

The longest begin first. Tests that no other may run beside come last. A table says how long each step took. The last
line is "N passed, N failed". The exit status is 1 if anything failed. C++ cases are counted one by one (GoogleTest's
XML). A program that died without a report counts as one failure.

--since REF leaves out what the changes since then cannot affect: without a change of the trust base (docs/trust.md),
the red team and the honest kernels. With CI=true in the environment it leaves out nothing.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import test_units
from test_units import ROOT, Unit

LIMIT_SECONDS = 1800  # for one unit, on a machine that does much else
SHOWN_LONGEST = 15
WAKE_SECONDS = 0.5


@dataclass
class Ran:
    """What one unit came to."""

    unit: Unit
    code: int
    wall: float
    cpu: float  # of the process and of all that it waited for
    log: pathlib.Path

    @property
    def good(self):
        return self.code in self.unit.good


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, ran):
        failed_before = self.failed
        report = ran.unit.report
        if report and report.exists():
            self.add_junit(report)
        elif report is None and ran.good:
            self.passed += 1
        if (not ran.good or report and not report.exists()) and self.failed == failed_before:
            self.failed += 1

    def add_junit(self, file):
        root = ElementTree.parse(file).getroot()
        for case in root.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed += 1
            elif case.find("skipped") is not None or case.get("status") == "notrun":
                self.skipped += 1
            else:
                self.passed += 1


# Reads "+7" and "-7" for each process group that begins and ends, and at the end of file kills those that are left.
WATCH = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""

# A unit's process tells the watch its own number before it becomes the unit. So there is no moment at which it runs and
# the watch does not know of it. It holds the pipe open until it has told: the watch cannot read the end of file before.
TELL = 'echo "+$$" >&"$0" && eval "exec $0>&-" && exec "$@"'


class Running:
    """The process groups of the units that run now. A process beside this one ends them when this one says so or dies."""

    def __init__(self):
        self.starting = threading.Lock()
        self.watch = subprocess.Popen([sys.executable, "-I", "-S", "-c", WATCH], stdin=subprocess.PIPE, bufsize=0,
                                      start_new_session=True)
        assert self.watch.stdin is not None
        self.pipe = self.watch.stdin

    def start(self, command, **how):
        """A process in a group of its own. Raises ValueError after `end`."""
        with self.starting:
            told = self.pipe.fileno()
            return subprocess.Popen(["bash", "-c", TELL, str(told), *map(str, command)], start_new_session=True,
                                    pass_fds=[told], stdin=subprocess.DEVNULL, **how)

    def remove(self, group):
        with contextlib.suppress(ValueError):  # the pipe is closed: the watch has ended all
            self.pipe.write(f"-{group}\n".encode())

    @staticmethod
    def kill(group):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)

    def end(self):
        """Kills all groups. None begins after this."""
        with self.starting:
            self.pipe.close()
        self.watch.wait()


class Runner:
    """Runs units with what they share: the build, and a folder for what is made once for all of them."""

    def __init__(self, build, results, shared):
        self.build, self.results, self.shared = build, results, shared
        self.printing = threading.Lock()
        self.running = Running()

    def run(self, unit):
        log = self.results / f"{unit.name.replace('/', '-')}.log"
        start = time.monotonic()
        try:
            code, usage = self.wait(unit, log)
            ran = Ran(unit, code, time.monotonic() - start, usage.ru_utime + usage.ru_stime, log)
        except OSError as error:
            log.write_text(f"{error}\n")
            ran = Ran(unit, 127, 0.0, 0.0, log)
        self.tell(ran)
        return ran

    def wait(self, unit, log):
        """Starts the unit and returns its exit code and what it used."""
        environment = {**os.environ, "PRAGMA_BUILD": str(self.build), "PRAGMA_BUILD_DIR": str(self.build),
                       "PRAGMA_TEST_SHARED": str(self.shared), "PYTHONDONTWRITEBYTECODE": "1", **unit.environment}
        with open(log, "wb") as out:
            process = self.running.start(unit.command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment)
        ends_it = threading.Timer(LIMIT_SECONDS, self.running.kill, [process.pid])
        ends_it.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        finally:
            ends_it.cancel()
        self.running.remove(process.pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage

    def tell(self, ran):
        word = "ok" if ran.good else f"FAILED (exit {ran.code})"
        with self.printing:
            if not ran.good:
                print(f"== {ran.unit.name}: {' '.join(map(str, ran.unit.command))}")
                print(ran.log.read_text(errors="replace"), end="")
            print(f"== {ran.unit.name}: {word}, {ran.wall:.1f} s", flush=True)

    def run_all(self, units, jobs):
        """Those that may run beside others first, then the others."""
        together = sorted((unit for unit in units if not unit.alone), key=lambda unit: -unit.seconds)
        pool = concurrent.futures.ThreadPoolExecutor(jobs)
        try:
            yield from self.run_some(pool, together)
            for unit in units:
                if unit.alone:
                    yield from self.run_some(pool, [unit])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            self.running.end()

    def run_some(self, pool, units):
        """Runs them in the threads of the pool and yields what each came to as it ends."""
        waiting = {pool.submit(self.run, unit) for unit in units}
        while waiting:
            # With a limit: Python looks for signals only between two waits of the main thread.
            ended, waiting = concurrent.futures.wait(waiting, WAKE_SECONDS, concurrent.futures.FIRST_COMPLETED)
            yield from (future.result() for future in ended)


def print_table(rans, wall):
    """Seconds by step, and of the longest units. Steps that run side by side share the wall time."""
    steps: dict[str, list[float]] = collections.defaultdict(lambda: [0.0, 0.0])
    for ran in rans:
        steps[ran.unit.step][0] += ran.wall
        steps[ran.unit.step][1] += ran.cpu
    print(f"\n{'step':<44}{'seconds':>9}{'CPU':>9}")
    for step, (seconds, cpu) in steps.items():
        print(f"{step:<44}{seconds:>9.1f}{cpu:>9.1f}")
    print(f"{'all, side by side':<44}{wall:>9.1f}{sum(ran.cpu for ran in rans):>9.1f}\n")
    for ran in sorted(rans, key=lambda ran: -ran.wall)[:SHOWN_LONGEST]:
        print(f"  {ran.unit.name:<42}{ran.wall:>9.1f}{ran.cpu:>9.1f}")


def units_of(options, build, results):
    """The units to run, and the names of those that --since leaves out."""
    programs = test_units.programs(build, results)
    left_out = set()
    if options.since:
        layers = [unit.name.removesuffix("_test") for unit in programs if unit.report]
        left_out = test_units.not_needed(test_units.changed_since(options.since), layers)
    units = [] if options.only not in (None, "checks") else test_units.checks()
    if options.only != "pytest":
        units += [unit for unit in programs if options.only != "checks" or unit.step == "checks"]
    if options.only in (None, "pytest"):
        units += test_units.python_tests(results, left_out)
    return [unit for unit in units if unit.name not in left_out], left_out


def jobs_at_once():
    """One more than there are processors: one often waits until it may have the machine for itself, to take a time."""
    return min(4, (os.cpu_count() or 1) + 1)


def end_on_signals():
    """Makes a signal to stop an exit, at which running units are killed and temporary folders removed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--only", choices=["ctest", "pytest", "checks"], help="one step only")
    parser.add_argument("--jobs", type=int, default=jobs_at_once(), help="processes at once")
    parser.add_argument("--since", metavar="REF", help="leave out what no change since REF can affect")
    options = parser.parse_args()
    end_on_signals()
    if options.since and os.environ.get("CI") == "true":
        options.since = None
    build = (ROOT / options.build).resolve()
    results = build / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    units, left_out = units_of(options, build, results)
    tally, rans, start = Tally(), [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pragma-tests-") as shared:
        for ran in Runner(build, results, pathlib.Path(shared)).run_all(units, options.jobs):
            tally.add(ran)
            rans.append(ran)
    print_table(rans, time.monotonic() - start)
    if left_out:
        print(f"left out, for no change since {options.since} affects them: {', '.join(sorted(left_out))}")
    if tally.skipped:
        print(f"{tally.skipped} skipped (each says why)")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
