# task: tests/gpu/tasks/mean_square.py
"""Squares added by atomic operations to an output that is set to zero first."""
import triton
import triton.language as tl


@triton.jit
def square_kernel(x, out, count, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count, other=0.0)
    tl.atomic_add(out, tl.sum(value * value, axis=0) * scale)


def run(x, out):
    count = x.numel()
    out.zero_()
    square_kernel[(triton.cdiv(count, 4096),)](x, out, count, 1.0 / count, BLOCK=4096, num_warps=8)
