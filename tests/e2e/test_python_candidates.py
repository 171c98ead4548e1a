"""evaluate: candidates in Python (docs/python-candidates.md), honest ones and hostile ones."""

from __future__ import annotations

import json
import sys

import pytest
from conftest import ROOT, TASKS

sys.path.insert(0, str(ROOT / "tests" / "red_team"))
from judge import Judge, read_case, selected  # noqa: E402

CASES = [read_case(path, "red-team") for path in sorted((ROOT / "tests" / "red_team_python").glob("*.py"))]


def named(name):
    """The case of that name, as a parameter of a test that reads its verdict once more."""
    return [case for case in CASES if case.name == name]


@pytest.fixture(scope="module")
def red(request, home, tmp_path_factory):
    """Judges what was selected, two groups at a time, each on one warm reference."""
    judge = Judge(tmp_path_factory.mktemp("red"), home=home)
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


@pytest.mark.parametrize("case", named("honest_torch"))
def test_an_honest_solution_is_timed_against_torch(red, case):
    judged = red.verdict(case).runs[0]
    assert judged["candidate"]["language"] == "python"
    assert judged["candidate"]["flags"] == []
    assert judged["timing"]["median_ms"] > 0
    low, high = judged["speedup"]["eager"]["ci95"]
    assert low <= judged["speedup"]["eager"]["median"] <= high
    assert "no kernel of its own" in " ".join(check["detail"] for check in judged["checks"])


@pytest.mark.parametrize("case", named("honest_extension"))
def test_an_extension_is_compiled_once_for_all_timing_processes(red, case):
    phases = red.verdict(case).runs[0]["phases_ms"]
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
