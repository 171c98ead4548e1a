# task: tasks/activation/13_swish_small.py
"""Compiled when the module is loaded, so that a launch costs less."""
import torch
import triton
import triton.language as tl


COUNT = 60 * 210
BLOCK = 256


@triton.jit
def swish_kernel(x, out, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < COUNT
    value = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, value / (1.0 + tl.exp(-value)), mask=inside)


BUILT = swish_kernel.warmup(torch.float32, torch.float32, COUNT=COUNT, BLOCK=BLOCK, grid=(1,), num_warps=4)


def run(x, out):
    BUILT[(triton.cdiv(COUNT, BLOCK), 1, 1)](x, out, COUNT, BLOCK)
