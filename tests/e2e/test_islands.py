"""`pragma optimize` on modules of which the built-in expert cannot write every operator (docs/islands.md)."""

from __future__ import annotations

import textwrap

import pytest
from conftest import Program
from shared import copied_home

DIVIDED = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.up = torch.nn.Linear(width, 2 * width)
            self.register_buffer("scale", torch.rand(2 * width) + 0.5)

        def forward(self, x):
            y = torch.nn.functional.gelu(self.up(x)) * self.scale + torch.tensor(0.5)
            middle, _ = torch.nanmedian(y, -1, keepdim=True)
            return torch.tanh(torch.special.gammainc(y.abs() + 1, middle.abs() + 0.5))

    def get_inputs():
        return [torch.randn(128, 128)]

    def get_init_inputs():
        return [128]
"""

FLAGS = ["--attempts", "1", "--no-compile-baseline", "--no-call", "--no-lint", "--json"]


@pytest.fixture(scope="module")
def divided(home, tmp_path_factory):
    """One optimised module, which the tests only read, in a copy of the shared store."""
    folder = tmp_path_factory.mktemp("divided")
    task = folder / "divided.py"
    task.write_text(textwrap.dedent(DIVIDED))
    program = Program(folder)
    own_home = copied_home(home, folder / "home")
    ran = program.run("optimize", task, "--home", own_home, "--out", folder / "out", *FLAGS, code=0)
    return program, ran, folder


def test_the_rest_of_a_module_is_written(divided):
    _, ran, folder = divided
    result = ran.json
    assert result["islands"]["left"] == ["aten.nanmedian.dim", "aten.igamma.default"]
    parts = result["islands"]["parts"]
    assert any(part["run"] and part["speedup"] for part in parts)
    assert 0 < sum(part["time_share"] for part in parts) < 1
    assert result["best"]["status"] == "passed"
    assert result["best"]["candidate"]["language"] == "python"
    assert result["best"]["environment"]["trust"].startswith("weaker")
    solution = (folder / "out" / "divided_new.py").read_text()
    assert "torch.ops.aten.nanmedian.dim(" in solution
    assert "_pragma_island_0(" in solution
    assert "_PRAGMA_LIFTED_TENSOR_0 = " in solution


def test_an_island_has_a_run_of_its_own(divided):
    program, ran, folder = divided
    run = next(part["run"] for part in ran.json["islands"]["parts"] if part["speedup"])
    shown = program.run("show", run, "--home", folder / "home", "--json", code=0).json
    assert shown["task"].startswith("divided_island_")
    assert any(trial["candidate"]["language"] == "cpp" for trial in shown["trials"] if trial["candidate"])


def test_the_divided_run_is_replayed(divided):
    program, ran, folder = divided
    replayed = program.run("replay", ran.json["run"], "--home", folder / "home", "--json", code=0).json
    assert replayed["attempts"] == ran.json["attempts"]
