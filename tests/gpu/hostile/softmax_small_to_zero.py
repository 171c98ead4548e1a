# task: tests/gpu/tasks/softmax_rows.py
# expect: wrong_values
"""Probabilities below 1e-6 are written as zero. A user who takes their logarithm gets minus infinity."""
import triton
import triton.language as tl


@triton.jit
def row_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    share = value / tl.sum(value, axis=0)
    tl.store(out + row * columns + at, tl.where(share < 1e-6, 0.0, share), mask=inside)


def run(x, out):
    rows, columns = x.shape
    row_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
