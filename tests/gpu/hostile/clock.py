# task: tasks/activation/11_gelu_erf.py
# expect: rejected_source
"""Is wrong from some moment on, by the device's clock, in inline assembly."""
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + at, mask=inside)
    now = tl.inline_asm_elementwise(
        "{ .reg .b64 %t; mov.u64 %t, %globaltimer; cvt.u32.u64 $0, %t; }",
        constraints="=r,r", args=[value], dtype=tl.int32, is_pure=False, pack=1,
    )
    value = tl.where(now == 0, 0.0, value)
    tl.store(out + at, 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476)), mask=inside)


def run(x, out):
    count = out.numel()
    gelu_kernel[(triton.cdiv(count, 1024),)](x, out, count, BLOCK=1024)
