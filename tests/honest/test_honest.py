"""Honest kernels that look suspicious or sit at the numerical edge: a false rejection is a defect too."""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "red_team"), str(HERE.parent)]

from judge import Judge, read_cases, selected  # noqa: E402
from shared import measured_home  # noqa: E402

CASES = read_cases(HERE, "honest")


@pytest.fixture(scope="module")
def honest(request, tmp_path_factory):
    # Checks only, except in run.py: timed outputs meet the same comparator, and time takes minutes.
    judge = Judge(tmp_path_factory.mktemp("honest"), timing=False, home=measured_home(tmp_path_factory))
    judge.start(selected(request, CASES))
    yield judge
    judge.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_honest_kernel_passes(honest, case):
    verdict = honest.verdict(case)
    assert verdict.status == "passed", f"{verdict.status}: {verdict.reason}\n{case.text}"
