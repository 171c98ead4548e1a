#!/usr/bin/env python3
"""Takes out each rule of docs/trust.md in turn and names the test that fails without it.

The rules are in tools/trust_rules.toml: where the code of a rule is, what replaces it, and which tests must then fail.
Only the changed file is compiled. Its object is linked before the libraries, so that its definitions are the ones that
count, into a test program or into a `pragma` in a folder of its own: neither the sources nor the build change. The
script fails if a layer of docs/trust.md has no rule, if a rule's code is not found, or if nothing fails without a rule.

    tools/take_out_rules.py --list
    tools/take_out_rules.py --only guard_pages --only hard_bound
    tools/take_out_rules.py --out docs/results/trust-rules.md
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
RULES = ROOT / "tools" / "trust_rules.toml"
PAGE = ROOT / "docs" / "trust.md"
SHOWN = 3  # failing tests of each rule
@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    layer: str  # first words of a row of the table "The layers"
    file: str
    find: str
    put: str
    tests: list[str]  # "ctest:PROGRAM:FILTER" or "exploit:NAME"
    program: str = "pragma"  # that exploits are judged with: pragma, or pragma-worker


def read_rules(path: pathlib.Path = RULES) -> list[Rule]:
    return [Rule(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["rule"]]


def layers(page: pathlib.Path = PAGE) -> list[str]:
    """The first column of the table of layers."""
    table = page.read_text(encoding="utf-8").split("## The layers")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("|")]
    return rows[2:]


def structural(path: pathlib.Path = RULES) -> list[str]:
    """Layers that are no line of code, so that nothing can be taken out."""
    return [entry["layer"] for entry in tomllib.loads(path.read_text(encoding="utf-8"))["structure"]]


def complaints(rules: list[Rule], root: pathlib.Path = ROOT) -> list[str]:
    """What can be said without building anything."""
    known = [*(rule.layer for rule in rules), *structural()]
    found = [f"no rule for the layer: {layer}" for layer in layers() if not layer.startswith(tuple(known))]
    for rule in rules:
        if not any(layer.startswith(rule.layer) for layer in layers()):
            found.append(f"{rule.name}: docs/trust.md has no layer {rule.layer!r}")
        text = (root / rule.file).read_text(encoding="utf-8") if (root / rule.file).exists() else ""
        if text.count(rule.find) != 1:
            found.append(f"{rule.name}: its code occurs {text.count(rule.find)} times in {rule.file}")
    return found


def run(command: list[str | pathlib.Path], folder: pathlib.Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


class Mutants:
    """Programs of a finished build with one file replaced."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path) -> None:
        self.build = build
        self.folder = folder
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        words = [shlex.split(entry["command"]) for entry in commands]
        self.commands = {command[command.index("-o") + 1]: command for command in words if "-o" in command}

    def failing(self, rule: Rule) -> tuple[list[str], str]:
        """Returns the tests that fail without the rule, and what went wrong otherwise."""
        text = (ROOT / rule.file).read_text(encoding="utf-8").replace(rule.find, rule.put)
        changed = self.folder / f"changed{pathlib.Path(rule.file).suffix}"
        changed.write_text(text, encoding="utf-8")
        made = self.folder / "changed.o"
        if trouble := self._compile(rule.file, changed, made):
            return [], f"does not compile: {trouble}"
        failed: list[str] = []
        for test in rule.tests:
            kind, _, rest = test.partition(":")
            program, _, which = rest.partition(":")
            if trouble := self._link(rule.program if kind == "exploit" else program, rule.file, made):
                return failed, f"does not link: {trouble}"
            if kind == "exploit":
                failed += [] if self._exploit_is_stopped(rest) else [f"exploit {rest}"]
            else:
                failed += self._failures(program, which, test)
        for made_here in self.folder.iterdir():
            made_here.unlink()
        return failed, ""

    def _compile(self, file: str, changed: pathlib.Path, made: pathlib.Path) -> str:
        """Compiles the changed text as its library's files are, without optimisation and precompiled headers."""
        parts = pathlib.Path(file).parts
        library = f"pragma_{parts[1]}.dir/" if parts[0] == "src" else f"{parts[-1]}.o"
        command = next(words for output, words in self.commands.items() if library in output)
        compiler = next(i for i, word in enumerate(command) if re.search(r"(c\+\+|g\+\+|cc|gcc)$", word) and "ccache" not in word)
        words, skip = [], False
        for word in command[compiler:]:
            if skip or word in ("-o", "-c", "-include", "-MF", "-MT"):
                skip = not skip and word != "-c"
            elif word not in ("-MD", "-Winvalid-pch", "-Werror", "-O2", "-O3") and not word.endswith((".cxx", ".cc", ".c")):
                words.append(word)
        here = ["-I", str((ROOT / file).parent)]
        done = run([*words, "-O0", "-w", *here, "-c", changed, "-o", made], self.build)
        return "" if done.returncode == 0 else " ".join(re.findall(r"error: .*", done.stderr)[:1])

    def _link(self, program: str, file: str, made: pathlib.Path) -> str:
        """Links the program with the object. Other programs are those of the build."""
        for other in self.build.iterdir():
            here = self.folder / other.name
            if other.name.startswith("pragma") and other.is_file() and os.access(other, os.X_OK) and not here.exists():
                # A program looks for the others beside itself, and a link would lead it to the build.
                shutil.copy2(other, here) if other.name == "pragma" else here.symlink_to(other)
        out = self.folder / program
        out.unlink(missing_ok=True)
        lines = run(["ninja", "-t", "commands", "-s", program], self.build).stdout.strip().splitlines()
        command = lines[-1].removeprefix(": && ").split(" && ")[0]
        own = f"{pathlib.Path(file).name}.o"
        replaced = re.sub(rf"\S+/{re.escape(own)}", str(made), command)
        command = re.sub(r"-o \S+", f"-Wl,-z,muldefs -o {out} {made if replaced == command else ''}", replaced, count=1)
        done = run(["bash", "-c", command], self.build)
        return "" if done.returncode == 0 else done.stderr.strip()[-300:]

    def _exploit_is_stopped(self, name: str) -> bool:
        python = ROOT / ".venv" / "bin" / "python"
        return run([python, "tests/red_team/run.py", "--only", name], ROOT, PRAGMA_BUILD=str(self.folder)).returncode == 0

    def _failures(self, program: str, which: str, test: str) -> list[str]:
        """Returns the names of the program's tests that fail; a crash counts as one without a name."""
        done = run([self.folder / program, f"--gtest_filter={which}", "--gtest_brief=1"], self.build)
        if "0 tests from 0" in done.stdout:
            sys.exit(f"{test}: no test has that name")
        names = dict.fromkeys(re.findall(r"\[  FAILED  \] (\S+\.\S+?),? ", done.stdout.replace("\n", " ")))
        return list(names) or ([f"{program} ends"] if done.returncode != 0 else [])


