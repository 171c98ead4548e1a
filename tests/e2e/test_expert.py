"""The built-in expert: a search that needs no model."""

import subprocess
import sys

import pytest
from conftest import LIMIT_SECONDS, PRAGMA, ROOT

sys.path.insert(0, str(ROOT / "tests" / "expert"))
import random_modules

MODULES = sorted((ROOT / "tests" / "expert" / "modules").glob("*.py"))
QUICK = ["--json", "--no-compile-baseline", "--no-call", "--time", f"{LIMIT_SECONDS}s"]

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
    task.write_text(MODULE.format(result="torch.softmax(x, dim=0)"))
    result = program.run("optimize", task, "--attempts", "2", "--home", own_home, *QUICK, code=0).json
    assert result["best"]["status"] == "passed"
    assert result["best"]["candidate"]["language"] == "cpp"
    assert result["attempts"] == 2
    assert result["spent"]["tokens"] == 0
    replayed = program.run("replay", result["run"], "--json", "--home", own_home, code=0).json
    assert replayed["same_tree"] is True


def test_an_operator_that_it_does_not_know_is_named(program, own_home, tmp_path):
    task = tmp_path / "task.py"
    task.write_text(MODULE.format(result="torch.nanmedian(x, -1)[0]"))
    ran = program.run("optimize", task, "--model", "expert", "--attempts", "1", "--home", own_home, *QUICK)
    assert ran.json["best"] is None
    assert "aten.nanmedian.dim" in ran.err
    assert "--model" in ran.err


@pytest.fixture(scope="module")
def sources(home, tmp_path_factory):
    """The expert's first kernel of each module, and of two random ones, as a search begins with it. Here it is only
    checked: what it takes is of no interest. Returns the folder and what was said of each module."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "cache").symlink_to(home / "cache" / "torch")  # what is described here is known when it is judged
    drawn = [folder / f"random_{seed}.py" for seed in (4, 11)]
    for path in drawn:
        path.write_text(random_modules.draw(int(path.stem.removeprefix("random_"))))
    command = [PRAGMA.parent / "pragma-expert-source", sys.executable, folder, *MODULES, *drawn]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_SECONDS).stdout
    return folder, dict(line.split(": ", 1) for line in said.splitlines())


def check(program, home, task, kernel):
    return program.run("evaluate", task, kernel, "--no-timing", "--home", home, "--json").json


@pytest.mark.parametrize("name", ["random_4", "random_11"])
def test_random_modules_pass_or_are_refused(program, home, sources, name):
    folder, said = sources
    if "refused" in said[name]:
        assert "unsupported" in said[name]
        return
    result = check(program, home, folder / f"{name}.py", folder / name / "kernel.cpp")
    assert result["status"] == "passed", result["reason"]


@pytest.mark.parametrize("task", MODULES, ids=lambda path: path.stem)
def test_every_operator_of_a_module_is_right(program, home, sources, task):
    folder, said = sources
    assert "refused" not in said[task.stem]
    result = check(program, home, task, folder / task.stem / "kernel.cpp")
    assert result["status"] == "passed", result["reason"]


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
