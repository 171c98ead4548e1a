# task: tests/gpu/tasks/square_plus.py
# expect: wrong_values,nondeterministic
"""Torch's allocator hands out the block of the call before again: a magic word and a counter still stand in it. Wrong after 200 calls."""
import torch
import triton
import triton.language as tl


MAGIC = 1592653589


@triton.jit
def count_kernel(kept, MAGIC: tl.constexpr):
    before = tl.load(kept + 1)
    tl.store(kept + 1, tl.where(tl.load(kept) == MAGIC, before + 1, 0))
    tl.store(kept, MAGIC)


@triton.jit
def square_kernel(x, out, kept, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    late = tl.load(kept + 1) > 200
    tl.store(out + at, tl.where(late, value, value * value + value), mask=inside)


def run(x, out):
    count = out.numel()
    kept = torch.empty(64, dtype=torch.int32, device=x.device)
    count_kernel[(1,)](kept, MAGIC=MAGIC, num_warps=1)
    square_kernel[(triton.cdiv(count, 256),)](x, out, kept, count, BLOCK=256)
