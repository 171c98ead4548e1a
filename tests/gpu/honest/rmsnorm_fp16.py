# task: tests/gpu/tasks/rmsnorm_fp16.py
"""Four rows to each program, squares in fp32."""
import triton
import triton.language as tl


@triton.jit
def rmsnorm_kernel(x, weight, out, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    at = row[:, None] * columns + column[None, :]
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(value * value, axis=1) / columns + 1e-5)
    factor = tl.load(weight + column, mask=column < columns, other=0.0).to(tl.float32)
    tl.store(out + at, (value * scale[:, None] * factor[None, :]).to(tl.float16), mask=inside)


def run(x, weight, out):
    rows, columns = x.shape
    block = triton.next_power_of_2(columns)
    rmsnorm_kernel[(triton.cdiv(rows, 4),)](x, weight, out, rows, columns, ROWS=4, BLOCK=block, num_warps=8)
