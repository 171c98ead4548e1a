#!/usr/bin/env python3
"""The tables of docs/trust.md, made from the first lines of the exploits. Run it to rewrite them."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from judge import HERE, ROOT, Case, read_cases  # noqa: E402

DOCUMENT = ROOT / "docs" / "trust.md"
BEGIN = "<!-- written by tests/red_team/catalogue.py -->"
END = "<!-- end -->"

# Number in the catalogue of known exploits -> what the kind is. Missing numbers: GPU, Python, or no cheating in itself.
KINDS = {
    1: "Stale reference output",
    2: "Returned input, outputs that share storage",
    3: "Nothing written, memory as it was found",
    4: "Constant output",
    5: "Terms left out",
    6: "Lower precision",
    7: "NaN and infinity",
    8: "Shape and layout",
    9: "Access outside the tensors",
    10: "Races, randomness",
    12: "Only right for the inputs that are expected",
    13: "Seeds, ready-made answers",
    15: "A library does the work",
    18: "Results kept from call to call",
    19: "Replay from disk",
    20: "Telling the check from the timing",
    21: "Work moved to where no clock runs",
    22: "Right at first, cheap later",
    23: "Changed inputs",
    24: "Faster than the machine",
    25: "Work finished after the clock stopped",
    26: "Early or forged completion",
    27: "Patched harness",
    29: "Influence on the plan",
    32: "More resources than the other side",
    33: "Floating-point mode",
    34: "Clocks",
    35: "Ending before the check",
    36: "Forged verdict",
    37: "Overwritten files",
    38: "Reading what is expected: files",
    39: "Looking into other processes",
    40: "Searching memory for secrets",
    41: "Bombs",
    42: "Hanging",
    43: "Network",
    44: "Damage: signals, files, programs",
    45: "Code before and around the call",
    46: "Reading files while it is compiled",
    47: "Compile bombs",
    48: "Hostile flags",
    49: "Pragmas and assembler",
    50: "Text that speaks to the reader",
    51: "Symbols",
    52: "Cancellation",
    53: "Small results written as zero",
    54: "Settings of the process",
}


def rows(number: int, cases: list[Case]) -> list[str]:
    lines = [f"### {number} {KINDS[number]}", "", "| exploit | what it does | stopped by | | verdict |", "|---|---|---|---|---|"]
    for case in cases:
        kind = "absolute" if "absolute" in case.words else "heuristic"
        own = ", own" if "own" in case.words else ""
        text = case.text.replace("|", "\\|")
        lines.append(f"| `{case.name}` | {text} | {case.layer} | {kind}{own} | {', '.join(sorted(case.expect))} |")
    return [*lines, ""]


def tables() -> str:
    by_number: dict[int, list[Case]] = {}
    for case in read_cases(HERE, "red-team"):
        by_number.setdefault(int(case.catalogue), []).append(case)
    lines = [line for number in sorted(by_number) for line in rows(number, by_number[number])]
    return "\n".join(lines)


def with_tables(text: str) -> str:
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text()))
