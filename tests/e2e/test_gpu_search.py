"""`optimize` for GPUs where there is none: over a CUDA driver whose device is the host's memory
(worker/cuda/fake_driver.c), on which Torch computes on processors and Triton in its interpreter. Builds,
jails, checks, timing, profiles and prompts are the real ones; the figures mean nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import PRAGMA, ROOT, TASKS, ScriptedModel

DOUBLE = TASKS / "double.py"
QUICK = ["--no-compile-baseline", "--no-call"]
HOST_DRIVER = {"LD_LIBRARY_PATH": f"{PRAGMA.parent / 'fake_cuda'}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
# Words of the contract for processors.
OF_PROCESSORS = ["pragma_kernel", "CPU", "OpenMP", "g++", "-march", "vectoris", "AVX", "64-byte"]

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
)

# The driver does what a kernel called Double does: out[i] = 2 x[i] for i < count.
CUDA = """// pragma-flags: -O3
#include "kernel.h"

__global__ void Double(const float* x, float* out, int count) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < count) out[at] = 2 * x[at];
}

extern "C" void pragma_launch(const float* x, float* out, void*, cudaStream_t stream) {
  %s
}
"""
ONCE = "Double<<<256, 256, 0, stream>>>(x, out, 64 * 1024);"
OFTEN = f"for (int i = 0; i < 20; ++i) {ONCE}"
HALF = "Double<<<256, 256, 0, stream>>>(x, out, 32 * 1024);"
TRITON = """import triton
import triton.language as tl


@triton.jit
def double(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, %s * tl.load(x + at, mask=at < count), mask=at < count)


def run(x, out):
    double[(triton.cdiv(x.numel(), 16384),)](x, out, x.numel(), BLOCK=16384)
