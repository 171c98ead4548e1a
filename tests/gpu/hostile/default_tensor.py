# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Counts its programs in a tensor that is a default argument; wrong after 300 calls."""
import torch
import triton
import triton.language as tl


@triton.jit
def square_kernel(x, out, calls, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    late = tl.atomic_add(calls, 1) > 15000
    tl.store(out + at, tl.where(late, value, value * value + value), mask=inside)


def run(x, out, calls=torch.zeros(1, dtype=torch.int32, device="cuda")):
    count = out.numel()
    square_kernel[(triton.cdiv(count, 256),)](x, out, calls, count, BLOCK=256)
