"""What users reported about other tools of this kind, tried on the real program.

    PRAGMA_BUILD=build .venv/bin/python tests/odd/bug_reports.py [ROW...] [--write]

Each case runs the program, checks what it must end with, and returns what happens now, in one line; --write puts these
lines into docs/results/bug-reports.md. tests/e2e/test_bug_reports.py runs the same cases.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
E2E = ROOT / "tests" / "e2e"
KERNELS = E2E / "kernels"
SCALE = E2E / "tasks" / "scale.py"
PRAGMA = pathlib.Path(os.environ.get("PRAGMA_BUILD", ROOT / "build")).resolve() / "pragma"
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
PAGE = ROOT / "docs" / "results" / "bug-reports.md"


class Bench:
    """The program in a folder of its own, with a store."""

    def __init__(self, folder: pathlib.Path, home: pathlib.Path):
        self.folder = folder
        self.home = home

    def run(self, *arguments: Any, prefix: tuple[str, ...] = (), **extra: str) -> tuple[int, dict[str, Any], str]:
        """Returns the exit code, the object that was printed, and stderr."""
        command = [*prefix, str(PRAGMA), *map(str, arguments), "--home", str(self.home), "--json"]
        quick = {"PRAGMA_SETTINGS": str(E2E / "quick.toml")}
        done = subprocess.run(command, cwd=self.folder, env={**quick, **os.environ, **extra}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=600)  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, json.loads(done.stdout), done.stderr

    def evaluate(self, kernel: pathlib.Path, *flags: Any, task: pathlib.Path = SCALE, **more: Any) -> dict[str, Any]:
        return self.run("evaluate", task, kernel, *flags, **more)[1]

    def good_passes(self) -> None:
        result = self.evaluate(KERNELS / "good.cpp", "--no-timing")
        assert result["status"] == "passed", result["reason"]

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@contextlib.contextmanager
def nothing_left_behind() -> Iterator[None]:
    """What a program leaves running becomes a child of this process, so that it is seen and does not stay."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = children()
    yield
    time.sleep(1)
    left = children() - before
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, left


def children() -> set[int]:
    """The children of this process that have not ended."""
    listed = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    running = set()
    for pid in map(int, listed):
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z":
                running.add(pid)
    return running


def endless(bench: Bench, kernel: str) -> str:
    with nothing_left_behind():
        started = time.monotonic()
        result = bench.evaluate(KERNELS / f"{kernel}.cpp", "--run-limit", "2s")
        assert result["status"] == "timeout" and "limit" in result["reason"], result
        assert time.monotonic() - started < 60
    bench.good_passes()
    return f"`timeout`: {result['reason']}; nothing runs on; the next kernel passes"


def c1_loop(bench: Bench) -> str:
    return endless(bench, "endless")


def c1_deadlock(bench: Bench) -> str:
    return endless(bench, "waits_for_itself")


def c1_third_call(bench: Bench) -> str:
    return endless(bench, "third_call_ends_not")


def c2(bench: Bench) -> str:
    replies = ["crash", "out_of_memory", "aborts_in_thread", "good"]
    folder = bench.folder / "model"
    folder.mkdir()
    for node, kernel in enumerate(replies, 1):
        source = (KERNELS / f"{kernel}.cpp").read_text()
        (folder / f"coder-{node}.md").write_text(f"```cpp\n{source}```\n")
    model = f"command:sh {E2E / 'scripted_model.sh'} {folder}"
    code, result, _ = bench.run("optimize", SCALE, "--model", model, "--strategy", "sampling", "--attempts", 4,
                                "--no-compile-baseline", "--no-call")  # fmt: skip
    statuses = [trial["evaluation"]["status"] for trial in shown_trials(bench, result["run"])]
    assert code == 0 and statuses[-1] == "passed" and "passed" not in statuses[:-1], statuses
    return f"four attempts of one run: {', '.join(f'`{status}`' for status in statuses)}"


def shown_trials(bench: Bench, run: str) -> list[dict[str, Any]]:
    return bench.run("show", run)[1]["trials"]


def task_text(result: str, shape: tuple[int, int], imported: str = "") -> str:
    return f"""import torch
import torch.nn as nn
{imported}

class Model(nn.Module):
    def forward(self, x):
        return {result}


def get_inputs():
    return [torch.rand{shape}]


def get_init_inputs():
    return []
"""


def kernel_text(value: str) -> str:
    """A kernel that writes the value for each element i."""
    return f"""#include "kernel.h"

extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {{
  (void)scratch, (void)x;
  for (int i = 0; i < task::x_dims[0] * task::x_dims[1]; ++i) out[i] = {value};
}}
"""


