# task: tests/gpu/tasks/attention_bf16.py
"""A block of queries to each program; soft-max as the keys go by."""
import triton
import triton.language as tl


@triton.jit
def attention_kernel(q, k, v, out, length, scale, SHARE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(1).to(tl.int64)
    row = tl.program_id(0) * M + tl.arange(0, M)
    along = tl.arange(0, WIDTH)
    query = tl.load(q + (head * length + row[:, None]) * WIDTH + along[None, :], mask=row[:, None] < length, other=0.0)
    most = tl.full((M,), -float("inf"), dtype=tl.float32)
    weight = tl.zeros((M,), dtype=tl.float32)
    total = tl.zeros((M, WIDTH), dtype=tl.float32)
    base = head // SHARE * length
    for start in range(0, length, N):
        column = start + tl.arange(0, N)
        at = (base + column[:, None]) * WIDTH + along[None, :]
        key = tl.load(k + at, mask=column[:, None] < length, other=0.0)
        score = tl.dot(query, tl.trans(key)) * scale
        score = tl.where(column[None, :] < length, score, -float("inf"))
        greater = tl.maximum(most, tl.max(score, axis=1))
        # No element so far: nothing to subtract.
        base_of = tl.where(greater == -float("inf"), 0.0, greater)
        part = tl.exp(score - base_of[:, None])
        shrink = tl.exp(most - base_of)
        weight = weight * shrink + tl.sum(part, axis=1)
        value = tl.load(v + at, mask=column[:, None] < length, other=0.0)
        total = tl.dot(part.to(tl.bfloat16), value, total * shrink[:, None])
        most = greater
    result = (total / weight[:, None]).to(tl.bfloat16)
    tl.store(out + (head * length + row[:, None]) * WIDTH + along[None, :], result, mask=row[:, None] < length)


def run(q, k, v, out):
    batch, heads, length, width = q.shape
    share = heads // k.shape[1]
    grid = (triton.cdiv(length, 64), batch * heads)
    attention_kernel[grid](q, k, v, out, length, width**-0.5, SHARE=share, M=64, N=64, WIDTH=width, num_warps=4)
