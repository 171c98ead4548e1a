"""pragma_export.write: what becomes of a task's file."""

import ast
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import types

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from pragma_export.text import Refused  # noqa: E402
from pragma_export.write import write  # noqa: E402

TASK = '''
"""A task."""
import torch
import torch.nn as nn

size = 8

def helper(x):
    """Says what it does."""
    return x

class Model(nn.Module):
    """Adds."""
    def __init__(self, n):
        super(Model, self).__init__()
        self.layers = nn.Sequential(nn.Linear(n, n))
    def note(self):
        pass
    def forward(self, x, others=None):
        return self.layers(x)

def get_inputs():
    return [torch.rand(size, size)]

def get_init_inputs():
    return [size]

if __name__ == "__main__":
    print(Model(size))
'''


def tensor(name, path, role="input"):
    return {"name": name, "path": path, "role": role, "dtype": "float32", "shape": [8, 8], "constant": "", "complex": False}


def request(**changes):
    base = {
        "name": "add",
        "language": "cpp",
        "source": TASK,
        "arguments": [tensor("x", "args[0]"), tensor("w", "layers.0.weight", "parameter")],
        "outputs": [tensor("out", "output")],
        "output_kind": "tensor",
        "header": "#pragma once\nnamespace task {}\n",
        "kernel": '// mine\n#include "kernel.h"\nvoid f() { const char* s = "a\\n"; }\n',
        "candidate": "abc123",
        "compiler": "g++",
        "flags": ["-O3", "-fopenmp"],
        "scratch_bytes": 0,
        "packed_bytes": 0,
        "needs": ["avx2"],
    }
    return {**base, **changes}


def constants(text):
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return found


def test_model_new_keeps_the_constructor_and_takes_its_own_tensors():
    text = write(request())
    tree = ast.parse(text)
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    assert classes == {"ModelNew"}
    assert "helper" in functions and "get_inputs" not in functions
    assert "super(ModelNew, self).__init__()" in text
    assert "getattr(self.layers, '0').weight" in text
    assert "def forward(self, x, others=None):" in text
    assert not any(isinstance(n, (ast.Try, ast.Pass)) for n in ast.walk(tree))
    assert "__main__" not in text


def test_header_and_kernel_become_one_source_exactly():
    source = constants(write(request()))["_PRAGMA_SOURCE"]
    assert source.strip() == '// mine\n\nnamespace task {}\nvoid f() { const char* s = "a\\n"; }'


@pytest.mark.parametrize("ending", ["'", "\\", "'''", "x = \"'''\""])
def test_sources_that_a_raw_string_cannot_hold(ending):
    source = constants(write(request(kernel='#include "kernel.h"\n// ' + ending)))["_PRAGMA_SOURCE"]
    assert source.endswith("// " + ending + "\n")


def test_scratch_prepare_and_kinds_of_output():
    text = write(request(scratch_bytes=64, packed_bytes=128, output_kind="tuple"))
    assert "scratch = _pragma_scratch(64)" in text and text.rstrip().endswith("return (o0,)")
    assert "_pragma_scratch" not in write(request())
    assert "pragma_prepare" in text and "_version" in text
    assert "return (o0,)" in text
    assert "return [o0]" in write(request(output_kind="list"))


def test_scratch_is_kept_and_never_shared_by_two_calls_at_once():
    text = write(request(scratch_bytes=64))
    helper = text[text.index("_PRAGMA_KEPT = {}") : text.index("def _pragma_library")]
    found: dict = {}
    exec(f"import torch\n{helper}", found)  # noqa: S102
    take, kept = found["_pragma_scratch"], found["_PRAGMA_KEPT"]
    first, second = take(64), take(64)
    assert first.numel() == 64 and first.data_ptr() != second.data_ptr()
    kept["scratch"] = first
    assert take(64).data_ptr() == first.data_ptr() and kept == {}


