#!/usr/bin/env python3
"""Do the rules for GPUs name the known cause?

tests/gpu/diagnosis/ holds slow CUDA kernels, each with its cause in the head of its source and with a fixed variant.
tests/recorded/ncu/diagnosis/ holds what Nsight Compute counted for both on a GPU, and how long they took without it.

    bench/gpu_diagnosis.py                  asks `pragma diagnose` about the recordings;
                                            writes docs/results/gpu-diagnosis.md
    bench/gpu_diagnosis.py --record FOLDER  imports new recordings, of one kernel or all
                                            (tests/gpu/diagnosis/collect.py makes them)
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

import benchlib

KERNELS = benchlib.ROOT / "tests" / "gpu" / "diagnosis"
RECORDED = benchlib.ROOT / "tests" / "recorded" / "ncu" / "diagnosis"
ADAPTER = benchlib.ROOT / "knowledge" / "adapters" / "ncu.toml"
VARIANTS = ("slow", "fixed")
COPY_OF_PEAK = 0.9  # same value as in src/profile/device_profiler.cc


@dataclasses.dataclass(frozen=True)
class Case:
    """A slow kernel with its cause, its task's minimum work, and how often the slow variant launches."""

    name: str
    cause: str
    also: frozenset[str]
    bytes: float
    flops: float
    launches: int

    @property
    def answers(self):
        return {self.cause} | self.also


def read_case(path):
    head = dict(re.findall(r"^// (\w+): (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    return Case(name=path.stem, cause=head["cause"], also=frozenset(head.get("also", "").split()),
                bytes=float(head["bytes"]), flops=float(head.get("flops", 0)), launches=int(head.get("launches", 1)))


def read_cases():
    return [read_case(path) for path in sorted(KERNELS.glob("*.cu"))]


# --- importing recordings -------------------------------------------------------------------------


def wanted_columns():
    """Returns the columns that name a launch, and those that the adapter reads."""
    text = ADAPTER.read_text(encoding="utf-8")
    natives = re.findall(r'^native = "(.+)"$', text, re.MULTILINE)
    natives += re.findall(r"\[(\w+__[\w.]+)\]", text)
    natives += re.findall(r'"(device__\w+)"', text)
    return ["ID", "Kernel Name", "Block Size", "Grid Size", *dict.fromkeys(natives)]


def table_of(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    header, units, *rows = csv.reader(lines[start:])
    return header, units, rows


def write_rows(path, header, units, rows):
    keep = [header.index(name) for name in wanted_columns() if name in header]
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in (header, units, *rows):
            writer.writerow([row[i] for i in keep])


def record(folder):
    RECORDED.mkdir(parents=True, exist_ok=True)
    kept = RECORDED / "times_us.json"
    times = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    found = [case for case in read_cases() if (folder / f"{case.name}.named.csv").exists()]
    if not found:
        benchlib.fail(f"{folder} has no NAME.named.csv of a kernel in {KERNELS}: run tests/gpu/diagnosis/collect.py")
    for case in found:
        header, units, rows = table_of(folder / f"{case.name}.named.csv")
        parts = {"slow": rows[:case.launches], "fixed": rows[case.launches:]}
        for variant in VARIANTS:
            write_rows(RECORDED / f"{case.name}.{variant}.csv", header, units, parts[variant])
        lines = (folder / f"{case.name}.time.out").read_text(encoding="utf-8").splitlines()
        timed = [json.loads(line) for line in lines if line.startswith("{")]
        times[case.name] = {one["variant"]: one["us"] for one in timed}
    kept.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")


# --- asking ---------------------------------------------------------------------------------------


def given(case, us, device):
    """Returns what a profile made by pragma knows besides the counters."""
    memory_us = case.bytes / (COPY_OF_PEAK * device["memory_gbs"]) * 1e-3
    compute_us = case.flops / device["fp32_gflops"] * 1e-3
    facts = {"time_ms": us / 1000, "compulsory_bytes": case.bytes, "task_flops": case.flops,
             "arithmetic_intensity": case.flops / case.bytes, "bandwidth_share": memory_us / us,
             "compute_share": compute_us / us, "roofline_share": max(memory_us, compute_us) / us}
    return ",".join(f"{tag}={value:.9g}" for tag, value in facts.items())


def diagnose(program, case, variant, times, device):
    us = times[case.name][variant]
    command = [program, "diagnose", RECORDED / f"{case.name}.{variant}.csv", "--from", "ncu",
               "--given", given(case, us, device), "--json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return benchlib.last_json(done.stdout, "diagnose")["diagnosis"]


def recorded_facts():
    """Returns the times by case and variant, and the device."""
    return (json.loads((RECORDED / name).read_text(encoding="utf-8")) for name in ("times_us.json", "device.json"))


def ask_all(program, cases):
    times, device = recorded_facts()
    return {case.name: {variant: diagnose(program, case, variant, times, device) for variant in VARIANTS}
            for case in cases}


def rank_of(case, diagnosis):
    for number, one in enumerate(diagnosis, 1):
        if one["class"] in case.answers:
            return number
    return 0


def row_of(case, found, times):
    slow, fixed = found["slow"], found["fixed"]
    rank = rank_of(case, slow)
    speedup = times[case.name]["slow"] / times[case.name]["fixed"]
    predicted = f"{slow[rank - 1]['predicted_speedup']:.2f}" if rank else "-"
    return [case.name, case.cause, ", ".join(d["class"] for d in slow) or "nothing", rank or "-", predicted,
            f"{speedup:.2f}", ", ".join(d["class"] for d in fixed) or "nothing"]


def totals(cases, found):
    ranks = [rank_of(case, found[case.name]["slow"]) for case in cases]
    stays = [case.name for case in cases if rank_of(case, found[case.name]["fixed"]) == 1]
    return [f"True cause first in {ranks.count(1)} of {len(cases)} kernels, among the first three in "
            f"{sum(rank > 0 for rank in ranks)} of {len(cases)}.",
            f"Fixed variants of which the removed cause is still said first: {', '.join(stays) or 'none'}."]


def report(path, cases, found, times, device):
    header = ["kernel", "true cause", "found", "rank", "predicted", "fixed is faster by", "said of the fixed one"]
    parts = [f"Kernels of `tests/gpu/diagnosis/`, each slow for one known reason and with a variant that lacks it; counted and timed on "
             f"one {device['name']} (driver {device['driver']}, {device['profiler']}, clocks as they were). "
             "The rules of `knowledge/diagnosis/gpu.toml` were tuned on this set, so the rate says how well they describe it, "
             "not what they will do with kernels they have not seen. Times are medians of nine by the device's events.",
             "\n".join(f"- {line}" for line in totals(cases, found)),
             benchlib.table(header, [row_of(case, found[case.name], times) for case in cases])]
    benchlib.write_result(path, "Known causes against the diagnosis, on a GPU", benchlib.command_line(), parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    benchlib.add_common(parser, "gpu-diagnosis.md")
    parser.add_argument("--record", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.record:
        record(options.record)
        return 0
    cases = read_cases()
    times, device = recorded_facts()
    found = ask_all(benchlib.program(options.build, "pragma"), cases)
    for line in totals(cases, found):
        benchlib.say(line)
    for case in cases:
        benchlib.say(" | ".join(map(str, row_of(case, found[case.name], times))))
    report(options.out, cases, found, times, device)
    return 0


if __name__ == "__main__":
    sys.exit(main())
