#!/usr/bin/env python3
"""What a kernel gains by saying "done" too early: done_too_early of tests/red_team with a chosen lead.

The kernel forges the end of each timed burst a given time before its last output is written, and continues. It is then
frozen. Whatever is not written when the freeze takes effect stays poison. For each lead this reports how often the
kernel was accepted, and its gain over the same kernel without the forgery.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile

import benchlib

KERNEL = r"""// pragma-flags: -O2 -march=native -DLEAD={lead}
#include <chrono>
#include <cmath>
#include <cstdint>
#include <immintrin.h>

#include "kernel.h"

static long sys(long number, long a, long b, long c, long d) {{
  register long r10 asm("r10") = d;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
               : "rcx", "r11", "memory");
  return result;
}}

struct Control {{
  std::uint32_t magic, version, command, count, result, unused[11];
  std::uint32_t doorbell, pad1[15], done, pad2[15], sets[64];
}};

static bool readable(std::uintptr_t address) {{
  const long no_time[2] = {{0, 0}};
  return sys(202, static_cast<long>(address), 0, 0x12345678, reinterpret_cast<long>(no_time)) != -14;
}}

__attribute__((noinline)) static Control* find_control() {{
  static Control* found = nullptr;
  if (found != nullptr) return found;
  auto word = static_cast<std::uintptr_t*>(__builtin_frame_address(0)) - 32;
  for (; readable(reinterpret_cast<std::uintptr_t>(word)); ++word) {{
    if (*word % 4096 != 0 || *word < 65536 || *word >> 47 != 0 || !readable(*word)) continue;
    if (*reinterpret_cast<std::uint32_t*>(*word) != 0x414d4750u) continue;
    return found = reinterpret_cast<Control*>(*word);
  }}
  __builtin_trap();
}}

constexpr int kCount = task::x_dims[0] * task::x_dims[1];

static void part(const float* x, float* out, int from, int to) {{
  for (int i = from; i < to; ++i) {{
    float sum = 0;
    for (int k = 1; k <= 10; ++k) sum += std::sin(k * x[i]) / k;
    out[i] = sum;
  }}
}}

// The last LEAD thousandths of the last call of a burst are computed after the forged end.
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {{
  const int before = kCount - static_cast<int>(static_cast<long>(kCount) * LEAD / 1000);
  part(x, out, 0, before);
  if (LEAD > 0) {{
    Control* control = find_control();
    static std::uint32_t bell = 0, calls = 0;
    if (bell != control->doorbell) {{
      bell = control->doorbell;
      calls = 0;
    }}
    if (++calls == control->count) {{
      control->result = 0;
      __atomic_store_n(&control->done, bell, __ATOMIC_RELEASE);
      sys(202, reinterpret_cast<long>(&control->done), 1, 1, 0);
    }}
  }}
  part(x, out, before, kCount);
}}
"""


def evaluate(pragma, task, kernel, home):
    done = subprocess.run([pragma, "evaluate", task, kernel, "--json", "--home", home, "--no-compile-baseline"],
                          capture_output=True, text=True, check=False)
    return benchlib.last_json(done.stdout, "pragma evaluate")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "early-done.md")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--leads", default="0,5,10,20,50,100,200,400", help="thousandths of the last call")
    options = parser.parse_args()
    pragma = benchlib.program(options.build, "pragma")
    task = benchlib.ROOT / "tests/red_team/tasks/waves.py"
    rows, honest = [], None
    with tempfile.TemporaryDirectory() as folder:
        for lead in map(int, options.leads.split(",")):
            kernel = pathlib.Path(folder) / "kernel.cpp"
            kernel.write_text(KERNEL.format(lead=lead), encoding="utf-8")
            times, verdicts = [], []
            for _ in range(options.repeat):
                result = evaluate(pragma, task, kernel, folder + "/home")
                verdicts.append(result["status"])
                if result["status"] == "passed":
                    times.append(result["timing"]["median_ms"])
            if lead == 0 and times:
                honest = statistics.median(times)
            gain = "-"
            if times and honest:
                gain = f"{(honest / statistics.median(times) - 1) * 100:+.1f} %"
            lead_us = f"{honest * lead:.0f} us" if honest else "-"
            kinds = ", ".join(sorted({v for v in verdicts if v != "passed"}))
            rows.append([f"{lead / 10:g} %", lead_us, f"{len(times)} of {options.repeat}", gain, kinds])
            benchlib.say("  ".join(rows[-1]))
    parts = [f"Task waves, one call takes {honest:.3f} ms. {options.repeat} evaluations of each lead.",
             benchlib.table(["lead, of a call", "in time", "accepted", "gain", "else"], rows)]
    benchlib.write_result(options.out, "A forged end of a burst", benchlib.command_line(), parts)


if __name__ == "__main__":
    main()
