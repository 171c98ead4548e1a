# task: tests/gpu/tasks/cumsum_int64.py
"""A scan of each row, and what went before."""
import triton
import triton.language as tl


@triton.jit
def cumsum_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    before = tl.zeros((1,), dtype=tl.int64)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < columns
        value = tl.load(x + row * columns + column, mask=inside, other=0)
        tl.store(out + row * columns + column, tl.cumsum(value, axis=0) + before, mask=inside)
        before += tl.sum(value, axis=0)


def run(x, out):
    rows, columns = x.shape
    cumsum_kernel[(rows,)](x, out, columns, BLOCK=256, num_warps=4)
