# task: tasks/pooling_reduction/31_max_middle.py
"""A block of columns of one batch to each program; the reduced dimension is walked."""
import triton
import triton.language as tl


@triton.jit
def max_kernel(x, out, length, width, BLOCK: tl.constexpr):
    batch = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < width
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    at = x + batch * length * width + column
    for _ in range(length):
        best = tl.maximum(best, tl.load(at, mask=inside, other=-float("inf")), propagate_nan=tl.PropagateNan.ALL)
        at += width
    tl.store(out + batch * width + column, best, mask=inside)


def run(x, out):
    batches, length, width = x.shape
    max_kernel[(batches, triton.cdiv(width, 64))](x, out, length, width, BLOCK=64, num_warps=2)
