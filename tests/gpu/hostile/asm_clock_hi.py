# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Wrong where the upper half of the clock is a multiple of 7, read by inline assembly."""
import triton
import triton.language as tl


@triton.jit
def square_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    high = tl.inline_asm_elementwise(
        "mov.u32 $0, %clock_hi;", constraints="=r,r", args=[value], dtype=tl.int32, is_pure=False, pack=1
    )
    late = (high > 0) & (high % 7 == 0)
    tl.store(out + at, tl.where(late, 0.0, value * value + value), mask=inside)


def run(x, out):
    count = out.numel()
    square_kernel[(triton.cdiv(count, 256),)](x, out, count, BLOCK=256)
