#!/usr/bin/env python3
"""Statistical power: how often is a copy slowed by 3 % called slower?

The kernel and its slowed copy come from bench/work.py. "Called slower" means that the 95 % interval of the ratio is
above 1.
"""

import argparse
import pathlib
import sys
import tempfile

import benchlib
import work


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100, help="comparisons of each duration (100)")
    parser.add_argument("--slower", type=float, default=0.03, help="share of extra work (0.03)")
    parser.add_argument("--ms", type=float, nargs="+", default=[1.0], help="durations in ms (1)")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds of timing per comparison")
    benchlib.add_common(parser, "power.md")
    options = parser.parse_args()
    aa = benchlib.program(options.build, "pragma-aa")
    rows = []
    reached = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for milliseconds in options.ms:
            rounds, _ = work.calibrate(aa, folder, milliseconds)
            plain = work.write_kernel(folder / "plain.cpp", rounds)
            slowed = work.write_kernel(folder / "slowed.cpp", rounds, options.slower)

            def each(done, result):
                if done % max(1, options.count // 10) == 0:
                    benchlib.say(f"  {done}/{options.count}, last ratio {result['ratio']:.4f}")

            benchlib.say(f"{milliseconds} ms against a copy with {options.slower:.0%} more work")
            results = work.compare(aa, work.TASK, slowed, plain, options.count, options.budget, each)
            slower = sum(1 for r in results if r["low"] > 1.0)
            faster = sum(1 for r in results if r["high"] < 1.0)
            reached = reached and slower >= 0.9 * len(results)
            rows.append([f"{benchlib.median([r['ms'] for r in results]):.4g} ms", len(results),
                         f"{slower} ({100 * slower / len(results):.0f} %)", faster,
                         f"{benchlib.median([r['ratio'] for r in results]):.4f}"])
    header = ["median time", "comparisons", "called slower", "called faster", "median ratio"]
    verdict = (f"Aim: called slower in at least 90 % of the comparisons: "
               f"{'reached' if reached else 'NOT reached'}.")
    benchlib.write_result(options.out, f"A copy slowed by {options.slower:.0%}",
                          benchlib.command_line(), [benchlib.table(header, rows), verdict])
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
