#!/usr/bin/env python3
"""Compares the profiler's exact counts and simulated misses with callgrind's, kernel by kernel.

Both see the same assembly of each kernel (AVX2 without FMA: valgrind emulates an FMA's load eight times and does not
support AVX-512), the same buffers, and one call after a warm one. callgrind has two levels, so its LL is pragma's L2.
The script writes docs/results/callgrind.md. Its exit code is 1 if a figure differs by more than allowed: 1 % for
instructions, loads and stores, 2 % for misses.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import benchlib

FLAGS = ["-std=c++20", "-O3", "-mavx2", "-mno-fma", "-g1", "-fPIC"]
HEAD = 'extern "C" void pragma_kernel(const float* __restrict x, float* __restrict out, void*) {\n'
MATMUL = "  constexpr int n = 256;\n  const float *a = x, *b = x + n * n;\n"
KERNELS = {
    "matmul naive": HEAD + MATMUL + """
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      out[i * n + j] = sum;
    }
}""",
    "matmul ikj": HEAD + MATMUL + """
  for (int i = 0; i < n * n; ++i) out[i] = x[i] * 0.5f;  // zeros would be a call of memset
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
}""",
    "matmul 4 rows": HEAD + MATMUL + """
  for (int i = 0; i < n * n; ++i) out[i] = x[i] * 0.5f;  // zeros would be a call of memset
  for (int i = 0; i < n; i += 4)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) {
        const float v = b[k * n + j];
        out[i * n + j] += a[i * n + k] * v;
        out[(i + 1) * n + j] += a[(i + 1) * n + k] * v;
        out[(i + 2) * n + j] += a[(i + 2) * n + k] * v;
        out[(i + 3) * n + j] += a[(i + 3) * n + k] * v;
      }
}""",
    "softmax, own exp": HEAD + """
  for (int row = 0; row < 256; ++row) {
    const float* in = x + row * 256;
    float* to = out + row * 256;
    float top = in[0], sum = 0;
    for (int i = 1; i < 256; ++i) top = in[i] > top ? in[i] : top;
    for (int i = 0; i < 256; ++i) {
      const float t = 1 + (in[i] - top) * (1.0f / 64);
      const float t4 = t * t * t * t, t16 = t4 * t4 * t4 * t4;
      sum += to[i] = t16 * t16 * t16 * t16;
    }
    for (int i = 0; i < 256; ++i) to[i] /= sum;
  }
}""",
    "conv1d K=5": HEAD + """
  constexpr int length = 4096, channels = 8, taps = 5;
  const float* w = x + channels * (length + taps);
  for (int to = 0; to < channels; ++to)
    for (int i = 0; i < length; ++i) {
      float sum = 0;
      for (int from = 0; from < channels; ++from)
        for (int t = 0; t < taps; ++t)
          sum += x[from * (length + taps) + i + t] * w[(to * channels + from) * taps + t];
      out[to * length + i] = sum;
    }
}""",
    "triad out of L2": HEAD + """
  for (int i = 0; i < 500000; ++i) out[i] = x[i] + 3.0f * x[i + 1000000];
}""",
}
# The driver lays out its buffers as pragma-counted does.
DRIVER = """
#include <stdlib.h>
void pragma_kernel(const float*, float*, void*);
__attribute__((noinline)) void measured(const float* x, float* out, void* s) { pragma_kernel(x, out, s); __asm__(""); }
int main(void) {
  char* arena = aligned_alloc(2 << 20, 64 << 20);
  float* x = (float*)arena;
  for (size_t i = 0; i < (16 << 20) / sizeof(float); ++i) x[i] = (float)(i % 17) * 0.25f - 2;
  pragma_kernel(x, (float*)(arena + (16 << 20)), arena + (32 << 20));
  measured(x, (float*)(arena + (16 << 20)), arena + (32 << 20));
  return 0;
}
"""
ROWS = (("instructions", 0.01), ("loads", 0.01), ("stores", 0.01), ("L1 misses", 0.02),
        ("L2 misses", 0.02))
NOISE = 64  # the driver's own few accesses; a smaller difference does not count


def run(argv, folder):
    done = subprocess.run([str(word) for word in argv], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        benchlib.fail(f"{argv[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def callgrind(folder, shapes):
    out = folder / "callgrind.out"
    options = ["--I1=32768,8,64"]
    for name, (sets, ways) in zip(("D1", "LL"), shapes):
        options.append(f"--{name}={sets * ways * 64},{ways},64")
    run(["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=measured",
         "--cache-sim=yes", f"--callgrind-out-file={out}", *options, "./driver"], folder)
    events: list[str] = []
    values: list[int] = []
    for line in out.read_text(encoding="utf-8").splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        if line.startswith(("summary:", "totals:")):
            values = [int(word) for word in line.split()[1:]]
    found = dict(zip(events, values + [0] * len(events)))
    return {"instructions": found["Ir"], "loads": found["Dr"], "stores": found["Dw"],
            "L1 misses": found["D1mr"] + found["D1mw"], "L2 misses": found["DLmr"] + found["DLmw"]}


def counted(program, folder, compiler, shapes):
    words = [f"{sets},{ways}" for sets, ways in shapes]
    found = json.loads(run([program, folder / "kernel.s", compiler, *words], folder))
    names = {"L1 misses": "l1_misses", "L2 misses": "l2_misses"}
    return {name: int(found[names.get(name, name)]) for name, _ in ROWS}


def compare(name, compiler, theirs, ours, rows):
    good = True
    for figure, allowed in ROWS:
        difference = ours[figure] - theirs[figure]
        share = difference / theirs[figure] if theirs[figure] else 0
        off = abs(difference) > NOISE and abs(share) > allowed
        good = good and not off
        rows.append([name, compiler, figure, f"{theirs[figure]:,}", f"{ours[figure]:,}",
                     f"{100 * share:+.3f} %" + (" **off**" if off else "")])
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "callgrind.md")
    parser.add_argument("--program", type=pathlib.Path, help="pragma-counted, if not in --build")
    parser.add_argument("--compilers", default="g++,clang++-19")
    parser.add_argument("--kernels", help="names, by commas (default: all)")
    parser.add_argument("--l1", default="64,12", help="sets,ways (default: 64,12: 48 KiB)")
    parser.add_argument("--l2", default="1024,16", help="sets,ways (default: 1024,16: 1 MiB)")
    options = parser.parse_args()
    program = options.program or benchlib.program(options.build, "pragma-counted")
    if not shutil.which("valgrind"):
        benchlib.fail("valgrind is not installed (Debian: apt install valgrind)")
    shapes = [tuple(int(word) for word in text.split(",")) for text in (options.l1, options.l2)]
    rows: list[list[str]] = []
    good = True
    chosen = options.kernels.split(",") if options.kernels else list(KERNELS)
    for compiler in options.compilers.split(","):
        for name in chosen:
            benchlib.say(f"{name}, {compiler}")
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary)
                (folder / "kernel.cpp").write_text(KERNELS[name], encoding="utf-8")
                (folder / "driver.c").write_text(DRIVER, encoding="utf-8")
                run([compiler, *FLAGS, "-S", "kernel.cpp", "-o", "kernel.s"], folder)
                run([compiler, "-shared", "kernel.s", "-o", "libkernel.so"], folder)
                run(["gcc", "-O1", "-g", "driver.c", "-L.", "-lkernel", "-Wl,-rpath,$ORIGIN", "-o",
                     "driver"], folder)
                theirs = callgrind(folder, shapes)
                ours = counted(program.resolve(), folder, compiler, shapes)
                good = compare(name, compiler, theirs, ours, rows) and good
    largest = {figure: max(abs(float(row[5].split()[0])) for row in rows if row[2] == figure) for figure, _ in ROWS}
    benchlib.write_result(options.out, "Counts against callgrind", benchlib.command_line(), [
        "Both see the same assembly (AVX2 without FMA), buffers and cache sizes, and one call after a warm one.",
        "\n".join(f"- {figure}: off by {largest[figure]:.3f} % at most (allowed {100 * allowed:.0f} %)" for figure, allowed in ROWS),
        benchlib.table(["kernel", "compiler", "figure", "callgrind", "counted", "difference"], rows),
    ])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
