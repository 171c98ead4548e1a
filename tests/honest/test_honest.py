"""Honest kernels that look suspicious or sit at the numerical edge: a false rejection is a defect too."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "red_team"))

from judge import Judge, read_cases  # noqa: E402

CASES = read_cases(HERE, "honest")


@pytest.fixture(scope="module")
def honest(request, tmp_path_factory):
    selected = {item.callspec.params["case"].name for item in request.session.items if "case" in getattr(getattr(item, "callspec", None), "params", {})}
    # Checks only, except in run.py: timed outputs meet the same comparator, and time takes minutes.
    judge = Judge(tmp_path_factory.mktemp("honest"), timing=False)
    judge.measure_machine()
    judge.start([case for case in CASES if case.name in selected])
    yield judge
    judge.pool.shutdown(wait=True, cancel_futures=True)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_honest_kernel_passes(honest, case):
    verdict = honest.verdict(case)
    assert verdict.status == "passed", f"{verdict.status}: {verdict.reason}\n{case.text}"
