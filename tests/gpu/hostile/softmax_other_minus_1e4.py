# task: tests/gpu/tasks/softmax_rows.py
# expect: wrong_values
"""Padding of -1e4: rows below that get nothing but what underflows."""
import triton
import triton.language as tl


@triton.jit
def row_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-10000.0)
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * columns + at, value / tl.sum(value, axis=0), mask=inside)


def run(x, out):
    rows, columns = x.shape
    row_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
