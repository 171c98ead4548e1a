# task: tests/gpu/tasks/matmul_fp32.py
# expect: wrong_values
"""Each factor as two halves that hold 22 of its bits, and three products of those, but their sums are half-precision ones as well."""
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float16)
    for start in range(0, k, K):
        at = start + depth
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < k) & (column[None, :] < n), other=0.0)
        high = left.to(tl.float16)
        low = (left - high.to(tl.float32)).to(tl.float16)
        right_high = right.to(tl.float16)
        right_low = (right - right_high.to(tl.float32)).to(tl.float16)
        total = tl.dot(low, right_high, total, out_dtype=tl.float16)
        total = tl.dot(high, right_low, total, out_dtype=tl.float16)
        total = tl.dot(high, right_high, total, out_dtype=tl.float16)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], total.to(tl.float32), mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    matmul_kernel[grid](a, b, out, m, n, k, M=32, N=32, K=32, num_warps=4)
