#!/usr/bin/env python3
"""Runs `pragma model` over the models of bench/models, or with --target triton over those of bench/models_gpu on a GPU. Each
model is one row, so that a long run can be resumed.

  models.py --rows FILE                    every model that has no row yet
  models.py --rows FILE --only vit,bert    these
  models.py --rows FILE --dir bench/blocks the blocks of models, which are modules of their own
  models.py --summary FILE --out FILE.md   the rows as a page

A row holds what `pragma model --json` says, with the seconds that it took. Delete a row to measure its model again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import subprocess
import time
from pathlib import Path
from typing import Any

import benchlib

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"cpp": ROOT / "bench" / "models", "triton": ROOT / "bench" / "models_gpu"}
_GRACE = 120  # seconds after --time, until a run that hangs is stopped


def run(model: Path, threads: int, args: argparse.Namespace) -> dict[str, Any]:
    """Returns the row of one model. 0 threads are all that the machine has."""
    command = [args.pragma, "model", str(model), "--model", "expert", "--json", "--attempts", "1"]
    command += ["--time", f"{args.seconds}s", "--home", args.home, "--out", str(Path(args.packages) / model.stem)]
    command += ["--target", args.target] if args.target != "cpp" else []
    command += ["--islands", str(args.islands)] if args.islands else []
    command += ["--no-lint"] if args.no_lint else []
    command += ["--threads", str(threads)] if threads else []
    started = time.monotonic()
    row: dict[str, Any] = {"model": model.stem, "asked": threads, "limit": args.seconds, "sources": benchlib.commit()}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=args.seconds + _GRACE, check=False)
    except subprocess.TimeoutExpired:
        return row | {"failure": f"not done {_GRACE} s after its time was up"}
    row["seconds"] = round(time.monotonic() - started, 1)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return row | {"failure": (done.stderr.strip().splitlines() or ["no output"])[-1]}
    return row | ({"failure": said["failure"]["message"]} if "failure" in said else {"said": said})


def measure(args: argparse.Namespace) -> None:
    rows = Path(args.rows)
    there = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    known = {(row["model"], row.get("asked", 0)) for row in there}
    folder = args.dir or FOLDERS[args.target]
    wanted = args.only.split(",") if args.only else [path.stem for path in sorted(folder.glob("*.py"))]
    for name, threads in itertools.product(wanted, args.threads):
        if (name, threads) in known:
            continue
        benchlib.say(f"{name} ...")
        row = run(folder / f"{name}.py", threads, args)
        with rows.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        benchlib.say(f"{name}: {row.get('failure') or verdict(row)}, {row.get('seconds')} s")


def verdict(row: dict[str, Any]) -> str:
    gain = over(row)
    return f"{gain[0]:.2f}x over {gain[1]}" if gain else "nothing makes it faster"


def over(row: dict[str, Any], side: str = "") -> tuple[float, str] | None:
    """Returns the gain of the whole model over one baseline, or over the faster of those that were measured. 1 where
    nothing is kept is not written down here: it is None."""
    speedup = ((row.get("said") or {}).get("whole") or {}).get("speedup") or {}
    if not (row.get("said") or {}).get("folder"):
        return None
    gains = [(speedup[name]["median"], name) for name in ("eager", "compile") if speedup.get(name) and side in ("", name)]
    return min(gains) if gains else None


def interval(value: dict[str, Any] | None, unit: str = "x") -> str:
    if not value:
        return "-"
    low, high = value["ci95"]
    return f"{value['median']:.3g}{unit} [{low:.3g}, {high:.3g}]"


def page(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the parts of the page. Rows with a number of threads that was asked for are apart, and in no mean."""
    asked = [row for row in rows if row.get("asked")]
    rest = [row for row in rows if not row.get("asked")]
    parts = [table(rest), *means(rest)]
    parts += ["## With a number of threads", table(asked)] if asked else []
    return [*parts, *shares(rest)]


def table(rows: list[dict[str, Any]]) -> str:
    header = ["model", "machine", "eager", "with kernels", "over eager [95 %]", "over torch.compile [95 %]", "parts kept", "error (Torch's own)",
              "run, s"]  # fmt: skip
    lines = []
    for row in rows:
        said = row.get("said")
        if not said:
            lines.append([row["model"], "-", "-", "-", "-", "-", row.get("failure", ""), "-", row.get("seconds", "-")])
            continue
        whole = said["whole"] or {}
        speedup, kept = whole.get("speedup") or {}, bool(said["folder"])
        error = whole.get("error") or {}
        lines.append(
            [
                row["model"],
                machine(said["environment"]),
                interval(whole.get("eager_ms"), " ms"),
                with_kernels(whole) if kept else "nothing kept",
                interval(speedup.get("eager")),
                compiled(whole),
                ", ".join(f"{name_of(p)} ({p['share']:.0%})" for p in said["parts"] if p["outcome"] == "kept") or "none",
                f"{error.get('rel_l2', 0):.1e} ({error.get('honest_rel_l2', 0):.1e})" if kept else "-",
                row["seconds"],
            ]
        )
    return benchlib.table(header, lines)


