"""tools/test_units.py: which tests a change needs."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import test_units  # noqa: E402

LAYERS = sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir())
SUITES = set(test_units.TRUST_SUITES)


@pytest.mark.parametrize("file", ["src/verify/comparator.cc", "src/harness/ring.h", "worker/jail/init.c", "python/pragma_torch/server.py", "CMakeLists.txt"])
def test_a_change_of_the_trust_base_needs_everything(file):
    assert test_units.not_needed(["docs/design.md", file], LAYERS) == set()


def test_a_change_elsewhere_needs_no_red_team():
    left_out = test_units.not_needed(["src/expert/plan/nest.cc"], LAYERS)
    assert SUITES <= left_out
    assert "verify_test" in left_out and "python/tests/test_server.py" in left_out
    assert not left_out & {"expert_test", "app_test", "cli_test", "python/tests/test_expert_triton.py"}


def test_a_low_layer_needs_the_tests_of_all_that_stand_on_it():
    left_out = test_units.not_needed(["src/core/evaluation.h"], LAYERS)
    assert "base_test" in left_out and not left_out & {"core_test", "expert_test", "verify_test"}


def test_a_file_of_no_layer_needs_every_program():
    left_out = test_units.not_needed(["knowledge/technique.toml", "src/llm/reply.cc"], LAYERS)
    assert not {name for name in left_out if name.endswith("_test")}


def test_a_layer_that_few_commands_reach_needs_their_end_to_end_tests():
    left_out = test_units.not_needed(["src/serve/loop.cc", "tests/e2e/test_lint.py", "docs/serve.md"], LAYERS)
    assert "tests/e2e/test_search.py" in left_out
    assert not left_out & {"tests/e2e/test_serve.py", "tests/e2e/test_lint.py", "tests/report"}


@pytest.mark.parametrize("file", ["src/search/session.cc", "tests/e2e/conftest.py", "tests/shared.py", "knowledge/technique.toml"])
def test_a_change_that_any_command_may_reach_needs_every_end_to_end_test(file):
    left_out = test_units.not_needed([file, "src/serve/loop.cc"], LAYERS)
    assert not {name for name in left_out - SUITES if name.startswith("tests/")}


def test_the_end_to_end_tests_of_a_layer_are_there():
    for layer, names in test_units.END_TO_END.items():
        assert (ROOT / layer).is_dir()
        assert all((ROOT / "tests" / "e2e" / f"test_{name}.py").exists() for name in names)


@pytest.mark.parametrize("suite, file", [
    ("tests/red_team", "tests/red_team/judge.py"),
    ("tests/honest", "tests/red_team/judge.py"),
    ("tests/e2e/test_python_candidates.py", "tests/red_team_python/exits.py"),
])
def test_a_changed_suite_is_run(suite, file):
    assert suite not in test_units.not_needed([file], LAYERS)


def test_every_suite_and_every_long_unit_is_there():
    for name in [*test_units.TRUST_SUITES, *test_units.SECONDS]:
        assert (ROOT / name).exists() or name.removesuffix("_test") in LAYERS, name
