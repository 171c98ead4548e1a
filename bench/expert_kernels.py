#!/usr/bin/env python3
"""How near the expert's matrix products and convolutions come to the machine's measured peak.

Each shape is generated, built with the compiler and timed alone on the machine (best of many calls within a second, all
threads, the same inputs each time). The peak is the rate of fp32 multiply-adds of all threads, measured by the same
probe that `pragma doctor` uses. `--only conv2d` times only the shapes with that word in their name.
"""

import argparse
import subprocess

import benchlib


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "expert-kernels.md")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--only", default="", metavar="WORD")
    options = parser.parse_args()
    program = benchlib.program(options.build, "pragma-expert-kernels")
    done = subprocess.run([str(program), options.compiler, options.only], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        benchlib.fail("the measurement did not finish; its own message is above")
    value = benchlib.last_json(done.stdout, program.name)
    if not value["kernels"]:
        benchlib.fail(f"no shape has {options.only!r} in its name")
    rows = [[kernel["name"], f"{kernel['ms']:.2f} ms", f"{kernel['gflops']:.0f}",
             f"{100 * kernel['peak']:.0f} %", f"{kernel['gbs']:.1f}"] for kernel in value["kernels"]]
    benchlib.write_result(
        options.out, "Matrix products and convolutions of the expert", benchlib.command_line(),
        [benchlib.table(["shape", "time", "GFLOP/s", "of the peak", "GB/s"], rows),
         f"Peak: {value['peak_gflops']:.0f} GFLOP/s, measured. GB/s counts each tensor once. "
         "A triangle counts the products that it needs. Defaults of the tunables, not tuned."])


if __name__ == "__main__":
    main()
