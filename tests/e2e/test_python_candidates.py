"""evaluate: candidates in Python (docs/python-candidates.md), honest ones and hostile ones."""

from __future__ import annotations

import json
import pathlib
import re

import pytest
from conftest import KERNELS, ROOT, TASKS

RED_TEAM = sorted((ROOT / "tests" / "red_team_python").glob("*.py"))
# Verdicts that only timing can reach.
TIMED = {"implausible"}
NO_TIMING = ["--no-timing"]
SHORT = ["--no-compile-baseline"]


def expectations(file: pathlib.Path) -> dict[str, str]:
    """"# red-team: task=linear expect=passed" as a dictionary."""
    first = file.read_text().splitlines()[0]
    assert first.startswith("# red-team: "), f"{file.name} does not say what it expects"
    return dict(re.findall(r"(\w+)=(\S+)", first))


def left_in(folder: pathlib.Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("file", RED_TEAM, ids=lambda file: file.stem)
def test_the_red_team_gets_its_verdicts(program, home, file, tmp_path):
    expected = expectations(file)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    statuses = expected["expect"].split(",")
    flags = SHORT if TIMED & set(statuses) else NO_TIMING
    ran = program.run(
        "evaluate", TASKS / f"{expected['task']}.py", file, "--home", home, "--run-limit", "10s", *flags, "--json",
        TMPDIR=str(scratch),
    )  # fmt: skip
    assert ran.json["status"] in statuses, ran.json["reason"] + ran.json.get("log", "")
    assert ran.code == (0 if expected["expect"] == "passed" else 1)
    assert ran.json["environment"]["trust"] == "weaker (python)"
    if "note" in expected:
        notes = [check["detail"] for check in ran.json["checks"] if check["verdict"] == "note"]
        assert any(expected["note"].replace("_", " ") in note for note in notes), notes
    assert left_in(scratch) == [], "files stay behind"


def test_an_honest_solution_is_timed_against_torch(program, home):
    solution = ROOT / "tests" / "red_team_python" / "honest_torch.py"
    ran = program.run("evaluate", TASKS / "linear.py", solution, "--home", home, *SHORT, "--json", code=0)
    assert ran.json["candidate"]["language"] == "python"
    assert ran.json["candidate"]["flags"] == []
    assert ran.json["timing"]["median_ms"] > 0
    low, high = ran.json["speedup"]["eager"]["ci95"]
    assert low <= ran.json["speedup"]["eager"]["median"] <= high
    assert "no kernel of its own" in " ".join(check["detail"] for check in ran.json["checks"])


def test_an_extension_is_compiled_once_for_all_timing_processes(program, home):
    solution = ROOT / "tests" / "red_team_python" / "honest_extension.py"
    ran = program.run("evaluate", TASKS / "linear.py", solution, "--home", home, *SHORT, "--json", code=0)
    phases = ran.json["phases_ms"]
    # Ten processes or more are timed; had each compiled, this would be many times the first load.
    assert phases["time"] < 10 * phases["load"], phases


def test_the_drop_in_figure(program, home):
    ran = program.run(
        "evaluate", TASKS / "scale.py", KERNELS / "good.cpp", "--home", home, *SHORT, "--dropin", "--json", code=0
    )
    low, high = ran.json["speedup"]["dropin"]["ci95"]
    assert 0 < low <= ran.json["speedup"]["dropin"]["median"] <= high
    assert {"name": "drop_in", "verdict": "pass"}.items() <= next(
        check for check in ran.json["checks"] if check["name"] == "drop_in"
    ).items()
    # The kernel's own verdict keeps its trust.
    assert ran.json["environment"]["trust"] == "isolated"


def test_a_request_may_hold_a_solution(program, home):
    request = {
        "schema": 1,
        "task": {"path": str(TASKS / "linear.py")},
        "candidate": {"path": str(ROOT / "tests" / "red_team_python" / "honest_torch.py")},
        "measure": "nothing",
    }
    (program.folder / "request.json").write_text(json.dumps(request))
    ran = program.run("evaluate", "--request", "request.json", "--home", home, "--json", code=0)
    assert ran.json["candidate"]["language"] == "python"
