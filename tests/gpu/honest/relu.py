# task: tasks/activation/10_relu_large.py
"""One pass, 16-byte accesses."""
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    tl.store(out + at, tl.maximum(value, 0.0, propagate_nan=tl.PropagateNan.ALL), mask=inside)


def run(x, out):
    count = out.numel()
    relu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