def test_a_try_of_the_task_stays_and_is_named():
    kept = "    try:\n        return x\n    finally:\n        x = 0\n"
    text = write(request(source=TASK.replace("    return x\n", kept)))
    assert "finally:" in text and "has `try`" in text.splitlines()[2]


def test_a_try_in_forward_goes_with_forward():
    kept = "        try:\n            return self.layers(x)\n        finally:\n            x = 0\n"
    text = write(request(source=TASK.replace("        return self.layers(x)\n", kept)))
    assert "try" not in text.replace("static", "")


def test_complex_tensors_are_passed_as_pairs():
    def pairs(*given):
        return {**tensor(*given), "shape": [8, 2], "complex": True}

    arguments = [pairs("x", "args[0]"), pairs("turn", "layers.turn", "buffer")]
    outputs = [pairs("out", "output"), pairs("turn_after", "layers.turn")]
    text = write(request(arguments=arguments, outputs=outputs, updates=["turn"]))
    assert "a0 = _pragma_ready(torch.view_as_real(x.resolve_conj()), (8, 2), torch.float32, 'args[0]')" in text
    assert "a1 = _pragma_ready(torch.view_as_real(self.layers.turn.resolve_conj()), (8, 2)" in text
    assert "self.layers.turn.detach().copy_(torch.view_as_complex(o1))" in text
    assert "return torch.view_as_complex(o0)" in text


@pytest.mark.parametrize(
    "dtype, shape, constant, values",
    [
        ("float32", [2], "0000803f000000c0", [1.0, -2.0]),
        ("int64", [], "0700000000000000", 7),
        ("bool", [1, 2], "0100", [[True, False]]),
    ],
)
def test_a_constant_that_forward_makes_is_written(dtype, shape, constant, values):
    argument = {**tensor("c", "lifted_tensor_0", "constant"), "dtype": dtype, "shape": shape, "constant": constant}
    text = write(request(arguments=[argument]))
    made = next(line for line in text.splitlines() if line.startswith("_PRAGMA_LIFTED_TENSOR_0 = "))
    found: dict = {}
    exec(f"import torch\n{made}", found)  # noqa: S102
    assert found["_PRAGMA_LIFTED_TENSOR_0"].tolist() == values
    assert f"_pragma_ready(_PRAGMA_LIFTED_TENSOR_0, {tuple(shape)!r}, torch.{dtype}" in text


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"source": TASK.replace("class Model(", "class Other(")}, "class Model"),
        ({"arguments": [tensor("c", "lifted_tensor_0", "constant")]}, "lifted_tensor_0"),
        ({"arguments": [tensor("y", "args[7]")]}, "args[7]"),
    ],
)
def test_tasks_without_room_for_a_drop_in_are_refused(changes, reason):
    with pytest.raises(Refused, match=".*" + reason.replace("*", r"\*").replace("[", r"\[")):
        write(request(**changes))


CUDA = '''// mine
#include "kernel.h"
__global__ void Add(const float* x, const float* w, float* out) {
  const int at = blockIdx.x * 8 + threadIdx.x;
  out[at] = x[at] + w[at];
}
extern "C" void pragma_launch(const float* x, const float* w, float* out, void*, cudaStream_t stream) {
  Add<<<8, 8, 0, stream>>>(x, w, out);
}
'''
TRITON = '''"""Adds, in one try."""
import torch
import triton
import triton.language as tl

BLOCK = 64

@triton.jit
def add(x, w, out, B: tl.constexpr):
    """Says what it does."""
    at = tl.arange(0, B)
    tl.store(out + at, tl.load(x + at) + tl.load(w + at))

def run(x, w, out):
    add[(1,)](x, w, out, B=BLOCK)
'''


def cuda_request(**changes):
    return request(language="cuda", kernel=CUDA, compiler="nvcc", flags=["-use_fast_math"], needs=[], **changes)


def triton_request(**changes):
    return request(language="triton", kernel=TRITON, header="", compiler="", flags=[], needs=[], **changes)


