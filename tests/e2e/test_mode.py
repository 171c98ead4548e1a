"""The mode of the module (--eval), and the threads of both sides whatever the user's shell says."""

from __future__ import annotations

import json
import re

import pytest
from conftest import TASKS

CHECKED = ["--no-timing", "--json"]

FOLLOWS = """
import torch
from torch import nn

class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.inner = nn.Sequential(nn.BatchNorm1d(features))
    def forward(self, x):
        return self.inner(x) + 0.0
"""
OWN_STATISTICS = FOLLOWS.replace("self.inner(x) + 0.0", "(x - x.mean(0)) * torch.rsqrt(x.var(0, unbiased=False) + 1e-5) * self.inner[0].weight + self.inner[0].bias")


@pytest.mark.parametrize(
    ("flags", "mode", "statuses"),
    [([], "training", ["passed", "passed"]), (["--eval"], "eval", ["passed", "wrong_values"])],
)
def test_a_module_is_judged_in_the_mode_that_was_asked_for(program, home, flags, mode, statuses):
    (program.folder / "follows.py").write_text(FOLLOWS)
    (program.folder / "own.py").write_text(OWN_STATISTICS)
    ran = program.run("evaluate", TASKS / "norm.py", "follows.py", "own.py", *flags, "--home", home, *CHECKED)
    found = ran.json["evaluations"]
    assert [e["status"] for e in found] == statuses, [e["reason"] for e in found]
    assert {e["environment"]["mode"] for e in found} == {mode}


def test_the_text_names_the_mode_where_it_matters(program, home):
    (program.folder / "follows.py").write_text(FOLLOWS)
    shown = program.run("evaluate", TASKS / "norm.py", "follows.py", "--eval", "--no-timing", "--home", home, code=0)
    assert re.search(r"mode +eval", shown.out)


THREADS_TASK = """
import os
import torch
from torch import nn

FOREIGN = sum(name.startswith(("KMP_", "MKL_", "GOMP_")) or name == "OMP_SCHEDULE" for name in os.environ)
FACTOR = 1000.0 * torch.get_num_threads() + FOREIGN

class Model(nn.Module):
    def forward(self, x):
        return x * FACTOR

def get_inputs():
    return [torch.rand(64, 64)]
"""
PYTHON = """
import torch
from torch import nn

FACTOR = 1000.0 * torch.get_num_threads()

class ModelNew(nn.Module):
    def forward(self, x):
        return x * FACTOR
"""
CPP = """
#include "kernel.h"
extern "C" void pragma_kernel(const float* x, float* out, void* scratch) {
  (void)scratch;
  for (int i = 0; i < 64 * 64; ++i) out[i] = x[i] * 1000.0f * THREADS;
}
"""
SHELL = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "active",
    "OMP_THREAD_LIMIT": "1",
    "OMP_SCHEDULE": "dynamic,1",
    "OMP_PROC_BIND": "false",
    "GOMP_CPU_AFFINITY": "0",
    "GOMP_SPINCOUNT": "infinity",
    "KMP_BLOCKTIME": "infinite",
    "MKL_NUM_THREADS": "1",
}


def usable_threads(program) -> int:
    items = {i["item"]: i["detail"] for i in json.loads(program.run("doctor", "--json").out)["items"]}
    found = re.search(r"processors?.*: (\d+) threads?", items["processor"])
    assert found, items["processor"]
    return int(found[1])


def test_variables_that_bind_threads_leave_all_processors_usable(program):
    threads = usable_threads(program)
    for variable, value in {"GOMP_CPU_AFFINITY": "0", "OMP_PROC_BIND": "true", "OMP_PLACES": "{0}"}.items():
        ran = program.run("doctor", "--json", **{variable: value})
        items = {item["item"]: item["detail"] for item in ran.json["items"]}
        assert f": {threads} thread" in items["processor"], (variable, items["processor"])


def test_variables_of_the_shell_change_the_threads_of_neither_side(program, home):
    threads = usable_threads(program)
    (program.folder / "threads.py").write_text(THREADS_TASK)
    candidates = {"literal.cpp": CPP.replace("THREADS", str(threads)), "own.py": PYTHON}
    for name, text in candidates.items():
        (program.folder / name).write_text(text)
    ran = program.run("evaluate", "threads.py", *candidates, "--home", home, *CHECKED, **SHELL)
    found = ran.json["evaluations"]
    # The task computes its factor on the reference's side, and own.py on the candidate's.
    assert [e["status"] for e in found] == ["passed"] * 2, [e["reason"] for e in found]
    assert {e["environment"]["threads"] for e in found} == {threads}
