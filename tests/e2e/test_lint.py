"""lint: sound, weak and degenerate tasks, one and several, and what goes wrong."""

import pytest
from conftest import TASKS, Program

FORWARD = {
    "sound": "return x * 3 + 1",
    # Inputs are never negative, so the input itself passes for it.
    "weak": "return torch.relu(x)",
    # The mean over a dimension of one element is the element.
    "degenerate": "return x - x.unsqueeze(-1).mean(dim=-1)",
}


def write_task(folder, name):
    path = folder / f"{name}.py"
    path.write_text(
        "import torch\nimport torch.nn as nn\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
        f"        {FORWARD[name]}\n\n\ndef get_inputs():\n    return [torch.rand(32, 48)]\n\n\n"
        "def get_init_inputs():\n    return []\n"
    )
    return path


@pytest.fixture
def task(tmp_path):
    return lambda name: write_task(tmp_path, name)


@pytest.fixture(scope="module")
def linted(home, tmp_path_factory):
    """All three tasks by one command: what it says of each."""
    folder = tmp_path_factory.mktemp("linted")
    files = [write_task(folder, name) for name in FORWARD]
    entries = Program(folder).run("lint", *files, "--home", home, "--json", code=1).json["tasks"]
    return dict(zip(FORWARD, entries, strict=True))


@pytest.mark.parametrize("verdict", FORWARD)
def test_the_verdict(linted, verdict):
    assert linted[verdict]["verdict"] == verdict
    assert bool(linted[verdict]["accepted_decoys"]) == (verdict != "sound")


def test_a_battery_rejects_what_the_own_inputs_let_pass(linted):
    decoys = {decoy["decoy"]: decoy for decoy in linted["weak"]["accepted_decoys"]}
    assert decoys["x itself"]["rules"] == ["official", "strict"]
    assert decoys["x itself"]["rejected_by"] == "signed"
    assert linted["weak"]["strict_mode_tells"] is True


def test_nothing_helps_a_constant(linted):
    assert linted["degenerate"]["strict_mode_tells"] is False


def test_one_task_is_one_object(program, home, task):
    ran = program.run("lint", task("sound"), "--home", home, "--json", code=0)
    assert ran.json["verdict"] == "sound"


def test_several_tasks_are_one_table(program, home, task):
    ran = program.run("lint", task("sound"), task("degenerate"), "--home", home, code=1)
    for name in ("sound", "degenerate"):
        assert f"{name} " in ran.out


def test_the_verdict_stands_on_later_results(program, home, task):
    path = task("weak")
    program.run("lint", path, "--home", home, code=1)
    kernel = path.with_suffix(".cpp")
    kernel.write_text(
        '#include "kernel.h"\nextern "C" void pragma_kernel(const float* x, float* out, void*) {\n'
        "  for (int i = 0; i < 32 * 48; ++i) out[i] = x[i] > 0 ? x[i] : 0;\n}\n"
    )
    ran = program.run("evaluate", path, kernel, "--home", home, "--no-timing", "--json", code=0)
    assert ran.json["task"]["lint"] == "weak"


def test_the_identity_is_no_relu(program, home, task):
    path = task("weak")
    kernel = path.with_suffix(".cpp")
    kernel.write_text(
        '#include "kernel.h"\nextern "C" void pragma_kernel(const float* x, float* out, void*) {\n'
        "  for (int i = 0; i < 32 * 48; ++i) out[i] = x[i];\n}\n"
    )
    ran = program.run("evaluate", path, kernel, "--home", home, "--no-timing", "--json", code=1)
    assert ran.json["status"] == "wrong_values"
    assert "both signs" in ran.json["reason"]
    assert ran.json["official"]["correct"] is True
    program.run("evaluate", path, kernel, "--home", home, "--no-timing", "--mode", "official", code=0)


def test_a_missing_task_gets_one_clear_line(program):
    assert "missing.py" in program.run("lint", TASKS / "missing.py").assert_one_clear_error(2)
