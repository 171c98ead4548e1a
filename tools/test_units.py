"""The parts into which the tests are divided, and which of them a change needs (tools/run_tests.py runs them)."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from dataclasses import dataclass, field

import check_layers

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A change here may let a wrong kernel pass, or stop an honest one. It needs the suites below.
TRUST_BASE = ("src/verify/", "src/harness/", "src/sandbox/", "src/build/", "worker/", "python/", "cmake/", "CMake")
TRUST_SUITES = {
    "tests/red_team": ("tests/red_team/", "tests/shared.py", "tests/e2e/tasks/", "docs/trust.md"),
    "tests/honest": ("tests/honest/", "tests/red_team/", "tests/shared.py"),
    "tests/e2e/test_python_candidates.py": ("tests/e2e/test_python_candidates.py", "tests/red_team", "tests/shared.py"),
}

# What few commands reach, and the end-to-end tests of these. A change in other layers needs all of them.
END_TO_END = {
    "src/bench/": ("bench", "kernelbench", "usage"),
    "src/expert/": ("expert", "islands", "gpu_search"),
    "src/serve/": ("serve", "evaluate", "usage"),
    "src/tune/": ("tuning", "usage"),
    "docs/": ("backend", "gpu_diagnosis"),
}

# Seconds of what takes longest, side by side with others on two processors. The longest begins first, so that the
# processors finish together.
SECONDS = {
    "tests/e2e/test_expert.py": 600,
    "tests/red_team": 500,
    "tests/e2e/test_odd.py": 330,
    "tests/e2e/test_services.py": 330,
    "tests/e2e/test_python_candidates.py": 310,
    "tests/honest": 310,
    "tests/e2e/test_machines.py": 300,
    "tests/e2e/test_bench.py": 270,
    "tests/e2e/test_gpu_search.py": 255,
    "tests/e2e/test_serve.py": 180,
    "tests/e2e/test_evaluate.py": 170,
    "tests/e2e/test_islands.py": 165,
    "tests/e2e/test_bug_reports.py": 150,
    "tests/e2e/test_search.py": 130,
    "expert_test": 125,
    "tests/e2e/test_shapes.py": 100,
    "build_test": 100,
    "tests/e2e/test_tuning.py": 95,
    "tests/e2e/test_profile.py": 85,
    "tests/e2e/test_mode.py": 80,
    "tests/e2e/test_recheck.py": 80,
    "tests/knowledge": 75,
    "tests/e2e/test_model.py": 75,
    "tests/e2e/test_lint.py": 70,
    "profile_test": 60,
    "python/tests/test_server.py": 60,
    "tests/e2e/test_kernelbench.py": 60,
    "task_test": 55,
    "python/tests/test_candidate.py": 55,
    "python/tests/test_describe.py": 50,
    "python/tests/test_kernels.py": 45,
    "tests/e2e/test_cuda.py": 45,
    "tests/layers": 35,
    "tests/report": 30,
    "app_test": 30,
    "python/tests/test_complex.py": 25,
    "tests/llm": 20,
    "python/tests/test_whole_model.py": 20,
    "python/tests/test_parts.py": 20,
}


@dataclass(frozen=True)
class Unit:
    """One process of tests, which may run beside others unless it is `alone`."""

    name: str
    step: str
    command: list[str]
    report: pathlib.Path | None = None  # JUnit XML, which counts the cases one by one
    environment: dict[str, str] = field(default_factory=dict)
    good: tuple[int, ...] = (0,)
    alone: bool = False

    @property
    def seconds(self) -> int:
        return SECONDS.get(self.name, 10)


def checks() -> list[Unit]:
    """What needs no build."""
    return [
        Unit("format", "checks", ["tools/format.sh", "check"]),
        Unit("scripts", "checks", [sys.executable, "tools/check_scripts.py"]),
    ]


def programs(build: pathlib.Path, results: pathlib.Path) -> list[Unit]:
    """The tests that CMake registered: the layers' test programs, and checks that are scripts."""
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    units = []
    for test in json.loads(listed)["tests"]:
        name = test["name"]
        command = test.get("command", [str(build / name)])  # a program that is not built has none, and fails
        if not name.endswith("_test"):
            units.append(Unit(name, "checks", command))
            continue
        report = results / f"{name}.xml"
        units.append(Unit(name, "C++ tests", command, report, {"GTEST_OUTPUT": f"xml:{report}"}))
    assert units, f"CMake registered no tests in {build}"
    return units


