"""`--target triton` where there is no GPU: the same processes, memory and comparisons, in Triton's interpreter."""

from __future__ import annotations

import importlib.util

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is not installed alongside torch"
)

# Hides the GPU of a machine that has one.
NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}

TASK = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(n))
    def forward(self, x):
        return torch.relu(x) * self.scale

def get_inputs():
    return [torch.rand(6, 40)]

def get_init_inputs():
    return [40]
'''
HONEST = '''
import triton
import triton.language as tl

@triton.jit
def kernel(x, scale, out, count, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.maximum(tl.load(x + at, mask=inside), 0.0, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + at, value * tl.load(scale + at % n, mask=inside), mask=inside)

def run(x, scale, out):
    kernel[(triton.cdiv(out.numel(), 64),)](x, scale, out, out.numel(), x.shape[1], BLOCK=64)
'''
# Right on the task's own inputs, which are never negative.
NO_RELU = HONEST.replace("tl.maximum(tl.load(x + at, mask=inside), 0.0, propagate_nan=tl.PropagateNan.ALL)", "tl.load(x + at, mask=inside)")


def test_an_honest_module_passes_untimed_and_one_that_trusts_the_inputs_does_not(home, program):
    (program.folder / "task.py").write_text(TASK)
    (program.folder / "honest.py").write_text(HONEST)
    (program.folder / "no_relu.py").write_text(NO_RELU)
    ran = program.run(
        "evaluate", "task.py", "honest.py", "no_relu.py", "--target", "triton", "--json", "--no-serve",
        "--home", home, code=1, **NO_GPU,
    )  # fmt: skip
    honest, trusting = ran.json["evaluations"]
    assert honest["status"] == "passed", honest["reason"]
    assert honest["timing"] is None and honest["official"] == {"correct": True}
    verdicts = {check["name"]: check["verdict"] for check in honest["checks"]}
    assert verdicts["timing"] == "skipped" and verdicts["batteries"] == "pass", verdicts
    assert verdicts["determinism"] == "pass"
    assert trusting["status"] == "wrong_values"
    assert "right on the task's own inputs" in trusting["reason"]
