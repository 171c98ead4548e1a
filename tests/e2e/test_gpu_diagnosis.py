"""tests/gpu/diagnosis/: the true cause of slow GPU kernels comes first, as Nsight Compute counted them. Needs no GPU."""

import re
import sys

import pytest
from conftest import PRAGMA, ROOT

sys.path.insert(0, str(ROOT / "bench"))

import gpu_diagnosis  # noqa: E402

CASES = gpu_diagnosis.read_cases()


@pytest.fixture(scope="module")
def found():
    return gpu_diagnosis.ask_all(PRAGMA, CASES)


def test_the_set_is_large_and_wide_enough_and_its_causes_are_classes():
    design = (ROOT / "docs" / "design.md").read_text()
    paragraph = re.search(r"^GPU: (.*?)\n\n", design, re.MULTILINE | re.DOTALL)
    assert paragraph is not None
    classes = set(re.findall(r"`(\w+)`", paragraph.group(1)))
    assert len(CASES) >= 14 and len({case.cause for case in CASES}) >= 14
    assert set().union(*(case.answers for case in CASES)) <= classes


def test_the_true_cause_is_first_in_at_least_four_of_five(found):
    ranks = {case.name: gpu_diagnosis.rank_of(case, found[case.name]["slow"]) for case in CASES}
    assert list(ranks.values()).count(1) >= 0.8 * len(CASES), ranks


def test_each_diagnosis_has_evidence_with_figures_and_an_action(found):
    for variants in found.values():
        for diagnosis in variants["slow"]:
            assert re.search(r"\d", " ".join(diagnosis["evidence"])) and diagnosis["action"]