def assert_solution(text):
    """What KernelBench's static check asks of one."""
    tree = ast.parse(text)
    assert [n.name for n in tree.body if isinstance(n, ast.ClassDef)] == ["ModelNew"]
    assert not any(isinstance(n, (ast.Try, ast.Pass)) for n in ast.walk(tree))
    assert "try" not in text.split() and "pass" not in text.split()


def test_a_cuda_kernel_is_built_inline_for_the_gpu_that_is_there():
    text = write(cuda_request(scratch_bytes=64))
    assert_solution(text)
    found = constants(text)
    assert "-std=c++20" in found["_PRAGMA_FLAGS"] and found["_PRAGMA_FLAGS"][-1] == "-use_fast_math"
    assert found["_PRAGMA_SOURCE"].strip() == CUDA.replace('#include "kernel.h"', "\nnamespace task {}").strip()
    assert "load_inline(" in text and "cuda_sources=[_PRAGMA_SOURCE]" in text and "__global__" in text
    assert "torch.empty((8, 8), dtype=torch.float32, device=a0.device)" in text
    assert "torch.empty(64, dtype=torch.uint8, device=a0.device)" in text
    assert "torch.cuda.current_stream().cuda_stream" in text


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")
def test_the_source_of_an_exported_cuda_kernel_builds_with_its_flags(tmp_path):
    found = constants(write(cuda_request()))
    (tmp_path / "kernel.cu").write_text(found["_PRAGMA_SOURCE"])
    flags = [*found["_PRAGMA_FLAGS"], "-gencode=arch=compute_90a,code=sm_90a", "-cudart=none"]
    command = ["nvcc", "-c", "-x", "cu", *flags, "-o", tmp_path / "kernel.o", tmp_path / "kernel.cu"]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr


def test_a_triton_module_stands_in_the_file():
    text = write(triton_request())
    assert_solution(text)
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    assert {"add", "run", "helper"} <= functions.keys()
    assert ast.unparse(functions["add"].decorator_list[0]) == "triton.jit"
    assert text.count("import torch\n") == 1 and "import triton.language as tl\n" in text
    assert "_pragma_run(a0, a1, o0)" in text and "Says what it does" not in text


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch")
def test_an_exported_triton_module_computes_what_the_task_does(tmp_path):
    (tmp_path / "solution.py").write_text(write(triton_request()))
    check = (
        "import torch, solution; model = solution.ModelNew(8); x = torch.rand(8, 8)\n"
        "assert torch.equal(model(x), x + model.layers[0].weight)"
    )
    environment = {**os.environ, "TRITON_INTERPRET": "1", "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "source, reason",
    [
        (TRITON.replace("BLOCK", "size"), "the task and the Triton module both define size"),
        (TRITON + "\ndef rest():\n    pass\n", "has `pass`"),
    ],
)
def test_triton_modules_that_cannot_stand_beside_the_task_are_refused(source, reason):
    with pytest.raises(Refused, match=reason):
        write({**triton_request(), "kernel": source})


def _forward_of(text: str) -> str:
    return text[text.index("def forward") :]


@pytest.mark.parametrize(("mode", "refuses", "accepts"), [("training", False, True), ("eval", True, False)])
def test_forward_refuses_the_mode_that_the_kernel_is_not_for(mode, refuses, accepts):
    text = write(request(mode=mode))
    assert f"# mode: {mode}." in text
    lines = _forward_of(text).splitlines()
    check = "\n".join(line.removeprefix("        ") for line in lines[1:3])

    def call(training: bool) -> None:
        exec(check, {"self": types.SimpleNamespace(training=training)})

    call(accepts)
    with pytest.raises(RuntimeError, match=f"this ModelNew is for {mode} mode") as raised:
        call(refuses)
    assert "\n" not in str(raised.value) and "--eval" in str(raised.value)


def test_a_module_whose_results_do_not_depend_on_its_mode_is_not_asked():
    assert "training" not in _forward_of(write(request(mode="")))
