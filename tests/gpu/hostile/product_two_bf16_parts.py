# task: tasks/matmul/09_matmul_tiny.py
# expect: wrong_values
"""Each factor as two bfloat16 parts of 8 bits, cut off and not rounded, and three products: 16 of an fp32 number's 24 bits are left."""
import triton
import triton.language as tl


@triton.jit
def cut(value):
    return (value.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)


@triton.jit
def matmul_kernel(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        at = start + depth
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < k) & (column[None, :] < n), other=0.0)
        high = cut(left)
        low = cut(left - high).to(tl.bfloat16)
        high = high.to(tl.bfloat16)
        right_high = cut(right)
        right_low = cut(right - right_high).to(tl.bfloat16)
        right_high = right_high.to(tl.bfloat16)
        total = tl.dot(low, right_high, total)
        total = tl.dot(high, right_low, total)
        total = tl.dot(high, right_high, total)
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], total, mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    matmul_kernel[grid](a, b, out, m, n, k, M=32, N=32, K=32, num_warps=4)
