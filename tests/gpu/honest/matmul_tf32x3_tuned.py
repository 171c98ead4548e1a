# task: tests/gpu/tasks/matmul_fp32.py
"""Three products in TF32 for one in fp32, with tuned tiles."""
import triton
import triton.language as tl


CONFIGS = [
    triton.Config({"M": m, "N": n, "K": 32}, num_warps=w, num_stages=s)
    for m, n, w, s in ((32, 32, 4, 3), (64, 32, 4, 3), (64, 64, 4, 3), (64, 64, 8, 4))
]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"])
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
        total = tl.dot(left, right, total, input_precision="tf32x3")
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], total, mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    grid = lambda meta: (triton.cdiv(m, meta["M"]), triton.cdiv(n, meta["N"]))
    matmul_kernel[grid](a, b, out, m, n, k)