NO_TESTS = 5  # pytest's exit status if no tests were selected


def pytest_unit(name: str, step: str, files: list[str], results: pathlib.Path, alone: bool) -> Unit:
    report = results / f"{name.replace('/', '-')}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "alone" if alone else "not alone",
               f"--junitxml={report}", *files]
    return Unit(name, step, command, report, good=(0, NO_TESTS), alone=alone)


def python_tests(results: pathlib.Path, left_out: set[str]) -> list[Unit]:
    """The files of python/tests and tests/e2e one by one, and the other folders of tests/ as a whole: their files share
    what is slow to make. One more process has all tests that no other may run beside."""
    files = [path.relative_to(ROOT) for folder in ("python/tests", "tests") for path in (ROOT / folder).rglob("test_*.py")]
    names = sorted({str(file if file.parent.parts[-1] in ("tests", "e2e") else file.parent) for file in files} - left_out)
    units = []
    for name in names:
        step = "tests of Python" if name.startswith("python/") else "end to end"
        units.append(pytest_unit(name, step, [name], results, alone=False))
    ignored = [f"--ignore={name}" for name in sorted(left_out)]
    units.append(pytest_unit("alone", "alone", ["tests", *ignored], results, alone=True))
    return units


def changed_since(base: str) -> list[str]:
    """The files that differ from where this branch left `base`, committed or not."""
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"run_tests: git cannot tell what has changed since {base}: {done.stderr.strip()}")
        return done.stdout

    fork = git("merge-base", base, "HEAD").strip()
    return git("diff", "--name-only", fork).split("\n")[:-1] + git("ls-files", "--others", "--exclude-standard").split("\n")[:-1]


def reached_by(layer: str) -> set[str]:
    """The layers that a layer's test program is built of."""
    table = check_layers.read_table(ROOT / "docs" / "design.md")
    found, open_ends = {layer}, [layer]
    while open_ends:
        more = table.get(open_ends.pop(), (0, set()))[1] - found
        found |= more
        open_ends += more
    return found


def end_to_end_not_needed(changed: list[str]) -> set[str]:
    """Files of tests/e2e that reach nothing of what was changed."""
    needed: set[str] = set()
    for file in changed:
        layer = next((layer for layer in END_TO_END if file.startswith(layer)), None)
        if layer:
            needed |= {f"tests/e2e/test_{name}.py" for name in END_TO_END[layer]}
        elif file.startswith("tests/e2e/test_"):
            needed.add(file)
        elif not file.startswith(("tools/", "tests/report/", "tests/layers/")):
            return set()
    return {str(file.relative_to(ROOT)) for file in (ROOT / "tests" / "e2e").glob("test_*.py")} - needed


def not_needed(changed: list[str], layers: list[str]) -> set[str]:
    """The names of units that no changed file can affect. What is in doubt is needed."""
    def touched(prefixes: tuple[str, ...]) -> bool:
        return any(file.startswith(prefixes) for file in changed)

    if touched(TRUST_BASE):
        return set()
    unneeded = {name for name, own in TRUST_SUITES.items() if not touched(own)} | end_to_end_not_needed(changed)
    unneeded |= {str(file.relative_to(ROOT)) for file in (ROOT / "python" / "tests").glob("test_*.py")}
    if touched(("src/expert/", "src/task/", "bench/")):
        unneeded.discard("python/tests/test_expert_triton.py")
    sources = {file.split("/")[1] for file in changed if file.startswith("src/") and file.count("/") > 1}
    elsewhere = [file for file in changed if not file.startswith(("src/", "docs/", "tests/e2e/", "tests/report/", "tools/"))]
    if not elsewhere:
        unneeded |= {f"{layer}_test" for layer in layers if not reached_by(layer) & sources}
    return unneeded
