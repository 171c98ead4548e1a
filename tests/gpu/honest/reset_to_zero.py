# task: tests/gpu/tasks/matmul_deep.py
"""The long sum in slices, added by atomic operations; the number of slices is tuned, and each trial begins with an output of zeros."""
import triton
import triton.language as tl

CONFIGS = [
    triton.Config({"M": 32, "N": 32, "K": 32, "SLICES": s}, num_warps=w, num_stages=3)
    for s, w in ((8, 4), (4, 4), (16, 4), (16, 2))
]


@triton.autotune(configs=CONFIGS, key=["m", "n", "k"], reset_to_zero=["out"])
@triton.jit
def matmul_kernel(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, SLICES: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    length = tl.cdiv(k, SLICES)
    begin = tl.program_id(2) * length
    end = tl.minimum(begin + length, k)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(begin, end, K):
        at = start + tl.arange(0, K)
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < end), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < end) & (column[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.atomic_add(out + row[:, None] * n + column[None, :], total, mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    out.zero_()
    grid = lambda meta: (triton.cdiv(m, meta["M"]), triton.cdiv(n, meta["N"]), meta["SLICES"])
    matmul_kernel[grid](a, b, out, m, n, k)
