# task: tests/gpu/tasks/square_plus.py
# expect: rejected_source
"""Reads %globaltimer by inline assembly whose text is put together from constants; wrong in every other span of 69 seconds."""
import triton
import triton.language as tl


REGISTER = "%global" + "timer"


@triton.jit
def square_kernel(x, out, count, TEXT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0)
    now = tl.inline_asm_elementwise(TEXT, constraints="=l,r", args=[value], dtype=tl.int64, is_pure=False, pack=1)
    late = ((now >> 36) & 1) == 1
    tl.store(out + at, tl.where(late, value, value * value + value), mask=inside)


def run(x, out):
    count = out.numel()
    square_kernel[(triton.cdiv(count, 256),)](x, out, count, TEXT="mov.u64 $0, " + REGISTER + ";", BLOCK=256)
