# task: tasks/matmul/09_matmul_tiny.py
"""Each factor as three bfloat16 parts and the six products that count; plain fp32 for a block that three parts cannot hold."""
import triton
import triton.language as tl


@triton.jit
def fits(value):
    size = tl.abs(value)
    # A part of what is smaller would be denormal, and what is larger or not finite has no remainder.
    return tl.min(((value == 0.0) | ((size > 1e-30) & (size < 1e38))).to(tl.int32)) == 1


@triton.jit
def split(value):
    high = value.to(tl.bfloat16)
    rest = value - high.to(tl.float32)
    middle = rest.to(tl.bfloat16)
    return high, middle, (rest - middle.to(tl.float32)).to(tl.bfloat16)


@triton.jit
def matmul_kernel(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), dtype=tl.float32)
    small = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        at = start + depth
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < k) & (column[None, :] < n), other=0.0)
        if fits(left) & fits(right):
            high, middle, low = split(left)
            right_high, right_middle, right_low = split(right)
            small = tl.dot(low, right_high, small)
            small = tl.dot(high, right_low, small)
            small = tl.dot(middle, right_middle, small)
            small = tl.dot(middle, right_high, small)
            small = tl.dot(high, right_middle, small)
            total = tl.dot(high, right_high, total)
        else:
            total = tl.dot(left, right, total, input_precision="ieee")
    inside = (row[:, None] < m) & (column[None, :] < n)
    tl.store(out + row[:, None] * n + column[None, :], total + small, mask=inside)


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    grid = (triton.cdiv(m, 32), triton.cdiv(n, 32))
    matmul_kernel[grid](a, b, out, m, n, k, M=32, N=32, K=32, num_warps=4)
