#!/usr/bin/env python3
"""Runs the project's tests step by step and adds up what they counted.

Every step prints what it runs and how long it took. The last line is "N passed, N failed". The exit status is 1 if
anything failed. C++ cases are counted one by one (GoogleTest's XML). A program that died without a report counts as one
failure.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add_junit(self, file):
        root = ElementTree.parse(file).getroot()
        for case in root.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                self.failed += 1
            elif case.find("skipped") is not None or case.get("status") == "notrun":
                self.skipped += 1
            else:
                self.passed += 1


def run(name, command, good=(0,), **options):
    print(f"== {name}: {' '.join(map(str, command))}", flush=True)
    start = time.monotonic()
    code = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, **options).returncode
    word = "ok" if code in good else f"FAILED (exit {code})"
    print(f"== {name}: {word}, {time.monotonic() - start:.1f} s", flush=True)
    return code


def step_check(tally, name, command):
    if run(name, command) == 0:
        tally.passed += 1
    else:
        tally.failed += 1


def step_ctest(tally, build, jobs):
    results = build / "test-results"
    results.mkdir(parents=True, exist_ok=True)
    for old in results.glob("*.xml"):
        old.unlink()
    summary = results / "ctest-summary.xml"
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error",
               "-j", str(jobs), "--output-junit", str(summary)]
    code = run("C++ tests", command, env={**os.environ, "GTEST_OUTPUT": f"xml:{results}/"})
    if not summary.exists():
        tally.failed += 1
        return
    counted = tally.failed
    for file in results.glob("*.xml"):
        if file != summary:
            tally.add_junit(file)
    reported = {file.stem for file in results.glob("*.xml")}
    for case in ElementTree.parse(summary).getroot().iter("testcase"):
        if case.get("name") in reported:
            continue  # the cases of this program were counted one by one
        if case.get("status") == "run":
            tally.passed += 1
        else:
            tally.failed += 1
    if code != 0 and tally.failed == counted:
        tally.failed += 1


# pytest's exit status if no tests were selected.
NO_TESTS = 5


def pytest_passes(jobs):
    """Returns (name, arguments) of two passes: tests that may run in parallel (one process per file), then the others.
    """
    return [(f"{jobs} at a time", ["-m", "not alone", "-n", str(jobs), "--dist", "loadfile"]), ("alone", ["-m", "alone"])]


def step_pytest(tally, build, jobs):
    folders = [name for name in ("python/tests", "tests")
               if any((ROOT / name).rglob("test_*.py"))]
    results = build / "test-results" / "pytest.junit"
    results.parent.mkdir(parents=True, exist_ok=True)
    # Each folder gets its own pytest, because both may have modules of the same name.
    for folder in folders:
        for name, arguments in pytest_passes(jobs):
            results.unlink(missing_ok=True)
            code = run(f"pytest {folder}, {name}",
                       [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder, *arguments,
                        f"--junitxml={results}"],
                       env={**os.environ, "PRAGMA_BUILD": str(build), "PRAGMA_BUILD_DIR": str(build),
                            "PYTHONDONTWRITEBYTECODE": "1"}, good=(0, NO_TESTS))
            counted = tally.failed
            if results.exists():
                tally.add_junit(results)
            if code not in (0, NO_TESTS) and tally.failed == counted:
                tally.failed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--only", choices=["ctest", "pytest", "checks"], help="one step only")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1),
                        help="tests at once")
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    tally = Tally()
    if options.only in (None, "checks"):
        step_check(tally, "layers", [sys.executable, "tools/check_layers.py"])
        step_check(tally, "scripts", [sys.executable, "tools/check_scripts.py"])
        step_check(tally, "format", ["tools/format.sh", "check"])
    if options.only in (None, "ctest"):
        step_ctest(tally, build, options.jobs)
    if options.only in (None, "pytest"):
        step_pytest(tally, build, options.jobs)
    if tally.skipped:
        print(f"{tally.skipped} skipped (each says why)")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