def report(rows: list[tuple[Rule, list[str], str]]) -> str:
    missed = sum(not failed for _, failed, _ in rows)
    lines = [
        "# Each rule taken out",
        "",
        "`tools/take_out_rules.py`: the code of each rule of [trust.md](../trust.md) was replaced in turn, and the named tests",
        f"run. {len(rows)} rules, {len(rows) - missed} have a test that fails without them.",
        "",
        "| rule | layer | where | test that fails without it |",
        "|---|---|---|---|",
    ]
    for rule, failed, trouble in rows:
        shown = [f"`{test}`" for test in failed[:SHOWN]] + ([f"{len(failed) - SHOWN} more"] if len(failed) > SHOWN else [])
        said = ", ".join(shown) or f"**nothing fails** {trouble}"
        lines.append(f"| {rule.name} | {rule.layer} | `{rule.file}` | {said} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="check the list against the sources and docs/trust.md only")
    parser.add_argument("--only", action="append", metavar="NAME", help="a rule; may be given again")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), help="a finished build")
    parser.add_argument("--out", type=pathlib.Path, help="write the table there")
    arguments = parser.parse_args()
    rules = read_rules()
    wrong = complaints(rules)
    if wrong or arguments.list:
        print("\n".join(wrong) if wrong else f"{len(rules)} rules, each layer of docs/trust.md has one")
        return 1 if wrong else 0
    chosen = [rule for rule in rules if not arguments.only or rule.name in arguments.only]
    if not chosen:
        sys.exit("no rule of that name; --list checks the list")
    rows = []
    with tempfile.TemporaryDirectory(prefix="pragma-rules-") as folder:
        mutants = Mutants((ROOT / arguments.build).resolve(), pathlib.Path(folder))
        for number, rule in enumerate(chosen, 1):
            start = time.monotonic()
            failed, trouble = mutants.failing(rule)
            said = ", ".join(failed[:SHOWN]) or f"NOTHING FAILS {trouble}"
            print(f"{number}/{len(chosen)} {rule.name}: {said} ({time.monotonic() - start:.0f} s)", flush=True)
            rows.append((rule, failed, trouble))
    if arguments.out:
        arguments.out.write_text(report(rows), encoding="utf-8")
    return 0 if all(failed for _, failed, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
