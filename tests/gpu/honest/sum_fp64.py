# task: tests/gpu/tasks/sum_rows_fp64.py
"""Four rows to each program, in double precision."""
import triton
import triton.language as tl


@triton.jit
def sum_kernel(x, out, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float64)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = (row[:, None] < rows) & (column[None, :] < columns)
        total += tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    tl.store(out + row, tl.sum(total, axis=1), mask=row < rows)


def run(x, out):
    rows, columns = x.shape
    sum_kernel[(triton.cdiv(rows, 4),)](x, out, rows, columns, ROWS=4, BLOCK=256, num_warps=4)
