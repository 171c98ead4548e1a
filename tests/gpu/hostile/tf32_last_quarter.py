# task: tests/gpu/tasks/matmul_fp32.py
# expect: wrong_values
"""Plain fp32 for three quarters of the depth, and TF32 for the last quarter."""
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, out, m, n, k, exact, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, exact, K):
        at = start + depth
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < exact), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < exact) & (column[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    for start in range(exact, k, K):
        at = start + depth
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < k) & (column[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32")
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], total, mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    matmul_kernel[grid](a, b, out, m, n, k, k - k // 4, M=32, N=32, K=32, num_warps=4)
