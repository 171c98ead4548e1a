"""evaluate: candidates in Python (docs/python-candidates.md), honest ones and hostile ones."""

from __future__ import annotations

import json
import sys

import pytest
from conftest import ROOT, TASKS

sys.path.insert(0, str(ROOT / "tests" / "red_team"))
from judge import Judge, read_case, selected  # noqa: E402

CASES = [read_case(path, "red-team") for path in sorted((ROOT / "tests" / "red_team_python").glob("*.py"))]
SHORT = ["--no-compile-baseline"]


@pytest.fixture(scope="module")
def red(request, tmp_path_factory):
    """Judges what was selected, two groups at a time, each on one warm reference."""
    judge = Judge(tmp_path_factory.mktemp("red"))
    judge.measure_machine()
    judge.start(selected(request, CASES))
    yield judge
    judge.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_red_team_gets_its_verdicts(red, case):
    verdict = red.verdict(case)
    assert verdict.status in case.expect, verdict.reason + verdict.runs[0].get("log", "")
    assert verdict.runs[0]["environment"]["trust"] == "weaker (python)"
    if case.note:
        notes = [check["detail"] for check in verdict.runs[0]["checks"] if check["verdict"] == "note"]
        assert any(case.note in note for note in notes), notes


def test_no_files_stay_behind(red):
    for future in set(red.futures.values()):
        future.exception()
    assert list((red.folder / "tmp").iterdir()) == []


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
