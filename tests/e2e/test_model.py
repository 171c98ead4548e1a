"""`pragma model` on a small model: its verdict, and what a user does with the folder that it writes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest
from conftest import ROOT, Program
from shared import copied_home

sys.path.insert(0, str(ROOT / "tests" / "report"))
from report_browser import Browser  # noqa: E402

MINE = """
    import torch

    class Slot:
        def __init__(self, last):
            self.last, self.used = last, True

        def exchange(self, new):
            old, self.last = self.last, new
            return old

    class Memory:
        def __init__(self, rows, dtype=torch.float32):
            self.slots = [Slot(torch.full((rows, 1024), 1.0 + i, dtype=dtype)) for i in range(3)]

    class Block(torch.nn.Module):
        def __init__(self, width, number):
            super().__init__()
            self.number = number
            self.scale = torch.nn.Parameter(torch.rand(width) + 0.5)
            self.shift = torch.nn.Parameter(torch.rand(width))

        def forward(self, x, memory, *, gain=1.0):
            y = torch.relu(x * self.scale) * gain + self.shift
            y = y + 0.1 * memory.slots[self.number].exchange(y)
            for _ in range(4):
                y = torch.relu(y * 0.9 + x * 0.1).clamp(max=3.0)
            return torch.sigmoid(y) + x

    class Mine(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList(Block(1024, i) for i in range(3))

        def forward(self, x, memory):
            for block in self.blocks:
                x = block(x, memory, gain=0.5)
            values, places = torch.nanmedian(x[:1], -1)
            return {"last": x, "middle": values, "none": None}

    def build():
        return Mine()

    def inputs():
        return [{"x": torch.randn(rows, 1024), "memory": Memory(rows)} for rows in (1024, 512)]
"""

USE = """
    import copy, json, pickle, sys
    import torch
    sys.path[:0] = [sys.argv[1], sys.argv[2]]
    import pragma_kernels as pk
    from mine import Memory, build

    torch.set_num_threads(int(sys.argv[3]))
    folder = sys.argv[1]
    torch.manual_seed(1)
    model, x = build().eval(), torch.randn(1024, 1024)
    other = copy.deepcopy(model)
    said = {}

    def differ(a, b):
        return float((a["last"] - b["last"]).abs().max())

    def run(model, x):
        # The memory is fresh, and what is in it afterwards is returned too.
        memory = Memory(len(x), x.dtype)
        found = model(x, memory)
        return found | {"memory": torch.stack([slot.last for slot in memory.slots])}

    def fallbacks(model):
        found = {}
        for entry in pk.stats(model).values():
            for reason, count in entry["fallbacks"].items():
                found[reason] = found.get(reason, 0) + count
        return found

    with torch.no_grad():
        plain = run(model, x)
        keys = list(model.state_dict())
        said["installed"] = list(pk.apply(model, folder))
        ours = run(model, x)
        said["same"] = differ(ours, plain)
        said["memory"] = float((ours["memory"] - plain["memory"]).abs().max())
        said["calls"] = [entry["calls"] for entry in pk.stats(model).values()]
        said["keys"] = list(model.state_dict()) == keys
        # A parameter that was replaced, and one that was written to behind Torch's back.
        model.blocks[0].scale = torch.nn.Parameter(torch.full((1024,), 2.0))
        other.blocks[0].scale = torch.nn.Parameter(torch.full((1024,), 2.0))
        model.blocks[1].shift.data[3] = 7.0
        other.blocks[1].shift.data[3] = 7.0
        said["replaced"] = differ(run(model, x), run(other, x))
        said["unfallen"] = fallbacks(model)
        said["second"] = differ(run(model, x[:512]), run(other, x[:512]))
        said["batch"] = differ(run(model, x[:100]), run(other, x[:100]))
        said["not contiguous"] = differ(run(model, x.T), run(other, x.T))
        said["reasons"] = fallbacks(model)
        # An object that is not as it was when the kernel was made.
        memory, others = Memory(1024), Memory(1024)
        memory.slots[1].last = others.slots[1].last = None
        try:
            model(x, memory)
        except TypeError as error:
            said["the model's own error"] = str(error)
        memory, others = Memory(1024), Memory(1024)
        memory.slots.append(None), others.slots.append(None)
        said["longer"] = differ(model(x, memory), other(x, others))
        said["object reasons"] = fallbacks(model)
        said["compiled"] = differ(run(torch.compile(model, backend="aot_eager"), x), run(other, x))
        half, half_other = copy.deepcopy(model).half(), copy.deepcopy(other).half()
        said["half"] = differ(run(half, x.half()), run(half_other, x.half()))
        said["half reasons"] = fallbacks(half)
        two = copy.deepcopy(other)
        pk.apply(two, folder)
        said["two"] = differ(run(two, x), run(model, x))
    for m in (model, other):
        m.train()
        run(m, x)["last"].sum().backward()
    said["gradient"] = float((model.blocks[2].scale.grad - other.blocks[2].scale.grad).abs().max())
    said["training reasons"] = sorted(fallbacks(model))
    model.eval(), other.eval()
    pk.remove(model)
    with torch.no_grad():
        a, b = run(model, x), run(other, x)
    said["bits"] = all(torch.equal(a[k], b[k]) for k in ("last", "middle"))
    said["leftovers"] = [n for m in model.modules() for n in vars(m) if "pragma" in n or n == "forward"]
    print(json.dumps(said))
"""

FLAGS = ["--attempts", "1", "--no-compile-baseline", "--no-lint", "--json", "--time", "400s"]


@pytest.fixture(scope="module")
def made(home, tmp_path_factory):
    """One model made faster, which the tests only read."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "mine.py").write_text(textwrap.dedent(MINE))
    program = Program(folder)
    ran = program.run("model", folder / "mine.py", "--home", copied_home(home, folder / "home"), "--out", folder / "fast", *FLAGS,
                      code=0)  # fmt: skip
    return ran, folder


@pytest.fixture(scope="module")
def browser():
    opened = Browser()
    yield opened
    opened.close()


def test_the_whole_model_is_proved(made):
    ran, folder = made
    result = ran.json
    found = [(part["class"], part["uses"], part["outcome"]) for part in result["parts"]]
    assert found == [("Block", 3, "kept")] * 2  # one for each size
    whole = result["whole"]
    assert whole["speedup"]["eager"]["ci95"][0] > 1
    assert whole["error"]["reference"] == "float64" and whole["error"]["rel_l2"] <= whole["error"]["limit"]
    manifest = json.loads((folder / "fast" / "manifest.json").read_text())
    assert [unit["paths"] for unit in manifest["units"]] == [["blocks.0", "blocks.1", "blocks.2"]] * 2
    assert [unit["inputs"][0]["shape"] for unit in manifest["units"]] == [[1024, 1024], [512, 1024]]
    assert result["folder"] == str(folder / "fast")
    assert not any(path.stat().st_mode & 0o022 for path in (folder / "fast").rglob("*"))
    assert '"calls":2' in (folder / "fast" / "report.html").read_text()


def test_the_evidence_of_a_kept_part_is_in_the_folder(made):
    ran, folder = made
    bundle, other = sorted((folder / "fast" / "evidence").iterdir())
    assert bundle.name.startswith("u1-") and other.name.startswith("u2-")
    checked = Program(folder).run("recheck", bundle, "--home", folder / "home", "--json")
    assert checked.json["intact"] and checked.json["same_seed"]["status"] == "passed"


def test_the_folder_serves_a_users_model_and_hostile_use(made):
    ran, folder = made
    (folder / "use.py").write_text(textwrap.dedent(USE))
    threads = ran.json["environment"]["threads"]
    python = ROOT / ".venv" / "bin" / "python"
    done = subprocess.run(
        [python, folder / "use.py", folder / "fast", folder, str(threads)], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["installed"] == ["blocks.0", "blocks.1", "blocks.2"] and said["calls"] == [1, 1, 1]
    assert said["keys"] and said["bits"] and said["leftovers"] == []
    for name in ("same", "memory", "second", "replaced", "not contiguous", "compiled", "two"):
        assert said[name] < 1e-5, name
    for name in ("batch", "half", "gradient"):  # the original computed these
        assert said[name] == 0, name
    assert said["unfallen"] == {} and said["reasons"] == {"shape": 3}
    assert "NoneType" in said["the model's own error"] and said["longer"] == 0
    assert said["object reasons"] == {"shape": 3, "object": 4}
    assert set(said["half reasons"]) == {"dtype"}
    assert said["training reasons"] == ["object", "shape", "training mode"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def build():\n    raise RuntimeError('no weights')\ndef inputs():\n    return []\n", "no weights"),
        ("import torch\ndef build():\n    return torch.nn.ReLU()\n", "no function `inputs`"),
        ("x = 1\n", "no class `Model`"),
    ],
)
def test_a_bad_file_gets_one_line(home, tmp_path, text, words):
    (tmp_path / "bad.py").write_text(text)
    ran = Program(tmp_path).run("model", tmp_path / "bad.py", "--home", home, "--out", tmp_path / "fast", code=2)
    assert words in ran.err
    assert not (tmp_path / "fast").exists()


@pytest.mark.parametrize(
    ("target", "code", "words"),
    [("cuda", 2, "the kernels of a whole model are in C++ or Triton"), ("triton", 3, "no GPU was found")],
)
def test_a_target_without_kernels_or_gpu_gets_one_line(home, tmp_path, target, code, words):
    program = Program(tmp_path)
    (tmp_path / "mine.py").write_text("def build(): ...\ndef inputs(): ...\n")
    ran = program.run("model", "mine.py", "--target", target, "--home", home, CUDA_VISIBLE_DEVICES="")
    assert words in ran.assert_one_clear_error(code)


def test_a_folder_with_other_files_is_left_alone(home, tmp_path):
    (tmp_path / "mine.py").write_text(textwrap.dedent(MINE))
    (tmp_path / "fast").mkdir()
    (tmp_path / "fast" / "thesis.tex").write_text("years of work")
    ran = Program(tmp_path).run("model", tmp_path / "mine.py", "--home", home, "--out", tmp_path / "fast", code=2)
    assert "not a package of kernels; choose another folder" in ran.err
    assert (tmp_path / "fast" / "thesis.tex").read_text() == "years of work"


def test_the_page_shows_the_parts_in_a_browser(made, browser):
    ran, folder = made
    browser.open(folder / "fast" / "report.html")
    assert browser.text("h1") == "Model mine"
    assert browser.count("#parts tbody tr") == len(ran.json["parts"])
    assert "all 2 calls" in browser.text("#time")
    assert browser.count("#time svg rect") > 2
    browser.assert_quiet()
    browser.open(folder / "fast" / "report.html", width=420)
    browser.assert_fits()