def rewrite_with_old_time(path: pathlib.Path, text: str) -> None:
    times = path.stat()
    path.write_text(text)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def c3(bench: Bench) -> str:
    task = bench.write("model.py", task_text("x * FACTOR", (64, 96), "from factor import FACTOR\n"))
    helper = bench.write("factor.py", "FACTOR = 2.0\n")
    kernel = bench.write("kernel.cpp", kernel_text("2.0f * x[i]"))
    statuses = [bench.evaluate(kernel, "--no-timing", task=task)["status"]]
    rewrite_with_old_time(kernel, kernel_text("3.0f * x[i]"))
    statuses.append(bench.evaluate(kernel, "--no-timing", task=task)["status"])
    rewrite_with_old_time(helper, "FACTOR = 3.0\n")
    statuses.append(bench.evaluate(kernel, "--no-timing", task=task)["status"])
    assert statuses == ["passed", "wrong_values", "passed"], statuses
    return ("right kernel `passed`; its constant changed: `wrong_values`; then the module's imported file changed too: "
            "`passed`; the times of both files were set back")  # fmt: skip


SLOW_TO_COMPILE = """#include "kernel.h"

constexpr long work(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) sum += i % 7;
  return sum;
}
template <long N>
struct Sum {
  static constexpr long value = work(30000 + N) + Sum<N - 1>::value;
};
template <>
struct Sum<0> {
  static constexpr long value = 0;
};
static_assert(Sum<60>::value != 0);
"""


def c5(bench: Bench) -> str:
    slow = bench.write("slow.cpp", SLOW_TO_COMPILE + (KERNELS / "good.cpp").read_text().replace('#include "kernel.h"', ""))
    result = bench.evaluate(slow, "--no-timing", "--build-limit", "1s")
    assert result["status"] == "timeout" and "--build-limit" in result["reason"], result
    said = result["reason"]
    result = bench.evaluate(slow, "--no-timing")
    assert result["status"] == "passed", result
    return f"one second allowed: `timeout`, {said}; the usual limit of 60 s: `passed`"


def c7(bench: Bench) -> str:
    task = bench.write("softmax.py", task_text("torch.softmax(x, dim=1)", (8, 120000)))
    kernel = bench.write("zeros.cpp", kernel_text("0"))
    strict = bench.evaluate(kernel, "--no-timing", task=task)
    official = bench.evaluate(kernel, "--no-timing", "--mode", "official", task=task)
    assert strict["status"] == "wrong_values", strict
    notes = [check["detail"] for check in official["checks"] if check["verdict"] == "note"]
    warned = [note for note in notes if note.startswith("wrong by the strict rule")]
    assert official["status"] == "wrong_values" or warned, official
    return (f"strict: `{strict['status']}`; official, which is KernelBench's rule: `{official['status']}`, with the note "
            f"“{warned[0] if warned else ''}”")  # fmt: skip


def d2(bench: Bench) -> str:
    odd = {"GOMP_CPU_AFFINITY": "0", "OMP_NUM_THREADS": "7", "OMP_PROC_BIND": "true", "KMP_AFFINITY": "compact"}
    result = bench.evaluate(KERNELS / "good.cpp", "--no-compile-baseline", **odd)
    usual = len(os.sched_getaffinity(0))
    assert result["status"] == "passed" and result["environment"]["threads"] == usual, result["environment"]
    last = str(max(os.sched_getaffinity(0)))
    pinned = bench.evaluate(KERNELS / "good.cpp", "--no-compile-baseline", prefix=("taskset", "-c", last))
    assert pinned["status"] == "passed" and pinned["environment"]["threads"] == 1, pinned["environment"]
    return (f"with four such variables set: `passed` on {usual} threads, the same for both sides; `taskset -c {last}`: "
            "`passed` on 1 thread")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Case:
    row: str
    what: str
    run: Callable[[Bench], str]


CASES = [
    Case("C1", "a kernel that never ends", c1_loop),
    Case("C1", "a kernel whose threads wait for each other for ever", c1_deadlock),
    Case("C1", "a kernel of which the third call never ends", c1_third_call),
    Case("C2", "a kernel that crashes, one that takes all memory, one of which a thread aborts, then a good one", c2),
    Case("C3", "sources edited while their times stay", c3),
    Case("C5", "a kernel that compiles slowly", c5),
    Case("C7", "zeros where the results are smaller than a tolerance: soft-max over 120,000 columns", c7),
    Case("D2", "variables and masks that bind threads", d2),
]


def table(rows: list[tuple[str, str, str]]) -> str:
    lines = ["| row | tried | what happens now |", "|---|---|---|"]
    return "\n".join(lines + [f"| {row} | {what} | {' '.join(now.replace('|', '/').split())} |" for row, what, now in rows])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="only these rows, such as C1")
    parser.add_argument("--write", action="store_true", help=f"write the table of {PAGE.name}")
    options = parser.parse_args()
    ended = []
    with tempfile.TemporaryDirectory() as home:
        for case in CASES:
            if options.rows and case.row not in options.rows:
                continue
            with tempfile.TemporaryDirectory() as folder:
                ended.append((case.row, case.what, case.run(Bench(pathlib.Path(folder), pathlib.Path(home)))))
            print(" | ".join(ended[-1]), file=sys.stderr, flush=True)
    if options.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- tried -->\n")
        after = rest.partition("<!-- end -->\n")[2]
        PAGE.write_text(f"{head}<!-- tried -->\n{table(ended)}\n<!-- end -->\n{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
