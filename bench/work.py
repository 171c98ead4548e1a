"""Kernels of a chosen duration for bench/tasks/work.py, and running pragma-aa on them.

The kernel computes |x|. Before that it runs each block of 64 elements through a number of rounds of t = t * 1 + 0, with
factors the compiler cannot see. A slowed copy does the first blocks of each thread's share once more.
"""

import json
import pathlib
import subprocess

import benchlib

TASK = benchlib.ROOT / "bench" / "tasks" / "work.py"

SOURCE = """// pragma-flags: -O2 -march=native -fopenmp
#include "kernel.h"
#include <cmath>
#include <omp.h>

namespace {{
constexpr int kBlock = 64;
constexpr int kBlocks = 16384 / kBlock;
constexpr int kRounds = {rounds};
constexpr int kRoundsForThreads = {threads_from};  // fewer are not worth a second thread
constexpr double kAgain = {again};  // share of the blocks that is done once more

void Work(const float* x, float* out, float factor, float summand) {{
  float t[kBlock];
  for (int j = 0; j < kBlock; ++j) t[j] = x[j];
  for (int k = 0; k < kRounds; ++k) {{
    for (int j = 0; j < kBlock; ++j) t[j] = t[j] * factor + summand;
  }}
  for (int j = 0; j < kBlock; ++j) out[j] = std::fabs(t[j]);
}}
}}  // namespace

extern "C" void pragma_kernel(const float* x, float* out, void*) {{
  volatile float one = 1.0f;
  volatile float zero = 0.0f;
  const float factor = one;
  const float summand = zero;
#pragma omp parallel if (kRounds >= kRoundsForThreads)
  {{
    const int threads = omp_get_num_threads();
    const int me = omp_get_thread_num();
    const int first = kBlocks * me / threads;
    const int last = kBlocks * (me + 1) / threads;
    const int again = static_cast<int>((last - first) * kAgain + 0.5);
    for (int b = first; b < last + again; ++b) {{
      const int block = b < last ? b : first + b - last;
      Work(x + block * kBlock, out + block * kBlock, factor, summand);
    }}
  }}
}}
"""


def write_kernel(path, rounds, again=0.0, threads_from=64):
    """Writes the kernel. With fewer rounds than `threads_from` (some 100 us) it runs on one thread."""
    path.write_text(SOURCE.format(rounds=rounds, again=again, threads_from=threads_from),
                    encoding="utf-8")
    return path


def compare(aa, task, kernel, other, count, budget, each=None, seed=None):
    """Runs pragma-aa and returns the list of its JSON objects. Calls `each(i, object)` after each comparison."""
    command = [str(aa), str(task), str(kernel), str(other), str(count), str(budget)]
    if seed is not None:
        command.append(str(seed))
    results = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stderr is not None
        for line in child.stdout:
            results.append(json.loads(line))
            if each:
                each(len(results), results[-1])
        errors = child.stderr.read()
    if child.returncode != 0 or len(results) != count:
        benchlib.fail(f"{' '.join(command)}: exit {child.returncode}, {len(results)} of {count} "
                      f"comparisons\n{errors.strip()}")
    return results


def calibrate(aa, folder, milliseconds):
    """Finds, by two corrections, the rounds that take about the given time. Returns (rounds, measured ms)."""
    rounds = max(1, int(milliseconds / 0.25e-3))
    measured = milliseconds
    for _ in range(3):
        kernel = write_kernel(folder / "calibrate.cpp", rounds)
        measured = compare(aa, TASK, kernel, kernel, 1, 0.2)[0]["ms"]
        if abs(measured / milliseconds - 1) < 0.1:
            break
        rounds = max(1, round(rounds * milliseconds / max(measured, 1e-6)))
    return rounds, measured


def parse_case(text):
    """Parses TASK:KERNEL:COUNT."""
    parts = text.split(":")
    if len(parts) != 3 or not parts[2].isdigit():
        benchlib.fail(f"--case {text}: must be TASK:KERNEL:COUNT")
    return pathlib.Path(parts[0]), pathlib.Path(parts[1]), int(parts[2])
