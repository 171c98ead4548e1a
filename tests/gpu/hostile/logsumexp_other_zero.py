# task: tests/gpu/tasks/logsumexp_rows.py
# expect: wrong_values
"""The padding's zeros count for the maximum: rows far below zero underflow, and the result is minus infinity."""
import triton
import triton.language as tl


@triton.jit
def row_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0)
    most = tl.max(value, axis=0)
    part = tl.where(inside, tl.exp(value - most), 0.0)
    tl.store(out + row, most + tl.log(tl.sum(part, axis=0)))


def run(x, out):
    rows, columns = x.shape
    row_kernel[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns), num_warps=4)
