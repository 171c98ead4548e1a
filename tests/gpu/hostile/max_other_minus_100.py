# task: tests/gpu/tasks/max_rows.py
# expect: wrong_values
"""Padding of -100 for the greatest of a row: wrong for rows below it."""
import triton
import triton.language as tl


@triton.jit
def row_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-100.0)
    tl.store(out + row, tl.max(value, axis=0))


def run(x, out):
    rows, columns = x.shape
    row_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