"""


def fenced(language: str, source: str) -> str:
    return f"Here it is.\n\n```{language}\n{source}```\n"


def optimize(program, target: str, model, home, *more, **options):
    return program.run(
        "optimize", DOUBLE, "--target", target, "--model", model.spec, "--home", home, *QUICK, *more,
        **{**HOST_DRIVER, **options},
    )  # fmt: skip


def assert_about_gpus(model: ScriptedModel, calls: list[tuple[str, int]]) -> None:
    for role, node in calls:
        prompt = model.prompt(role, node)
        assert "host memory, compute capability 9.0" in prompt
        assert [word for word in OF_PROCESSORS if word in prompt] == [], (role, node)


@needs_nvcc
def test_pragma_searches_in_cuda(program, own_home, tmp_path):
    model = ScriptedModel(tmp_path / "model")
    for node, body in enumerate([ONCE.removesuffix(";"), OFTEN, HALF, ONCE], start=1):
        model.reply("coder", node, fenced("cuda", CUDA % body))
        model.advice(node, "launch it once")
    ran = optimize(program, "cuda", model, own_home, "--strategy", "pragma", "--attempts", "3", "--json", code=0)
    assert ran.json["best"]["status"] == "passed"
    assert ran.json["best"]["candidate"]["language"] == "cuda"
    assert ran.json["best"]["environment"]["device"].startswith("host memory")
    assert len(ran.json["bundle"]) == 64
    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    assert [t["evaluation"]["status"] for t in shown["trials"]] == ["compile_error", "passed", "wrong_values"]
    assert shown["trials"][1]["profile"]["metrics"][0]["tag"].startswith("gpu_")
    assert_about_gpus(model, [("coder", 1), ("conductor", 2), ("coder", 2), ("conductor", 3), ("coder", 3)])
    profiled = model.prompt("conductor", 3)
    assert "| gpu_kernels | 20 |" in profiled and "`Double(float const*, float*, int)`" in profiled

    # Resumed, it is still a search in CUDA; without the driver it says that there is no GPU.
    refused = program.run("resume", "last", "--attempts", "4", *QUICK, "--home", own_home, **NO_GPU)
    assert "no GPU was found" in refused.assert_one_clear_error(3)
    resumed = program.run("resume", "last", "--attempts", "4", *QUICK, "--home", own_home, "--json", code=0, **HOST_DRIVER)
    assert resumed.json["attempts"] == 4
    assert program.run("show", "last", "--home", own_home, "--json", code=0).json["best"] == 4
    assert_about_gpus(model, [("conductor", 4), ("coder", 4)])

    exported = program.run("export", "last", "--out", "fast", "--home", own_home, "--json", code=0, **HOST_DRIVER).json
    assert "left to KernelBench's evaluator" in exported["complaint"] and exported["checked"] is False
    assert sorted(os.listdir(program.folder / "fast")) == ["double_new.py", "kernel.cu", "kernel.h"]
    compile((program.folder / "fast" / "double_new.py").read_text(), "double_new.py", "exec")

    program.run("report", "last", "--html", "report.html", "--home", own_home, code=0)
    assert "Double" in (program.folder / "report.html").read_text()
    program.run("export", "last", "--recording", "run.jsonl", "--home", own_home, code=0)
    replayed = program.run("replay", "run.jsonl", "--home", program.folder / "elsewhere", "--json", code=0)
    assert replayed.json["same_tree"] is True
    ran = program.run("recheck", "last", "--no-timing", "--home", own_home, "--json", **HOST_DRIVER)
    assert ran.json["same_seed"]["status"] == "passed" and ran.json["intact"] is True


@needs_nvcc
@pytest.mark.parametrize("strategy", ["stark", "fusion"])
def test_trees_mark_cuda(program, own_home, tmp_path, strategy):
    model = ScriptedModel(tmp_path / "model")
    module = DOUBLE.read_text().replace("        return x * 2", "## <<<IMPROVE BEGIN>>>\n# One block to 256 elements.\n        return x * 2\n## <<<IMPROVE END>>>")
    marked = CUDA % f"// <<<IMPROVE BEGIN>>>\n  // Once is enough.\n  {OFTEN}\n  // <<<IMPROVE END>>>"
    model.reply("planner", 1, "A block to 256 elements.\n\n" + fenced("python", module))
    model.reply("coder", 1, fenced("cuda", CUDA % OFTEN))
    model.reply("planner", 2, "Launch it once.\n\n" + fenced("cuda", marked))
    model.reply("coder", 2, fenced("cuda", CUDA % ONCE))
    tree = program.folder / "tree.toml"
    text = (ROOT / "strategies" / f"{strategy}.toml").read_text()
    tree.write_text(re.sub(r"(?m)^epsilon = .*", "epsilon = 0.0", re.sub(r"(?m)^root_children = .*", "root_children = 1", text)))
    ran = optimize(program, "cuda", model, own_home, "--strategy", tree, "--attempts", "2", "--json", code=0)
    assert model.asked == ["planner-1", "coder-1", "planner-2", "coder-2"]
    assert_about_gpus(model, [("planner", 1), ("coder", 1), ("planner", 2), ("coder", 2)])
    assert "a line `// <<<IMPROVE BEGIN>>>`" in model.prompt("planner", 2)
    assert "Kind of change wanted now" not in model.prompt("planner", 2)  # fusion's kinds are for processors
    trial = program.run("show", "last", "--home", own_home, "--json", code=0).json["trials"][1]
    assert trial["edit"] == {"inside": True, "planner_lines": 0, "coder_lines": 0}
    assert ran.json["best"]["status"] == "passed"


@needs_triton
def test_pragma_searches_in_triton(program, own_home, tmp_path):
    model = ScriptedModel(tmp_path / "model")
    for node, factor in enumerate(["3.0", "2.0"], start=1):
        model.reply("coder", node, fenced("python", TRITON % factor))
        model.advice(node, "multiply by two")
    ran = optimize(program, "triton", model, own_home, "--strategy", "pragma", "--attempts", "2", "--json", code=0)
    assert ran.json["best"]["candidate"]["language"] == "triton"
    shown = program.run("show", "last", "--home", own_home, "--json", code=0).json
    assert [t["evaluation"]["status"] for t in shown["trials"]] == ["wrong_values", "passed"]
    assert_about_gpus(model, [("coder", 1), ("conductor", 2), ("coder", 2)])
    assert "    x,  # float32 [64, 1024]: input\n" in model.prompt("coder", 1)

    program.run("export", "last", "--out", "fast", "--home", own_home, code=0, **HOST_DRIVER)
    assert sorted(os.listdir(program.folder / "fast")) == ["double_new.py", "kernel.py"]
    check = "import torch, double_new; x = torch.rand(64, 1024); assert torch.equal(double_new.ModelNew()(x), 2 * x)"
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", check], cwd=program.folder / "fast", env=environment, check=True)


CENTRED = DOUBLE.read_text().replace("return x * 2", "return x - x.mean(dim=1, keepdim=True)")


def worked_example(language: str, fence: str) -> str:
    text = (ROOT / "prompts" / language / "interface.mustache").read_text()
    return text.split(f"```{fence}\n", 1)[1].split("```", 1)[0]


@needs_nvcc
def test_the_worked_example_of_cuda_builds(program, own_home):
    (program.folder / "task.py").write_text(CENTRED)
    (program.folder / "kernel.cu").write_text(worked_example("cuda", "cuda"))
    ran = program.run("evaluate", "task.py", "kernel.cu", "--target", "cuda", "--no-serve", "--home", own_home, **NO_GPU)
    assert "the candidate builds, but no GPU was found" in ran.assert_one_clear_error(3)


@needs_triton
def test_the_worked_example_of_triton_is_right(program, own_home):
    (program.folder / "task.py").write_text(CENTRED)
    (program.folder / "kernel.py").write_text(worked_example("triton", "python"))
    arguments = ["--target", "triton", "--no-serve", "--json", "--home", own_home]
    ran = program.run("evaluate", "task.py", "kernel.py", *arguments, code=0, **NO_GPU)
    assert ran.json["status"] == "passed", ran.json["reason"]


@pytest.mark.parametrize("target", ["cuda", "triton"])
def test_without_a_gpu_nobody_is_asked(program, own_home, model, target):
    ran = optimize(program, target, model, own_home, LD_LIBRARY_PATH="", **NO_GPU)
    assert "no GPU was found" in ran.assert_one_clear_error(3)
    assert model.asked == []


def test_the_expert_writes_no_cuda(program, own_home):
    ran = program.run("optimize", DOUBLE, "--target", "cuda", "--home", own_home, **HOST_DRIVER)
    assert "the built-in expert writes C++ and Triton; name a model" in ran.assert_one_clear_error(2)


def test_further_shapes_are_not_for_cuda(program, own_home, model):
    (program.folder / "shapes.json").write_text(json.dumps([{"x": 1}]))
    ran = optimize(program, "cuda", model, own_home, "--shapes", "shapes.json")
    assert "one shape only" in ran.assert_one_clear_error(2)
