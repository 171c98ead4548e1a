# task: tests/gpu/tasks/matmul_deep.py
"""The long sum in slices (three products in TF32 each), which lie in a temporary and are added by a second kernel."""
import torch
import triton
import triton.language as tl


SLICES = 8


@triton.jit
def slice_kernel(a, b, parts, m, n, k, length, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    begin = tl.program_id(2) * length
    end = tl.minimum(begin + length, k)
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(begin, end, K):
        at = start + tl.arange(0, K)
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < end), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < end) & (column[None, :] < n), other=0.0)
        total = tl.dot(left, right, total, input_precision="tf32x3")
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(parts + tl.program_id(2) * m * n + row[:, None] * n + column[None, :], total, mask=inside)


@triton.jit
def add_kernel(parts, out, count, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(COUNT):
        total += tl.load(parts + i * count + at, mask=inside, other=0.0)
    tl.store(out + at, total, mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    parts = torch.empty((SLICES, m, n), dtype=torch.float32, device=a.device)
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32), SLICES)
    slice_kernel[grid](a, b, parts, m, n, k, triton.cdiv(k, SLICES), M=32, N=32, K=32, num_warps=4)
    add_kernel[(triton.cdiv(m * n, 256),)](parts, out, m * n, COUNT=SLICES, BLOCK=256)
