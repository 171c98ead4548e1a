#!/usr/bin/env python3
"""What Nsight Compute counts of the kernels here, for bench/gpu_diagnosis.py --record: on a machine with a GPU,
python3 tests/gpu/diagnosis/collect.py OUT [--only NAME...]

Builds each case, times both variants without a profiler, then counts both in one run: the metrics of
knowledge/adapters/ncu.toml, clocks as they are.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ADAPTER = HERE.parents[2] / "knowledge" / "adapters" / "ncu.toml"
LIMIT = 180  # seconds of one command
COUNT = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--profile-from-start", "off", "--clock-control", "none"]


def metrics() -> str:
    text = ADAPTER.read_text()
    natives = re.findall(r'^native = "(.+)"$', text, re.MULTILINE) + re.findall(r"\[(\w+__[\w.]+)\]", text)
    return ",".join(dict.fromkeys(name for name in natives if not name.startswith("device__")))


def run(command: list, out: pathlib.Path | None = None) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]}: {(done.stderr or done.stdout).strip()[-500:]}")
    if out:
        out.write_text(done.stdout)


def collect(case: pathlib.Path, folder: pathlib.Path, out: pathlib.Path) -> None:
    program = folder / case.stem
    run(["nvcc", "-std=c++17", "-O3", "-arch=native", "-o", program, case])
    run([program, "both", "time"], out / f"{case.stem}.time.out")
    run([*COUNT, "--log-file", out / f"{case.stem}.named.csv", "--metrics", metrics(), program, "both"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="+", default=[])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in sorted(HERE.glob("*.cu")):
            if not options.only or case.stem in options.only:
                collect(case, pathlib.Path(folder), options.out)
                print(case.stem, flush=True)


if __name__ == "__main__":
    main()
