# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Launches the second half on a stream of its own, for which nobody waits: the call seems to take half of the time."""
import torch
import triton
import triton.language as tl


OWN = torch.cuda.Stream()


@triton.jit
def square_kernel(x, out, begin, end, BLOCK: tl.constexpr):
    at = begin + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < end
    value = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, value * value + value, mask=inside)


def run(x, out):
    count = out.numel()
    half = count // 2
    square_kernel[(triton.cdiv(half, 256),)](x, out, 0, half, BLOCK=256)
    with torch.cuda.stream(OWN):
        square_kernel[(triton.cdiv(count - half, 256),)](x, out, half, count, BLOCK=256)
