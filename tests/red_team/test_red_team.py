"""Every exploit gets the verdict it must get, none is accepted, and none leaves anything behind."""

import signal
import subprocess
import sys
import time

import catalogue
import pytest
from judge import HERE, Judge, read_case, read_cases, selected
from traces import Traces, eventually, processes_naming

sys.path.insert(0, str(HERE.parent))
from shared import measured_home  # noqa: E402

CASES = [case for case in read_cases(HERE, "red-team") if "slow" not in case.words]


def marked(case):
    """An exploit that may only be judged alone gets a mark: nothing else runs beside the process that judges it."""
    return pytest.param(case, id=case.name, marks=[pytest.mark.alone] if "alone" in case.words else [])


@pytest.fixture(scope="module")
def red(request, tmp_path_factory):
    """Judges what was selected, two groups at a time; what it leaves behind is looked for at the end."""
    judge = Judge(tmp_path_factory.mktemp("red"), home=measured_home(tmp_path_factory))
    vars(judge)["before"] = Traces.now()
    judge.start(selected(request, CASES))
    yield judge
    judge.close()


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_an_exploit_gets_its_verdict(red, case):
    verdict = red.verdict(case)
    assert verdict.status != "passed", f"accepted: {case.text}"
    assert verdict.status in case.expect, f"{verdict.status}: {verdict.reason}"
    assert verdict.reason


@pytest.mark.parametrize("by", ["those_beside_others", pytest.param("those_alone", marks=pytest.mark.alone)])
def test_nothing_is_left_behind(red, by):
    """Runs after the exploits: the machine is as it was before the first of them."""
    for future in set(red.futures.values()):
        future.exception()  # wait; its own tests report what went wrong
    assert eventually(lambda: processes_naming(str(red.folder)) == []), processes_naming(str(red.folder))
    assert list((red.folder / "tmp").iterdir()) == []
    assert list((red.folder / "user").iterdir()) == []
    assert eventually(lambda: Traces.now().since(red.before) == {}), Traces.now().since(red.before)


@pytest.mark.parametrize("name", ["endless_threads", "endless_loop", "stops_itself", "constexpr_bomb"])
def test_killed_in_the_middle_of_a_hostile_evaluation(tmp_path, red, name):
    """kill -9 of pragma takes everything in its jails along."""
    judge = Judge(tmp_path, home=red.folder / "home")
    case = read_case(HERE / f"{name}.cpp", "red-team")
    before = Traces.now()
    command = [word for word in judge.command([case]) if not word.startswith("--run-limit")]
    pragma = subprocess.Popen(command, cwd=tmp_path, env=judge.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    at_work = "cc1plus" if name == "constexpr_bomb" else "pragma-worker /kernel.so"
    assert eventually(lambda: any(at_work in line for line in processes_naming(str(tmp_path))), 60)
    time.sleep(0.3)
    pragma.send_signal(signal.SIGKILL)
    assert pragma.wait() == -signal.SIGKILL
    assert eventually(lambda: processes_naming(str(tmp_path)) == []), processes_naming(str(tmp_path))
    assert eventually(lambda: Traces.now().since(before) == {}), Traces.now().since(before)


def test_the_catalogue_is_up_to_date():
    """docs/trust.md is the list that people read; catalogue.py rewrites its tables."""
    text = catalogue.DOCUMENT.read_text()
    assert catalogue.with_tables(text) == text


def test_at_least_fifteen_exploits_are_our_own():
    assert sum("own" in case.words for case in CASES) >= 15
