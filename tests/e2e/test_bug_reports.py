"""What users reported about other tools of this kind: tests/odd/bug_reports.py has the cases."""

from __future__ import annotations

import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests" / "odd"))

from bug_reports import CASES, Bench  # noqa: E402


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.row}-{case.run.__name__}")
def test_it_ends_as_it_should(case, tmp_path, own_home):
    case.run(Bench(tmp_path, own_home))
