"""The built-in expert: a search that needs no model."""

import sys

import pytest
from conftest import LIMIT_SECONDS, ROOT

sys.path.insert(0, str(ROOT / "tests" / "expert"))
import random_modules

MODULES = sorted((ROOT / "tests" / "expert" / "modules").glob("*.py"))
QUICK = ["--json", "--no-compile-baseline", "--no-dropin", "--time", f"{LIMIT_SECONDS}s"]

# One kernel. No author learns from it, so it need not be profiled.
SEED_ONLY = ["--model", "expert", "--attempts", "1", "--strategy", "n-pragma", *QUICK]

MODULE = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(37)

    def forward(self, x):
        return {result}


def get_inputs():
    return [torch.randn(11, 37)]


def get_init_inputs():
    return []
"""


def test_without_a_model_the_expert_is_asked(program, own_home, tmp_path):
    task = tmp_path / "task.py"
    task.write_text(MODULE.format(result="torch.tanh(self.norm(x)).cumsum(1)"))
    result = program.run("optimize", task, "--attempts", "2", "--home", own_home, *QUICK, code=0).json
    assert result["best"]["status"] == "passed"
    assert result["best"]["candidate"]["language"] == "cpp"
    assert result["attempts"] == 2
    assert result["spent"]["tokens"] == 0


def test_an_operator_that_it_does_not_know_is_named(program, own_home, tmp_path):
    task = tmp_path / "task.py"
    task.write_text(MODULE.format(result="torch.sort(x)[0]"))
    ran = program.run("optimize", task, "--model", "expert", "--attempts", "1", "--home", own_home, *QUICK)
    assert ran.json["best"] is None
    assert "aten.sort.default" in ran.err
    assert "--model" in ran.err


def test_its_runs_are_replayed(program, own_home, tmp_path):
    task = tmp_path / "task.py"
    task.write_text(MODULE.format(result="torch.softmax(x, dim=0)"))
    run = program.run("optimize", task, "--attempts", "2", "--home", own_home, *QUICK, code=0).json["run"]
    replayed = program.run("replay", run, "--json", "--home", own_home, code=0).json
    assert replayed["same_tree"] is True


def test_random_modules_pass_or_are_refused(program, own_home, tmp_path):
    for seed in (4, 11):
        task = tmp_path / f"random_{seed}.py"
        task.write_text(random_modules.draw(seed))
        ran = program.run("optimize", task, "--home", own_home, *SEED_ONLY)
        best = ran.json["best"]
        assert best is not None and best["status"] == "passed" or "unsupported" in ran.err, ran.err


@pytest.mark.parametrize("task", MODULES, ids=lambda path: path.stem)
def test_every_operator_of_a_module_is_right(program, own_home, task):
    result = program.run("optimize", task, "--home", own_home, *SEED_ONLY, code=0).json
    assert result["best"]["status"] == "passed"


def test_the_same_seed_draws_the_same_module():
    assert random_modules.draw(5) == random_modules.draw(5)
    assert random_modules.draw(5) != random_modules.draw(6)


def test_attempts_say_which_batteries_had_no_time_and_the_final_best_has_them_all(program, own_home, tmp_path):
    task = tmp_path / "task.py"
    text = MODULE.format(result="(x * x).sum(1)").replace("(11, 37)", "(3000, 2000)")
    task.write_text(text.replace("self.norm = nn.LayerNorm(37)", "pass"))
    several = ["--model", "expert", "--attempts", "2", "--strategy", "n-pragma", *QUICK]
    ran = program.run("optimize", task, *several, "--home", own_home, code=0)
    assert ran.json["best"]["partly_checked"] == []
    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    attempt = shown["trials"][0]["evaluation"]
    assert attempt["status"] == "passed" and "signed" not in attempt["partly_checked"]
    assert len(attempt["partly_checked"]) > 5
    assert shown["final"]["partly_checked"] == []
    text = program.run("show", "last", "--node", "1", "--home", own_home, code=0).out
    assert f"no time for {', '.join(attempt['partly_checked'])}" in " ".join(text.split())
