# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Looks at tl.extra.cuda.globaltimer(); wrong in every other span of 69 seconds."""
import triton
import triton.language as tl


@triton.jit
def square_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    late = ((tl.extra.cuda.globaltimer() >> 36) & 1) == 1
    tl.store(out + at, tl.where(late, value, value * value + value), mask=inside)


def run(x, out):
    count = out.numel()
    square_kernel[(triton.cdiv(count, 256),)](x, out, count, BLOCK=256)
