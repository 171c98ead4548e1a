"""`--target cuda` where there is no GPU: sources are looked at and built as ever; running one is refused with the reason."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from conftest import KERNELS, TASKS, Program

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on PATH")

# Hides the GPU of a machine that has one.
NO_GPU: dict[str, Any] = {"CUDA_VISIBLE_DEVICES": ""}
SCALE = TASKS / "scale.py"
KERNEL = """
__global__ void Scale(const float* x, float* out, std::int64_t count) {
  const std::int64_t at = blockIdx.x * std::int64_t{256} + threadIdx.x;
  if (at < count) out[at] = 2 * x[at];
}
"""
LAUNCH = (
    KERNEL
    + 'extern "C" void pragma_launch(const float* x, const float*, const float*, float* out, void*, cudaStream_t stream) { %s }\n'
)


def evaluate(program: Program, home, source: str, *more: str, **options: Any):
    (program.folder / "kernel.cu").write_text(source)
    return program.run(
        "evaluate", SCALE, "kernel.cu", "--target", "cuda", "--json", "--home", home, *more, **options, **NO_GPU
    )  # fmt: skip


def test_flags_source_and_functions_are_looked_at(program, home):
    ran = evaluate(program, home, "// pragma-flags: -rdc=true\n" + KERNEL, "--no-serve", code=1)
    assert ran.json["status"] == "rejected_source" and "-rdc=true" in ran.json["reason"]
    ran = evaluate(program, home, "#include <cublas_v2.h>\n", "--no-serve", code=1)
    assert ran.json["status"] == "rejected_source" and "cublas_v2.h" in ran.json["reason"]
    ran = evaluate(program, home, LAUNCH % "cudaDeviceSynchronize();", "--no-serve", code=1)
    assert ran.json["reason"] == "uses cudaDeviceSynchronize: pragma waits for the device; launch and return"
    ran = evaluate(program, home, LAUNCH % "undefined();", "--no-serve", code=1)
    assert ran.json["status"] == "compile_error" and "kernel.cu:6" in ran.json["reason"]


def test_what_builds_needs_a_gpu(program, home):
    ran = evaluate(program, home, LAUNCH % "Scale<<<1, 256, 0, stream>>>(x, out, 1);", "--no-serve")
    assert "the candidate builds, but no GPU was found" in ran.assert_one_clear_error(3)


def test_a_source_says_what_it_is_for(program, home):
    (program.folder / "kernel.cu").write_text(KERNEL)
    ran = program.run("evaluate", SCALE, "kernel.cu", "--home", home, "--no-serve")
    assert "a candidate in cuda needs --target cuda" in ran.assert_one_clear_error(2)
    ran = program.run("evaluate", SCALE, KERNELS / "good.cpp", "--target", "cuda", "--home", home, "--no-serve", **NO_GPU)
    assert "a candidate in cpp needs --target cpu" in ran.assert_one_clear_error(2)
