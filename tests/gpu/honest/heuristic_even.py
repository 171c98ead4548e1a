# task: tests/gpu/tasks/square_plus.py
"""Heuristics choose the block by the count, and leave out the mask where the count is a multiple of the block."""
import triton
import triton.language as tl


@triton.heuristics({
    "BLOCK": lambda given: 1024 if given["count"] > 1 << 20 else 256,
    "EVEN": lambda given: given["count"] % given["BLOCK"] == 0,
})
@triton.jit
def square_kernel(x, out, count, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        value = tl.load(x + at)
        tl.store(out + at, value * value + value)
    else:
        value = tl.load(x + at, mask=at < count, other=0.0)
        tl.store(out + at, value * value + value, mask=at < count)


def run(x, out):
    count = out.numel()
    grid = lambda meta: (triton.cdiv(count, meta["BLOCK"]),)
    square_kernel[grid](x, out, count)
