# task: tests/gpu/tasks/matmul_bf16.py
"""Tiles by tensor descriptors, which fill with zeros beyond the edges and store nothing there; rows are multiples of 16 bytes, as they ask."""
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    left = tl.make_tensor_descriptor(a, shape=[m, k], strides=[k, 1], block_shape=[M, K])
    right = tl.make_tensor_descriptor(b, shape=[k, n], strides=[n, 1], block_shape=[K, N])
    result = tl.make_tensor_descriptor(out, shape=[m, n], strides=[n, 1], block_shape=[M, N])
    row = tl.program_id(0) * M
    column = tl.program_id(1) * N
    total = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, k, K):
        total = tl.dot(left.load([row, start]), right.load([start, column]), total)
    result.store([row, column], total.to(tl.bfloat16))


def run(a, b, out):
    m, k = a.shape
    n = b.shape[1]
    assert k % 8 == 0 and n % 8 == 0
    grid = (triton.cdiv(m, 64), triton.cdiv(n, 64))
    matmul_kernel[grid](a, b, out, m, n, k, M=64, N=64, K=64, num_warps=4, num_stages=3)