def machine(environment: dict[str, Any]) -> str:
    return environment.get("gpu") or f"{environment['cpu']}, {environment['threads']} threads"


def name_of(part: dict[str, Any]) -> str:
    return f"{part['class']} x{part['uses']}" + (", as torch.compile calls it" if part.get("compiled") else "")


def with_kernels(whole: dict[str, Any]) -> str:
    """Returns how long the model takes with its kernels, the way in which it is faster."""
    if whole.get("compiled_is_faster"):
        mode = whole.get("compiled_kernels_mode", "default")
        return f"{interval(whole['compiled_kernels_ms'], ' ms')} (in torch.compile{f', {mode}' if mode != 'default' else ''})"
    return str(interval(whole.get("kernels_ms"), " ms"))


def compiled(whole: dict[str, Any]) -> str:
    """Returns the gain over torch.compile, with its mode where there was a choice of it."""
    if not whole.get("compile_ms"):
        return str(whole.get("compile_failure", "-"))[:60]
    mode = whole.get("compile_mode", "default")
    return interval(whole["speedup"].get("compile")) + (f" ({mode})" if mode != "default" else "")


def means(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the geometric means. A model for which nothing is kept counts as 1, as the user then has what he had."""
    said = [row for row in rows if row.get("said")]
    lines = [f"{len(rows)} models, {len(said)} with a verdict, {sum(bool(r['said']['folder']) for r in said)} with kernels kept."]
    for side, name in (("eager", "eager"), ("compile", "torch.compile"), ("", "the faster of the two")):
        gains = [gain[0] if (gain := over(row, side)) else 1.0 for row in said if side != "compile" or over(row, side)]
        if gains:
            mean = math.exp(sum(map(math.log, gains)) / len(gains))
            lines.append(f"Geometric mean over {name}: {mean:.2f} ({len(gains)} models).")
    return ["\n".join(lines)]


def shares(rows: list[dict[str, Any]]) -> list[str]:
    """Returns what was done with each part of each model."""
    lines = [
        [row["model"], name_of(p), f"{p['share']:.0%}", interval(p["speedup"]), interval(p["whole"]), p["outcome"][:110]]
        for row in rows
        if row.get("said")
        for p in row["said"]["parts"]
    ]
    return ["## Parts", benchlib.table(["model", "part", "of eager's time", "part over eager", "whole with it", "outcome"], lines)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="JSON lines, one for each model")
    parser.add_argument("--only", default="", help="names of models, with commas")
    parser.add_argument("--dir", type=Path, help="folder of the models (bench/models, or bench/models_gpu)")
    parser.add_argument("--target", choices=FOLDERS, default="cpp", help="language of the kernels (cpp)")
    parser.add_argument("--threads", type=int, nargs="+", default=[0], help="measure each model with so many threads (all)")
    parser.add_argument("--seconds", type=int, default=900, help="for each model (900)")
    parser.add_argument("--islands", type=int, default=0, help="search so many parts of a model (pragma's own number)")
    parser.add_argument("--no-lint", action="store_true", help="do not lint the parts' tasks")
    parser.add_argument("--pragma", default=str(ROOT / "build" / "pragma"))
    parser.add_argument("--home", default=".pragma")
    parser.add_argument("--packages", default=".pragma/packages", help="folder for the packages of kernels")
    parser.add_argument("--summary", help="rows to make a page of")
    parser.add_argument("--title", default="Whole models", help="of the page")
    parser.add_argument("--out", type=Path, default=benchlib.RESULTS / "models.md")
    args = parser.parse_args()
    if args.summary:
        rows = [json.loads(line) for line in Path(args.summary).read_text().splitlines()]
        benchlib.write_result(args.out, args.title, benchlib.command_line(), page(rows))
    elif args.rows:
        Path(args.packages).mkdir(parents=True, exist_ok=True)
        measure(args)
    else:
        parser.error("--rows or --summary is needed")


if __name__ == "__main__":
    main()
