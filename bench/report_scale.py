#!/usr/bin/env python3
"""How large is the report of a long run, and how soon does a browser show it?

A synthetic run (build/pragma-synthetic-run: recorded attempts with a part of their words and figures rewritten) goes
through the real store into `pragma report`. Headless Chromium then opens the page --opens times, each time in a fresh
tab of a warm browser. The time counts from the start of the navigation until the page marks itself as drawn. By then
the panel of the best attempt is filled and the frame is passed to the screen.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import benchlib

sys.path.insert(0, str(benchlib.ROOT / "tests" / "report"))
import report_browser  # noqa: E402

LIMIT_MILLIS = 1000
LIMIT_BYTES = 5_000_000


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    benchlib.add_common(parser, "report-scale.md")
    parser.add_argument("--attempts", type=int, default=2000, help="of the run (default: 2000)")
    parser.add_argument("--opens", type=int, default=20, help="how often it is opened (default: 20)")
    parser.add_argument("--recording", type=pathlib.Path, help="material (default: a recorded run of middling size)",
                        default=benchlib.ROOT / "recordings/feedback/24_log_softmax_middle.pragma.1.jsonl")
    return parser.parse_args()


def write_report(chosen, folder):
    report_browser.BUILD = benchlib.program(chosen.build, "pragma").parent
    benchlib.say(f"writing a run of {chosen.attempts} attempts")
    report_browser.program(folder / "home", chosen.recording, chosen.attempts, name="pragma-synthetic-run")
    start = time.monotonic()
    report_browser.program("report", "last", "--home", folder / "home", "--html", folder / "run.html")
    return folder / "run.html", time.monotonic() - start


def open_times(page, opens):
    browser = report_browser.Browser()
    times = []
    for number in range(opens):
        browser.driver.get("about:blank")
        browser.open(page)
        browser.assert_quiet()
        times.append(browser.js("performance.getEntriesByName('drawn')[0].startTime"))
        benchlib.say(f"opened {number + 1}/{opens}: {times[-1]:.0f} ms")
    version = browser.driver.capabilities["browserVersion"]
    browser.close()
    return times, version


def main():
    chosen = options()
    with tempfile.TemporaryDirectory(prefix="pragma-report-") as name:
        page, seconds = write_report(chosen, pathlib.Path(name))
        size = page.stat().st_size
        times, version = open_times(page, chosen.opens)
    median = statistics.median(times)
    within = median < LIMIT_MILLIS and size < LIMIT_BYTES
    rows = [["size of the page", f"{size / 1e6:.2f} MB", f"{LIMIT_BYTES / 1e6:.0f} MB"],
            ["drawn after, median", f"{median:.0f} ms", f"{LIMIT_MILLIS} ms"],
            ["drawn after, fastest and slowest", f"{min(times):.0f} ms, {max(times):.0f} ms", ""],
            ["`pragma report` took", f"{seconds:.1f} s", ""]]
    benchlib.write_result(chosen.out, f"A report of {chosen.attempts} attempts", benchlib.command_line(), [
        f"Chromium {version}, headless, opened {chosen.opens} times. Material of the run: "
        f"`{chosen.recording.name}`, rewritten; its figures mean nothing.",
        benchlib.table(["", "measured", "limit"], rows),
        "Drawn: from the start of the navigation until the page has all its charts, the tree with every attempt and the "
        "panel of the best attempt, and the frame after that was handed to the screen (`performance.mark('drawn')`).",
        f"Within both limits: {'yes' if within else 'NO'}."])
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
